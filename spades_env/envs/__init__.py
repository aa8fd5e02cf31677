"""The environments. Importing this package loads none of them; they are registered by name."""
