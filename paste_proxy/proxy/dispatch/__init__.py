"""Tools that agents call through the sidecar itself: one call over HTTP, or the SDK's WebSocket."""
