"""What a compaction policy is: data that says when to compact, and rules that say what becomes of a block.

Start with `policy.py` and `table.py` (what a rule sees and answers). `rules/` holds one kind of rule a file,
`builtin/` one published system a file, `registry.py` finds them by name. `trigger.py` is when it fires,
`harness.py` how the program around it behaves, `settings_file.py` a user's thresholds for it, `events.py` and
`event_names.py` what it records.
"""

from lazy_loader import attach_stub

__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)
