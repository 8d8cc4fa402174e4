"""Many sessions at once: what compactions lose across folders, and which policy loses least.

Start with `scanning.py`, which drives it: `sources.py` finds the files, `worker.py` measures one in a
process of its own, `row_store.py` keeps the rows. `columns.py` says what a row is, `measure.py` makes those
of one session, `scan_table.py` adds them up by policy, `aftermath.py` what followed recorded compactions by
harness, `resample.py` tells how sure a share is, `advice.py` which policy to take, `regressions.py` compares
two scans, `pareto.py` draws one. `compressor.py` lends a policy to other people's benchmarks.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
