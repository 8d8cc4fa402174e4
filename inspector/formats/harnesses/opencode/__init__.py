"""opencode's exports."""
