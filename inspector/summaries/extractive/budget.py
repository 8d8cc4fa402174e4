"""What is worth saying, chosen under a budget of tokens and laid out under headings.

Takes `Item`s, the most important first, and a counter, and returns a text of at most `budget` tokens. The
selection does not depend on the origin of an item.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from types import MappingProxyType
from typing import NamedTuple

from ...tokens.counter import Counter
from .quotes import cut_words

NOTHING = "- none"
"""The line under a heading without items."""
FIRST = "safety"
"""Items of this kind have room before headings do, and their section is the first."""
SHARES = MappingProxyType(
    {
        "goal": 0.12,
        "modified": 0.5,
        "rule": 0.25,
        "stated": 0.12,
        "finding": 0.08,
        "todo": 0.1,
        "error": 0.15,
        "outcome": 0.12,
        "decision": 0.1,
        "words": 0.1,
        "asked": 0.08,
        "before": 0.1,
        "read": 0.1,
        "command": 0.08,
        "earlier": 0.3,
    }
)
"""Of the budget, at most, before anything is given out twice; what is left goes to the same kinds in turn."""
NOTE_SHARES = MappingProxyType(
    SHARES | {"goal": 0.2, "rule": 0.5, "stated": 0.5, "error": 0.25, "outcome": 0.25, "decision": 0.25}
)
"""The shares of a budget in which one line is a large part."""
_REFILLS = 4
_CUT = frozenset({"goal", "asked", "words", "error", "outcome", "said"})
"""Kinds of which a line may be cut to fill the rest: half a rule, value or path would say another thing."""
_LEAST_CUT = 25  # characters
_CUTS = 9


class Item(NamedTuple):
    """A line, or with a `label` a part of the line of that label.

    `kind` selects its share of the budget, `slot` its section, and `at` its place there. The item is left out
    if the text chosen before it holds its `key`; an item with the key "" is never left out.
    """

    kind: str
    slot: str
    text: str
    at: int = 0
    key: str = ""
    label: str = ""


class Slot(NamedTuple):
    """A section for items: under a heading of its own or the one before, or between the tags of a list."""

    name: str
    heading: str = ""
    tag: str = ""

    @property
    def opening(self) -> str:
        return f"<{self.tag}>" if self.tag else self.heading


@dataclass(frozen=True)
class Layout:
    """The slots in order. A large enough budget has every heading; tags are written only with items."""

    title: str
    slots: tuple[Slot, ...]

    def write(self, chosen: Iterable[Item], *, whole: bool = True) -> str:
        """The text; `whole` is with the headings of what is empty. Nothing chosen and not whole is ""."""
        by_slot: dict[str, list[Item]] = {}
        for item in chosen:
            by_slot.setdefault(item.slot, []).append(item)
        if not by_slot and not whole:
            return ""
        lines = [self.title]
        for number, slot in enumerate(self.slots):
            section_items = sorted(by_slot.get(slot.name, ()), key=lambda item: item.at)
            if slot.tag:
                if section_items:
                    # Set off by a blank line, as the published systems do (FLUE §8).
                    lines += ["", slot.opening, *(item.text for item in section_items), f"</{slot.tag}>"]
                continue
            below = self._below(number)
            filled = [name for name in below if name in by_slot]
            if slot.heading.startswith("## ") and (whole or filled):
                lines += [slot.heading] if filled else [slot.heading, NOTHING]
            elif slot.heading and section_items:
                lines.append(slot.heading)
            lines += _lines(section_items)
        return "\n".join(lines)

    def begin_with(self, name: str) -> Layout:
        """Return the layout with one of its slots before all others."""
        return replace(self, slots=tuple(sorted(self.slots, key=lambda slot: slot.name != name)))

    def _below(self, number: int) -> list[str]:
        """The slots of a section: this one and those until the next."""
        names = [self.slots[number].name]
        for slot in self.slots[number + 1 :]:
            if slot.tag or slot.heading.startswith("## "):
                break
            names.append(slot.name)
        return names


def _lines(items: Sequence[Item]) -> list[str]:
    """A line each, and one for all items of a label."""
    lines: dict[str, str] = {}
    for number, item in enumerate(items):
        if not item.label:
            lines[str(number)] = f"- {item.text}"
        elif item.label in lines:
            lines[item.label] += f", {item.text}"
        else:
            lines[item.label] = f"- {item.label}: {item.text}"
    return list(lines.values())


def fit(
    items: Sequence[Item], layout: Layout, budget: int, counter: Counter, shares: Mapping[str, float]
) -> str:
    """The text of as many items as go into `budget` tokens, counted as a whole by `counter`.

    Items are taken in order, each kind up to its share of the budget (default: all of it). The
    remaining budget is given to the other items in the same order, and to the beginning of one more line.
    Empty if not even one item fits.
    """

    def count(chosen: Iterable[int]) -> int:
        return _count(counter, layout.write([items[at] for at in sorted(chosen)], whole=whole))

    texts = [f", {item.text}" if item.label else f"- {item.text}\n" for item in items]
    costs = _count_each(counter, texts)
    first = sum(cost for item, cost in zip(items, costs, strict=True) if item.kind == FIRST)
    whole = _count(counter, layout.write((), whole=True)) * 4 <= budget - first
    opening = _count_each(counter, [f"{slot.opening}\n" for slot in layout.slots])
    # A tag is closed again; a main heading is there already when the text is whole.
    entry = {
        slot.name: cost * (2 if slot.tag else 1) + 1
        for slot, cost in zip(layout.slots, opening, strict=True)
        if slot.opening and not (whole and slot.heading.startswith("## "))
    }
    choice = _Choice(items, costs, entry)
    room = budget - _count(counter, layout.write((), whole=whole) or layout.title)
    for limited in (True, False):
        used: dict[str, int] = {}
        for at, item in enumerate(items):
            limit = int(shares.get(item.kind, 1.0) * budget) if limited else budget
            price = choice.price(at)
            if choice.has(at) or price > room or used.get(item.kind, 0) + price > limit:
                continue
            if not choice.is_said(at):
                choice.take(at)
                room -= price
                used[item.kind] = used.get(item.kind, 0) + price
    # Lines are counted apart, and the whole is what counts: drop what is too much, then try to fill the rest.
    while (total := count(choice.chosen)) > budget and choice.chosen:
        over = total - budget
        while over > 0 and choice.chosen:
            over -= max(costs[choice.drop()], 1)
    if total > budget:
        return ""
    for _ in range(_REFILLS):
        room, more = budget - total, list[int]()
        for at in range(len(items)):
            if not choice.has(at) and choice.price(at) <= room and not choice.is_said(at):
                more.append(at)
                room -= choice.price(at)
        if not more or (fuller := count([*choice.chosen, *more])) > budget:
            break
        for at in more:
            choice.take(at)
        total = fuller
    chosen = [items[at] for at in sorted(choice.chosen)]
    for cut in islice(_cut_lines(choice, budget - total), _CUTS):
        text = layout.write([*chosen, cut], whole=whole)
        if _count(counter, text) <= budget:
            return text
    return layout.write(chosen, whole=whole)


def _cut_lines(choice: _Choice, room: int) -> Iterator[Item]:
    """Yield the beginnings of lines for which there is no room, about as long as the room, then shorter."""
    for at, item in enumerate(choice.items):
        chars = len(item.text) * (room - choice.price(at) + choice.costs[at]) // max(choice.costs[at], 1)
        if item.kind in _CUT and chars >= _LEAST_CUT and not choice.has(at) and not choice.is_said(at):
            for share in (1.0, 0.85, 0.7):
                yield item._replace(text=_cut(item.text, int(chars * share)))


def _cut(text: str, chars: int) -> str:
    mark = '…"' if text.endswith('"') else "…"
    return text if len(text) <= chars else cut_words(text, chars - len(mark)).rstrip(' …"') + mark


class _Choice:
    """What was taken, in the order it was, and what that says."""

    def __init__(self, items: Sequence[Item], costs: Sequence[int], entry: Mapping[str, int]) -> None:
        self.items, self.costs, self.entry = items, costs, entry
        self.chosen: list[int] = []
        self._have: set[int] = set()
        self._open: set[str] = set()
        self._chosen_text = "\n"

    def price(self, at: int) -> int:
        slot = self.items[at].slot
        return self.costs[at] + (0 if slot in self._open else self.entry.get(slot, 0))

    def is_said(self, at: int) -> bool:
        key = self.items[at].key
        place = self._chosen_text.find(key) if key else -1
        while place >= 0:
            end = place + len(key)
            # Inside a longer word it is another one.
            inside = _in_word(key[0]) and _in_word(self._chosen_text[place - 1 : place])
            if not inside and not (_in_word(key[-1]) and _in_word(self._chosen_text[end : end + 1])):
                return True
            place = self._chosen_text.find(key, place + 1)
        return False

    def has(self, at: int) -> bool:
        return at in self._have

    def drop(self) -> int:
        """Take back what was taken last."""
        at = self.chosen.pop()
        self._have.remove(at)
        return at

    def take(self, at: int) -> None:
        self.chosen.append(at)
        self._have.add(at)
        self._open.add(self.items[at].slot)
        self._chosen_text += self.items[at].text + "\n"


def _in_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _count(counter: Counter, text: str) -> int:
    return int(counter.count([text])[0])


def _count_each(counter: Counter, texts: Sequence[str]) -> list[int]:
    counts: list[int] = counter.count(texts).tolist() if texts else []
    return counts
