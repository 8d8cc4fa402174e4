"""DeepSeek's harness: at 0.8 of the window the newest 0.16 stay, the rest becomes one message of the user.

Source: DeepSeek Harness packages 0.1.0-rc.8 (npm), run on the events of golden vectors (`python -m
tests.conformance harnesses PATH`). `deepseek-harness-pruner` is the same with its optional pruner: long
outputs keep both ends, and nothing is summarised if that is enough. A summary that is not smaller is refused
(`harness.adopt`). Not reproduced: the second attempt while the context is still above the threshold. It is
measured by the usage of the last reply and an estimate of what came after; without usage that estimate is
`trigger.measure` "deepseek".
"""

from __future__ import annotations

from ..harness import Harness
from ..policy import Policy, Stage
from ..rules.keep_recent_messages import KeepRecentMessages
from ..rules.keep_recent_share import KeepRecentShare
from ..rules.keep_system import KeepSystem
from ..rules.summarise_older import SummariseOlder
from ..rules.truncate_outputs import TruncateOutputs
from ..trigger import Target, Trigger

_SOURCE = "DeepSeek Harness 0.1.0-rc.8: 0.8 of the window, 0.16 of it stays"
_SUMMARY = Stage(name="summary", rules=("keep-recent-share", "summarise-older"), reasons=("auto", "manual"))
_LAST = Stage(
    name="summary of all but the last",
    rules=("keep-recent-messages", "summarise-older"),
    reasons=("overflow",),
)
_RULES = (
    KeepSystem(),
    KeepRecentShare(share=0.16, of="window", measure="deepseek", least=True, snap="backwards"),
    KeepRecentMessages(messages=1),
    SummariseOlder(split_turns=False, limited=False),
)

DEEPSEEK_HARNESS = Policy(
    name="deepseek-harness",
    title="DeepSeek Harness",
    version="0.1.0-rc.8",
    source=_SOURCE,
    trigger=Trigger(ratio=0.8, whole=True, measure="assembled", check="request"),
    harness=Harness(retries=0, reset=False, adopt="smaller"),
    stages=(_SUMMARY, _LAST),
    rules=_RULES,
)

DEEPSEEK_HARNESS_PRUNER = DEEPSEEK_HARNESS.model_copy(
    update={
        "name": "deepseek-harness-pruner",
        "title": "DeepSeek Harness with its pruner",
        "source": f"{_SOURCE}; outputs of more than 8,192 characters keep 4,096 and 1,024 first",
        "target": Target(ratio=0.8, below=True),
        "stages": (
            Stage(name="outputs", rules=("truncate-outputs",), reasons=("auto",)),
            _SUMMARY,
            _LAST.model_copy(
                update={"rules": ("summarise-older", "truncate-outputs", "keep-recent-messages")}
            ),
        ),
        "rules": (_RULES[0], TruncateOutputs(limit=8_192, preview=4_096, tail=1_024), *_RULES[1:]),
    }
)
