"""How long the first call to somewhere takes, when nothing was got ready for it and when it was."""
