"""Many sessions at once: facts that compactions lose across folders, and the policy that loses least.

Start with `scanning.py`, which finds the files and runs a scan: `worker.py` measures each file in a separate
process, `row_store.py` stores the rows. `columns.py` describes a row, `measure.py` measures one session,
`scan_table.py` sums rows by policy, `resample.py` estimates the uncertainty of a share, `advice.py` chooses a
policy, `regressions.py` compares two scans, `pareto.py` draws one.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
