"""Inspect's CompactionEdit and CompactionTrim.

Source: inspect_ai 0.3.285 (MIT); PEERS §1. `tests/policies/test_peers.py` runs the real ones on the same
messages and compares what they keep.

Differences: reasoning of a running tool loop stays (the real edit drops it; see `loop` of
`keep-newest-reasoning`); a trim keeps an earlier summary, which Inspect counts among the messages and trims
first; an output shorter than its placeholder stays.

Not reproduced: a second and third pass if the first leaves too much, after which Inspect raises an error
(here the plan does not fit); the warning to save memory first, and emptied calls of a memory tool;
`keep_tool_inputs=False`, which replaces a call and its output by a text; tool uses on the provider's side;
citations; messages that Inspect marks as a sample's input (here: everything up to the first message of the
user).
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy
from ..rules.clear_tool_outputs import DropOldOutputs
from ..rules.drop_last_replies import DropLastReplies
from ..rules.drop_older import DropOlder
from ..rules.keep_newest_reasoning import KeepNewestReasoning
from ..rules.keep_recent_share import KeepRecentShare
from ..rules.keep_system import KeepSystem
from ..trigger import Trigger

INSPECT_EDIT = Policy(
    name="inspect-edit",
    title="Inspect, CompactionEdit",
    version="0.3.285",
    source="inspect_ai 0.3.285, CompactionEdit: threshold 0.9, 1 thinking turn, 3 tool uses (MIT)",
    trigger=Trigger(ratio=0.9, strict=True, measure="assembled", check="request"),
    harness=Harness(recover=False, reset=False),
    rules=(
        KeepSystem(),
        DropLastReplies(),
        KeepNewestReasoning(replies=1),
        DropOldOutputs(keep=3, exclude_tools=("tool_search",)),
    ),
)

INSPECT_TRIM = Policy(
    name="inspect-trim",
    title="Inspect, CompactionTrim",
    version="0.3.285",
    source="inspect_ai 0.3.285, CompactionTrim: threshold 0.9, preserve 0.8 (MIT)",
    trigger=Trigger(ratio=0.9, strict=True, measure="assembled", check="request"),
    harness=Harness(recover=False, reset=False),
    rules=(
        KeepSystem(),
        DropLastReplies(most=1),
        KeepRecentShare(
            share=0.8,
            measure="messages",
            least=True,
            keep_last=False,
            snap="none",
            first_words=True,
        ),
        DropOlder(),
    ),
)
