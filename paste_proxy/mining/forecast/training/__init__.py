"""Training of the model on recorded sessions, with numpy; the live sidecar has no part in it."""
