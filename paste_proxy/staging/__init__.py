"""Staged execution: a command is run in a copy-on-write view of its workspace, and its effects are committed as a
whole or discarded. Not a security sandbox: only what the user permits anyway is staged."""
