"""What a session says that may have to be remembered, what a compaction leaves of it, and why.

Start with `facts.py` (what is said; the finders stand in `extract/`), then `trace.py` (what becomes of it).
`explain.py` words the reason, `fixes.py` proves and prices what would have kept it, `keep.py` pins several,
`regret.py` what was needed again, `grounding.py` what a summary invents, `lint/` turns it into findings.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
