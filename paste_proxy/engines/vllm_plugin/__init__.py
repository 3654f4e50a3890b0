"""The part of PASTE that runs inside a vLLM server, which stays as it is: load shaping, and a cache of tool outputs.

vLLM finds it by its entry points, in every process, and it does nothing unless the environment says `PASTE_VLLM=1`.
`settings`, `order`, `pressure`, `entries`, `appended` and `merging` decide, without vLLM; the others are thin.
"""
