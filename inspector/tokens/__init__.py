"""How many tokens, and what they cost.

Start with `ledger.py`: every block of a session with its tokens; `counters/` holds one counter a file.
`history.py` is how full the context was at each step, `cost.py` and `prices.py` are money, with the date and
source of every price, `cache_rebuilds.py` says why a cache was rebuilt, `models.py` knows windows,
`reported.py` compares provider reports with our counts.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
