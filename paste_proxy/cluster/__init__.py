"""Mining in several processes and on several machines."""
