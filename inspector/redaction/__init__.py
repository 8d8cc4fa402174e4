"""Secrets: how they look, where they are found, and a session or text without them.

Everything that leaves the machine, or lies on an exported page, goes through here first.
Start with `redact.py`. `patterns.py` and `tokens.py` list what secrets look like, `values.py` checks a match,
`detect.py` searches, `clean.py` redacts a whole session, and `cut.py` shortens a text after redaction.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
