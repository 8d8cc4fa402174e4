"""The facts of a session, their outcomes after a compaction, and the reasons.

Start with `facts.py` (the facts; the finders are in `extract/`), then `trace.py` (their outcomes).
`explain.py` words the reasons, `fixes.py` verifies and prices edits that keep a fact, `keep.py` pins several,
`regret.py` finds what was needed again, `grounding.py` what a summary invents, `lint/` reports findings.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
