"""The placeholder summary: one line per older entry, with its tokens at every cut at once.

It replaces a model's summary, says so in its first line, and consists of lines that depend on one entry each.
So its length at any cut is a difference of prefix sums, and the cut table and the text that is finally shown
agree to the token. Lines are counted one by one, each once for all leaves and plans.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..policies.table import Appendix, Summary, Table
from ..redaction.cut import cut_line, redact_long
from ..session.blocks import REASONING, TEXT, TOOL_CALL, ToolCall
from ..session.entries import Entry
from ..session.queries import telling_argument
from ..session.tree import COMPACTION, Bools, Ints
from ..text import one_line
from ..tokens.ledger import Ledger
from ..tokens.memo import Memo

_LINES: Memo[EntryLines] = Memo()
_PREFIX: Memo[Ints] = Memo()
_FIXED: Memo[Ints] = Memo()


class EntryLines:
    """The line of every entry of a file and its tokens, each computed on first use.

    texts   list        the line; empty if the entry has no words of its own
    tokens  int32[n]    tokens of the line and its newline, 0 for an empty one, -1 if not computed

    An entry's line is the same at every leaf. Two threads at a time compute the same values.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.texts = [""] * len(ledger.session.entries)
        self.tokens = np.full(len(self.texts), -1, np.int32)

    def price(self, table: Table) -> Ints:
        """int32[n]: the tokens of the line of each live entry."""
        costs = self.tokens[table.live.entries]
        missing = costs < 0
        if not missing.any():
            return costs
        speaking = np.flatnonzero(missing & _speaks(table))
        entries, texts = table.session.entries, self.texts
        positions: list[int] = table.live.entries[speaking].tolist()
        lines = [extract_line(entries[i]) for i in positions]
        for i, line in zip(positions, lines, strict=True):
            texts[i] = line
        costs[missing] = 0
        with_text = speaking[[bool(line) for line in lines]]
        costs[with_text] = self._ledger.count_lines([line for line in lines if line])
        # Last, because another thread reads a text as soon as its tokens are set.
        self.tokens[table.live.entries] = costs
        return costs

    def without(self, table: Table, unread: Bools) -> EntryLines:
        """The same lines, but for those of entries with blocks of these rows (bool[m]), which are made of the
        others alone. Call `price` first."""
        out = EntryLines(self._ledger)
        out.texts, out.tokens = list(self.texts), self.tokens.copy()
        live, entries = table.live, table.session.entries
        lines: dict[int, str] = {}
        for position in np.unique(live.position[unread]).tolist():
            i, first = int(live.entries[position]), int(live.start[position])
            end = int(live.start[position + 1])
            read = live.block[first:end][~unread[first:end]].tolist()
            entry = entries[i]
            blocks = tuple(entry.blocks[block] for block in read)
            lines[i] = extract_line(entry.model_copy(update={"blocks": blocks})) if blocks else ""
        for i, line in lines.items():
            out.texts[i], out.tokens[i] = line, 0
        nonempty = [i for i, line in lines.items() if line]
        out.tokens[nonempty] = self._ledger.count_lines([lines[i] for i in nonempty]) if nonempty else 0
        return out


@dataclass(frozen=True, eq=False)
class StandIn:
    """The first live position in the text of each cut, and the tokens of the whole text: int32[n+1] each."""

    table: Table
    lines: EntryLines
    first: Ints
    split_start: Ints
    cost: Ints
    appendices: tuple[Appendix, ...]
    per_turn: bool = False

    def texts(self, place: int) -> list[tuple[str, int, int]]:
        """The messages of a cut at `place`, each with the live positions it covers (first, end).

        One for everything, or one for each turn that has a line; the rules' additions to the summary are at
        the end of the last message.
        """
        begin = self.table.since
        if not self.per_turn:
            return [(self.text(place), begin, place)]
        opening = np.flatnonzero(opening_turns(self.table)[begin + 1 : place]) + begin + 1
        bounds = [begin, *opening.tolist(), place]
        return self.turn_texts(place, list(pairwise(bounds)))

    def turn_texts(self, place: int, spans: list[tuple[int, int]]) -> list[tuple[str, int, int]]:
        """A message for each of these spans of live positions, the last of which ends at the cut."""
        out = []
        for first, end in spans:
            lines = [MARKER, *(line for line in self._lines(first, end) if line)]
            if (first, end) == spans[-1]:
                lines += [line for appendix in self.appendices for line in appendix.lines(place)]
            out.append(("\n".join(lines), first, end))
        return out

    def text(self, place: int) -> str:
        """The placeholder for a cut at `place`."""
        first, split = int(self.first[place]), int(self.split_start[place])
        out = [MARKER]
        if first > self.table.since:
            out.append(OMITTED)
        for position, line in enumerate(self._lines(first, place), first):
            if position == max(split, first) and split >= 0:
                out.append(SPLIT)
            if line:
                out.append(line)
        if split >= 0 and max(split, first) >= place:
            out.append(SPLIT)
        for appendix in self.appendices:
            out.extend(appendix.lines(place))
        return "\n".join(out)

    def _lines(self, first: int, end: int) -> Iterator[str]:
        """The lines of live positions, empty ones too."""
        texts = self.lines.texts
        return (texts[i] for i in self.table.live.entries[first:end].tolist())


