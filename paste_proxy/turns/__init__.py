"""The LLM-Tool Co-Scheduler: which LLM turns enter an engine, and when (PASTE 4.3)."""
