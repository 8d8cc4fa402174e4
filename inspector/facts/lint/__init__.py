"""Losses of a compaction as findings: the codes (`codes.py`), the check, its reports."""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
