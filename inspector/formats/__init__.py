"""Transcript formats: readers and writers.

`harnesses/` contains a file or a folder for each harness, `requests/` the readers of requests, traces,
exports and data sets, `exports/` the writers. Start with `readers.py`, which lists the readers in the order
in which they are tried, and `exports/writers.py`. To add a format, add a file and a line in one of these
lists. The modules of this folder are shared by the formats: `json_lines.py` and `json_document.py` parse JSON
without loss, `recording.py` builds a session record by record, and `incremental.py` reads a file while it
grows.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
