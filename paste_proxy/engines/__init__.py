"""Load readers of inference engines, and what runs inside of one."""
