"""The Tool Speculation Scheduler (PASTE 4.2): policy, admission, utility, jobs, effects.

Pure: `Scheduler.step(event, now)` returns the commands that the executor carries out.
"""
