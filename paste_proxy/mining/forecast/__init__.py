"""Forecasting: the next call as a choice of tool, of its arguments, and of the best of what they make.

PURE. `learn` trains it on recorded sessions, everything else runs in the live sidecar.
"""
