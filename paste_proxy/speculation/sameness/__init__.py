"""When the result of one call gives, byte for byte, the result of another.

Two calls are the same if they have the same core. A job may run the core, and an agent's call with that core
is answered by a pure function of its arguments, what the job ran, and what that gave; where this function
cannot tell what the tool itself would have answered, the call is run.
"""
