"""A session, its tokens and a policy make a plan; a plan makes the next context. Pure.

Start with `plan.py`, then `stages.py` and `fates.py`: what a policy does to every block at every cut.
`cut_table.py` prices all cuts at once, `stand_in.py` stands where a summary would, `summary_jobs.py` is what
a summariser is asked to write, `assemble.py` builds the context, `diff/` compares two, `saved_plan.py` knows
what a plan file means.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
