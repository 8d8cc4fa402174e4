"""A session, its tokens and a policy make a plan; a plan makes the next context. Pure.

Start with `plan.py`, then `stages.py` and `fates.py`: they decide on every block at every cut. `cut_table.py`
counts all cuts at once, `stand_in.py` builds the placeholder summary, `summary_jobs.py` the requests to a
summariser, `assemble.py` the context; `diff/` compares two contexts, `saved_plan.py` reads and writes plan
files.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
