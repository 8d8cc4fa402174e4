"""Sessions in the formats of other harnesses, and forks."""
