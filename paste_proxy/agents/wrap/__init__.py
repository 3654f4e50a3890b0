"""Known agents run behind a sidecar of their own, with nothing of the user's changed."""
