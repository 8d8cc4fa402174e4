"""Tests of `compaction-inspector hook`, `status-line` and `mcp`, run as a harness runs them: as processes."""
