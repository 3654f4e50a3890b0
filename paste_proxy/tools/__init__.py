"""Backends: where an invocation is run."""
