"""Secrets: their patterns, their occurrences, and sessions or texts without them.

Everything that leaves the machine or is put on an exported page is redacted here first.
Start with `redact.py`. `patterns.py` and `tokens.py` list what secrets look like, `values.py` checks a match,
`detect.py` searches, `clean.py` redacts a whole session, and `cut.py` shortens a text after redaction.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
