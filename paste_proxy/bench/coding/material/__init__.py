"""What the project of a coding replay is made of: modules with real work in them, each with its tests."""
