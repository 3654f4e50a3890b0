"""Whether speculation delays what agents ask for: a sidecar without it and one saturated with it, in one run."""
