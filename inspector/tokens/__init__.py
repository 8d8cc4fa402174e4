"""How many tokens, and what they cost.

Start with `ledger.py`: every block of a session with its tokens; `counters/` holds one counter a file.
`history.py` is how full the context was at each step, `cost.py` and `prices.py` are money, with the date and
source of every price, `cache_rebuilds.py` says why a cache was built anew, `models.py` tells windows,
`reported.py` what a provider said beside our counts.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
