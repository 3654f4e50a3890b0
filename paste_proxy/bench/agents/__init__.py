"""Agents at a real engine: each turn as it comes, and each when there is room for it."""
