"""Replay a whole session under a policy, request by request.

Start with `engine.py`, which drives it, and `run.py`, its result. `timeline.py` is what arrives, in order;
`compactor.py` and `carry.py` compact; `harness_state.py`, `requests.py` and `failures.py` are the program
around the model; `comparison.py` sets policies side by side, `decay.py` compacts again and again.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
