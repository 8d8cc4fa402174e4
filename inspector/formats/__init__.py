"""Transcript formats, read and written.

`harnesses/` holds a file or a folder for each harness, `requests/` the readers of requests, traces, exports
and data sets, `exports/` the writers. Start with `readers.py`, the list of readers in the order in which they
are asked, and `exports/writers.py`. A format is added by a file of its own and a line in each. Here are the
parts that formats share: `json_lines.py` and `json_document.py` take JSON apart without loss, `recording.py`
builds a session record by record, and `incremental.py` reads a file while it grows.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
