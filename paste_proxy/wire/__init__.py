"""Sans-io readers of outside protocols: bytes in, facts out, no socket in sight.

A reader never raises on what a peer sends; it reports what it could make of it and goes deaf beyond
its limits, because forwarding does not depend on it.
"""
