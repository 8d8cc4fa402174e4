"""Sessions made from a number, for questions whose answers cannot be copied.

The same number gives the same session on every machine and in every version of Python, so a grader can make
it again. Tokens are estimated, 4 characters each, which is also how the policies of the course estimate.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from json import dumps
from random import Random
from typing import Any, TypeVar

from ...formats.readers import read_session
from ...planning.plan import Plan
from ...planning.planner import make_plan
from ...tokens.ledger import count_tokens
from .exercise import plan_cut

T = TypeVar("T")

_PLACES = ("api", "jobs", "models", "render", "store", "tests", "views", "wire")
_THINGS = ("cache", "clock", "feed", "index", "invoice", "mailer", "orders", "queue", "session", "tariff")
_DATA = ("accounts.json", "harbours.csv", "prices.json", "stations.csv", "zones.json")
_TASKS = (
    "The test for {} fails since yesterday. Find out why.",
    "Please make {} faster.",
    "Add a log line to {} for every retry.",
    "{} rounds the wrong way. Repair it.",
    "Can you explain what {} does, and shorten it?",
)
_HEAVY = (  # characters per block at most: thoughts, answers, calls, outputs
    (700, 500, 400, 14_000),
    (500, 400, 9_000, 2_500),
    (8_000, 500, 400, 2_500),
    (600, 6_000, 400, 2_500),
    (900, 700, 3_000, 6_000),
)


class Dice:
    """Numbers that follow from a seed. Uses only `Random.random`, which gives the same values everywhere."""

    def __init__(self, seed: str) -> None:
        self._random = Random(seed)

    def number(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`."""
        return low + int(self._random.random() * (high - low + 1))

    def pick(self, values: Sequence[T]) -> T:
        """One of the values."""
        return values[self.number(0, len(values) - 1)]

    def sample(self, values: Sequence[T], size: int) -> list[T]:
        """Different values, in a random order."""
        remaining = list(values)
        return [remaining.pop(self.number(0, len(remaining) - 1)) for _ in range(min(size, len(remaining)))]


class GeneratedSession:
    """A session of seven to ten turns with its ledger. `files` are the files of its turns, in order, `rule`
    is what the user forbids in turn 1 or 2.

    >>> made = GeneratedSession("a")
    >>> made.session
    Session(anthropic-messages, 57 records, 8 turns, 0 compactions, 0 unknown)
    """

    def __init__(self, seed: str) -> None:
        self.seed = seed
        self.dice = Dice(seed)
        names = [f"src/{place}/{thing}.py" for place in _PLACES for thing in _THINGS]
        self.turns = self.dice.number(7, 10)
        self.files = self.dice.sample(names, self.turns)
        self.rule = f"Never edit data/{self.dice.pick(_DATA)}."
        self.session = read_session(self._write())
        self.ledger = count_tokens(self.session, "chars4_utf16")

    def plan(self, policy: str, settings: dict[str, Any] | None = None, place: int | None = None) -> Plan:
        """Plan the session under a policy, with a cut if a place is given."""
        plan = make_plan(self.session, self.ledger, policy, {"settings": settings or {}})
        return plan if place is None else plan_cut(plan, place)

    @cached_property
    def legal(self) -> list[int]:
        """The valid cut points."""
        cuts = self.plan("flue").cuts
        return [place for place, legal in enumerate(cuts.legal.tolist()) if legal]

    def _write(self) -> list[dict[str, Any]]:
        heavy = self.dice.pick(_HEAVY)
        forbidden_in = self.dice.number(0, 1)
        messages: list[dict[str, Any]] = []
        for turn, file in enumerate(self.files):
            words = self.dice.pick(_TASKS).format(file)
            words += f" {self.rule}" if turn == forbidden_in else ""
            messages.append({"role": "user", "content": words})
            for step in range(self.dice.number(2, 4)):
                messages += self._write_step(f"call-{turn}-{step}", file, heavy)
            if turn < self.turns - 1:
                closing = self._fill("Done with this one. ", heavy[1])
                messages.append({"role": "assistant", "content": [{"type": "text", "text": closing}]})
        return messages

    def _write_step(self, name: str, file: str, heavy: tuple[int, ...]) -> list[dict[str, Any]]:
        thought = self._fill("The cause may be in the loop. ", heavy[0])
        blocks: list[dict[str, Any]] = [{"type": "thinking", "thinking": thought, "signature": "c2ln"}]
        if self.dice.number(0, 2) == 0:
            blocks.append({"type": "text", "text": self._fill("I look at the code. ", heavy[1])})
        results = []
        for number in range(self.dice.pick((1, 1, 1, 2))):
            arguments: dict[str, Any] = {"file_path": file}
            tool = "Read"
            if heavy[2] > 1_000 and self.dice.number(0, 1):
                tool, arguments["content"] = "Write", self._fill("value = clock.now() + 1\n", heavy[2])
            call = f"{name}-{number}"
            blocks.append({"type": "tool_use", "id": call, "name": tool, "input": arguments})
            shown = self._fill("    return total * rate  # rounded\n", heavy[3])
            results.append({"type": "tool_result", "tool_use_id": call, "content": shown})
        return [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]

    def _fill(self, line: str, most: int) -> str:
        size = self.dice.number(most // 8, most)
        return (line * (size // len(line) + 1))[: max(size, len(line))]

    def __repr__(self) -> str:
        return f"GeneratedSession({dumps(self.seed)}: {self.turns} turns)"
