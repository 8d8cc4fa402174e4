"""Have a summary written, check it, and append it to the session.

Start with `compaction.py` and `write.py`, which also cuts what came out too long; `claude/` asks a model,
`extractive/` picks sentences without one. `record.py` is what a compaction adds to the session, `store.py`
keeps it in a folder, `check.py` looks for what a summary lacks, `recovery.py` says what follows a refusal and
appends the one retry.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
