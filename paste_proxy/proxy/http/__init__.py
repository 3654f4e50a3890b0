"""Bytes of HTTP, passed on as they are and observed on a copy."""
