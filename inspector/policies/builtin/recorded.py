"""The compaction that the file itself records, as a policy like the others.

The file determines its cut and its summary, so the policy is not in the list of policies. It plans only the
point in time right before a recorded compaction (`planning/as_recorded.py`).
"""

from __future__ import annotations

from ..policy import Policy
from ..rules.keep_listed import KeepListed
from ..rules.keep_system import KeepSystem
from ..rules.summarise_older import SummariseOlder
from ..trigger import Trigger

RECORDED = Policy(
    name="recorded",
    title="As recorded",
    source="The file itself: the cut, the summary and what is listed as kept by the compaction that follows",
    trigger=Trigger(reserve_tokens=0, measure="assembled", check="request"),
    rules=(KeepSystem(), KeepListed(), SummariseOlder(split_turns=False, limited=False)),
)
