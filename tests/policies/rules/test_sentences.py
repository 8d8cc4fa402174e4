"""The sentence of a rule: a limit that changes what the rule does changes the sentence too."""

from __future__ import annotations

from typing import Any

import pytest

from inspector import find_policy


def sentence(policy: str, kind: str, name: str, value: Any) -> str:
    rules = find_policy(policy).configured({f"{kind}.{name}": value}).rules
    (rule,) = (rule for rule in rules if rule.kind == kind)
    return rule.sentence


@pytest.mark.parametrize(
    ("policy", "kind", "name", "values"),
    [
        ("agno-compaction", "keep-recent-share", "turns", (None, 0, 3)),
        ("agno-compaction", "keep-recent-share", "newest_turn", (False, True)),
        ("cline", "keep-recent-share", "newest_prompt", (False, True)),
        ("cline", "keep-recent-share", "least", (False, True)),
        ("cline", "keep-recent-share", "of", ("history", "window", "threshold")),
        ("adk-window", "keep-recent-share", "amount", (0, 7)),
        ("adk-window", "keep-recent-share", "keep_last", (False, True)),
        ("haystack-pruning", "drop-old-outputs", "share", (None, 0.25, 0.5)),
        ("haystack-pruning", "drop-old-outputs", "longer", (0, 90)),
        ("haystack-pruning", "drop-old-outputs", "keep_steps", (None, 1, 3)),
        ("strands-context-manager", "drop-old-outputs", "errors", (False, True)),
        ("agno-compression", "drop-old-outputs", "condense", (False, True)),
        ("haystack-window", "drop-groups", "instead", ("nothing", "notice", "summary")),
        ("haystack-window", "drop-groups", "order", ("oldest", "turns", "best-fit", "contiguous")),
        ("agent-framework", "drop-groups", "ratio", (None, 0.5, 0.9)),
        ("agent-framework", "drop-groups", "calls_only", (False, True)),
    ],
)
def test_every_value_of_a_limit_has_its_own_sentence(
    policy: str, kind: str, name: str, values: tuple[Any, ...]
) -> None:
    said = [sentence(policy, kind, name, value) for value in values]
    assert len({*said}) == len(values), said
    assert not any("None" in text for text in said)
