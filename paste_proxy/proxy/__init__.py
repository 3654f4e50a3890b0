"""The sidecar itself: aiohttp routes at the edge, the hub in the middle, the executor beside it."""
