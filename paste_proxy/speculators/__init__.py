"""Asking other models what an agent's LLM will call next. They see what they are sent and run nothing."""