def make_stand_in(
    table: Table, spec: Summary | None, appendices: Sequence[Appendix], dropped: Bools
) -> StandIn:
    """Count the placeholder at every cut. A text over the summary's cap keeps its newest lines.

    If it stands for an encrypted summary, it is at most as long as that is estimated to be.
    `dropped` (bool[m]) are blocks that no summariser reads, so no line is made of them.
    """
    ledger, live = table.ledger, table.live
    lines = _LINES.of(ledger, lambda: EntryLines(ledger))
    prefix = _PREFIX.of(table.moment, lambda: _add_up(lines.price(table)))
    if (unread := dropped & (table.kind != REASONING)).any():
        lines = lines.without(table, unread)
        prefix = _add_up(lines.price(table))
    fixed = _FIXED.of(ledger, lambda: ledger.count_lines([MARKER, OMITTED, SPLIT]))
    n = len(live)
    apart = spec is not None and spec.split_turns and not spec.per_turn
    split = table.split_start if apart else np.full(n + 1, -1, np.int32)
    cap = np.zeros(n + 1, np.int64)
    if spec is not None:
        cap = spec.max_tokens + np.where(split >= 0, spec.prefix_max_tokens, 0)
    if table.sealed is not None:
        own = table.sealed / table.moment.outside.scale - fixed[0] - fixed[1]
        cap = np.minimum(cap, math.floor(own))
    cap = np.maximum(cap, 0)
    begin = np.minimum(table.since, np.arange(n + 1))
    first = np.minimum(np.searchsorted(prefix, prefix - cap, side="left"), np.arange(n + 1))
    first = np.maximum(first, begin)
    cost = fixed[0] + np.where(first > begin, fixed[1], 0) + np.where(split >= 0, fixed[2], 0)
    cost = cost + prefix - prefix[first]
    if spec is not None and spec.per_turn:
        # Every turn opens with the marker, and none is left out.
        turns = opening_turns(table)
        turns[: table.since] = False
        turns[table.since : table.since + 1] = True
        first = begin
        cost = fixed[0] * np.append(np.zeros(1, np.int64), np.cumsum(turns)) + prefix - prefix[first]
    for appendix in appendices:
        cost = cost + appendix.cost
    per_turn = spec is not None and spec.per_turn
    return StandIn(table, lines, first, split, cost.astype(np.int32), tuple(appendices), per_turn)


def opening_turns(table: Table) -> Bools:
    """bool[n]: the live entry is the first of its turn in this view."""
    turn = table.live.turn
    return np.append(np.ones(min(len(turn), 1), bool), np.diff(turn) != 0)


def _add_up(costs: Ints) -> Ints:
    """int32[n+1]: the total tokens of the entries before each place."""
    prefix = np.zeros(len(costs) + 1, np.int32)
    np.cumsum(costs, out=prefix[1:])
    return prefix


def _speaks(table: Table) -> Bools:
    """bool[n]: the live entry may have a line. The others, most of them outputs, have none."""
    tree, live = table.session.tree, table.live
    rows = tree.start[live.entries[live.position]] + live.block
    says = (table.kind == TEXT) | (table.kind == TOOL_CALL) | tree.failed[rows]
    speaks: Bools = tree.sort[live.entries] == COMPACTION
    speaks[live.position[says]] = True
    return speaks


MARKER = "[A placeholder summary: no model was asked; each line is copied out of the file]"


OMITTED = "[… earlier lines left out to stay within the summary's length]"


SPLIT = "Earlier in the turn that the cut splits:"


_PREVIOUS_CHARS = 4000


def describe_call(call: ToolCall) -> str:
    """Describe a call by its name and its most telling argument.

    >>> describe_call(ToolCall(id="1", name="Read", input={"file_path": "src/a.py"}))
    'Read(src/a.py)'
    """
    return f"{call.name}({cut_line(telling_argument(call), 80)})"


def extract_line(entry: Entry) -> str:
    """Return the line for an entry in a placeholder summary; "" if it has no words of its own.

    Text of the user and the model is redacted and cut; calls keep their most telling argument. Outputs are
    included only if they are errors, reasoning is not.
    """
    if entry.kind == "compaction":
        text = entry.text
        more = (
            f" [… {len(text) - _PREVIOUS_CHARS} characters left out]" if len(text) > _PREVIOUS_CHARS else ""
        )
        line = f"summary so far: {redact_long(text, _PREVIOUS_CHARS)[:_PREVIOUS_CHARS]}{more}"
        return one_line(line, len(line))
    role, parts = entry.role, []
    for block in entry.blocks:
        if block.kind == "text":
            text = block.text
            if text and not text.isspace():
                parts.append(cut_line(text, 200 if role == "user" else 120))
        elif block.kind == "tool_call":
            parts.append(f"called {describe_call(block)}")
        elif block.kind == "tool_output" and block.is_error:
            parts.append("failed: " + cut_line(block.text, 100))
    if not parts:
        return ""
    who = role if role in ("user", "assistant", "system") else "tool"
    return f"{who}: {' · '.join(parts)}"
