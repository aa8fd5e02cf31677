"""Pictures of a table. They show a `Game` whole, or a `View` with what its seat knows."""
