"""Recorded coding sessions lived again in a small project of real modules and tests, through a live sidecar."""
