"""Transcript formats, one a file (or a folder), read and written.

Start with `readers.py`, the list of readers in the order in which they are asked, and `writers.py`.
A format is added by a file of its own and a line in each. `json_lines.py` and `json_document.py` take JSON
apart without loss; `incremental.py` reads a file while it grows; `linearize.py` is what writers share.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
