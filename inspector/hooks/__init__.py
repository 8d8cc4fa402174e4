"""Hooks of harnesses: guard a compaction while it runs, and answer questions about it afterwards.

Start with `run.py` (one event of a harness in, one text out). `payload.py` identifies the harness,
`transcript.py` reads the end of its file into a `Conversation`, `snapshot.py` says what matters before a
compaction and `report.py` what its summary lost. `state.py` keeps both. `install.py` edits settings.

A hook must start fast: modules here import no numpy, no pydantic and no token tables at the top.
"""
