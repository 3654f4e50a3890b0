"""Turns that stand before a gate: how they are held, and what the engine behind it is asked."""
