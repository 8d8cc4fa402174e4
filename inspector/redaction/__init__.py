"""Secrets: how they look, where they are found, and a session or text without them.

Everything that leaves the machine, or lies on an exported page, goes through here first.
Start with `redact.py`; `patterns.py` is the table of what secrets look like, `detect.py` the search,
`clean.py` a whole session with its secrets taken out.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
