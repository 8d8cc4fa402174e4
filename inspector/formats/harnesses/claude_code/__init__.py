"""Claude Code's transcripts: `read.py`, `write.py`, and what both know of rows and their chain."""
