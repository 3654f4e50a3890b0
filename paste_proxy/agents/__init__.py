"""Ready-made ways into the sidecar for agents, and the Python SDK."""
