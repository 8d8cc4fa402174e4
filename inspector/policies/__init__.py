"""Compaction policies: data that says when to compact, and rules that decide on every block.

Start with `policy.py` and `table.py` (the input and the answers of a rule). `rules/` has one kind of rule per
module, `builtin/` one published system per module; `registry.py` finds both by name. `trigger.py` defines the
threshold, `harness.py` the behaviour of the program around the model, `settings_file.py` the user's
thresholds, `events.py` and `event_names.py` the audit records.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
