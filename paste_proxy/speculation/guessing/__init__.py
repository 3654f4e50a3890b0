"""How a speculative LLM is asked for the next call: how many samples, when to stop, what they are worth.

Decisions only; asking is done elsewhere. Algorithm 2 of Speculative Tool Calling, with its lambda adapted.
"""
