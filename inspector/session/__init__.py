"""The structure of a transcript: a tree of entries with a leaf, their blocks, and the context at the leaf.

Nothing here counts tokens, knows a file format or plans anything.
Start with `session.py`, then `entries.py` and `blocks.py`; `live.py` says what the model would see next,
`queries.py` answers what several rooms ask of entries, `toolcalls/` reads what a tool call does.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
