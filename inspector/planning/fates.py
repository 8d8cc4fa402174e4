"""Fates of blocks on one side of the cut: claims in order, pins before all, pairs kept whole.

The input is a table and the rules' claims, the result a `SideFates`. No function here knows the cut.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ..errors import EditError, PolicyError
from ..policies.table import (
    COUNTED,
    DROPPED,
    FATES,
    POINTER,
    SUMMARISED,
    TRUNCATED,
    VERBATIM,
    Bytes,
    Claim,
    Rewrite,
    Table,
)
from ..policies.trigger import Measure
from ..session.blocks import REASONING, TEXT, TOOL_OUTPUT, Block, BlockRef
from ..session.entries import Entry
from ..session.tree import ASSISTANT, Bools, Ints
from ..text import plural
from ..tokens.counter import Longs
from ..tokens.counters import find_counter
from ..tokens.memo import Memo, Same


class Rewritten(NamedTuple):
    """Rows that changed (int32), their new blocks, and the tokens of these (int32).

    `reasoning` (int32) are the rows whose new block is or holds reasoning.
    """

    rows: Ints
    blocks: list[Block | None]
    tokens: Ints
    reasoning: Ints

    def near_reasoning(self, table: Table) -> Iterator[tuple[int, Block, bool]]:
        """Yield each row that was or is reasoning, its new block, and whether that is reasoning."""
        forged = np.isin(self.rows, self.reasoning)
        for at in np.flatnonzero(forged | (table.kind[self.rows] == REASONING)).tolist():
            block = self.blocks[at]
            if block is not None:
                yield int(self.rows[at]), block, bool(forged[at])


CachedRewrite = tuple[Block, Block | None, int, bool]
"""A block, its rewritten form, the tokens of that (-1: unchanged), and whether it holds reasoning."""


Name = int | tuple[int, bool | Same]
"""A key for the input block of a rewrite: its row in the ledger, and its identity if it is not the file's."""


_REWRITES: Memo[dict[Name, CachedRewrite]] = Memo(64)


def rewrite_rows(
    table: Table, rewrite: Rewrite, rows: list[int], before: Mapping[int, Block | None], again: bool
) -> Rewritten:
    """Rewrite live rows. `before` holds blocks of earlier stages; these are skipped unless `again`."""
    ledger, cleared = table.ledger, table.live.cleared
    memory: dict[Name, CachedRewrite] = {}
    if rewrite.key is not None:
        memory = _REWRITES.of(ledger, dict, rewrite.key)
    if before:
        rows = [row for row in rows if row not in before or (again and before[row] is not None)]
    names: list[Name] = table.moment.rows[rows].tolist()
    if before or cleared.any():
        # An emptied output, or a block that a stage rewrote, is another block of the same row.
        for index, row in enumerate(rows):
            if row in before or cleared[row]:
                names[index] = int(table.moment.rows[row]), Same(before[row]) if row in before else True
    # The previous plan has usually rewritten nearly all of them.
    cached = list(map(memory.get, names))
    done: list[CachedRewrite] = []
    new: list[int] = []
    for index, item in enumerate(cached):
        if item is None:
            block = before.get(rows[index]) or table.block(rows[index])
            result = rewrite.make(block, rows[index])
            item = (
                block,
                result,
                -1 if result is block else 0,
                result is not None and _holds_reasoning(result),
            )
            if result is None or result is block:
                memory[names[index]] = item
            else:
                new.append(index)
        done.append(item)
    fresh = [result for index in new if (result := done[index][1]) is not None]
    counted = ledger.count_blocks(fresh).tolist() if new else []
    # Stored only after it is counted: another thread may read it at once.
    for index, tokens in zip(new, counted, strict=True):
        block, result, _, holds = done[index]
        memory[names[index]] = done[index] = (block, result, tokens, holds)
    changed = [(row, item) for row, item in zip(rows, done, strict=True) if item[2] >= 0]
    return Rewritten(
        np.array([row for row, _ in changed], np.int32),
        [rewritten for _, (_, rewritten, _, _) in changed],
        np.array([tokens for _, (_, _, tokens, _) in changed], np.int32),
        np.array([row for row, (_, _, _, holds) in changed if holds], np.int32),
    )


BY_NONE, BY_PIN, BY_PAIR, BY_BOUND, BY_WITHHELD, BY_END = -1, -2, -3, -4, -5, -6
"""The decider of a block that no rule decided: none, a pin, the other half of its call/output pair, the model
(it refuses reasoning after an edit), the harness (it sends no reasoning, S0-25), or the provider (it refuses
an assistant message that ends with reasoning)."""
DECIDED_BY = {
    BY_NONE: "no rule",
    BY_PIN: "a pin",
    BY_PAIR: "the other half of its call",
    BY_BOUND: "the model, which refuses reasoning after an edit",
    BY_WITHHELD: "the harness, which sends no reasoning",
    BY_END: "the provider, which takes no message that ends with reasoning",
}
"""The same in words, as a story and the list of blocks say them."""
_THINKING = ("thinking", "redacted_thinking", "reasoning")
"""The block types of other formats that are reasoning here."""
REMAINS = np.array([fate not in ("summarised", "dropped") for fate in FATES])

_UNTOUCHED: Memo[SideFates] = Memo()


def find_standing(fate: Bytes) -> Bools:
    """Compute `REMAINS[fate]` ten times faster: whether something of the block remains in the context."""
    standing: Bools = (fate != SUMMARISED) & (fate != DROPPED)
    return standing


@dataclass(frozen=True, eq=False)
class SideFates:
    """Every block's outcome on one side of the cut: fate uint8[m], tokens int32[m], rule int32[m].

    `blocks` maps rows to rewritten blocks; None if the block was removed.
    """

    fate: Bytes
    tokens: Ints
    rule: Ints
    blocks: Mapping[int, Block | None] = field(default_factory=dict)

    @property
    def standing(self) -> Bools:
        """bool[m]: something of the block remains in the context."""
        standing = find_standing(self.fate)
        standing[[row for row, block in self.blocks.items() if block is None]] = False
        return standing

    def drop(self, rows: Ints | Bools, by: int) -> SideFates:
        """The side without these rows, as `by` decides."""
        fate, tokens, rule = self.fate.copy(), self.tokens.copy(), self.rule.copy()
        fate[rows], tokens[rows], rule[rows] = DROPPED, 0, by
        blocks = {row: block for row, block in self.blocks.items() if rule[row] != by}
        return SideFates(fate, tokens, rule, blocks)

    @property
    def changed(self) -> Bools:
        """bool[m]: the block was changed; blocks that are never sent do not count."""
        changed: Bools = (self.fate != VERBATIM) & self.is_history
        return changed

    @property
    def is_history(self) -> Bools:
        """bool[m]: False for reasoning that the harness does not keep in its history."""
        in_history: Bools = self.rule != BY_WITHHELD
        return in_history


Claims = Sequence[tuple[int, Claim]]
"""Claims of one stage in order, each with the number of its rule in the policy."""


def start_side(table: Table, pinned: Bools, hidden: Bools | None = None) -> SideFates:
    """Return a side on which only pins, and reasoning that is never sent, are decided.

    A pin does not restore such reasoning. Without either, the side is shared by all plans of a moment.
    """

    def make() -> SideFates:
        rule = np.where(pinned, np.int32(BY_PIN), np.int32(BY_NONE))
        fate, tokens = np.full(len(rule), VERBATIM, np.uint8), table.tokens
        if hidden is not None and hidden.any():
            tokens = tokens.copy()
            fate[hidden], tokens[hidden], rule[hidden] = DROPPED, 0, BY_WITHHELD
        fate.flags.writeable = rule.flags.writeable = False  # sides that nothing happens to are shared
        return SideFates(fate, tokens, rule)

    decided = pinned.any() or (hidden is not None and hidden.any())
    return make() if decided else _UNTOUCHED.of(table.moment, make)


def decide_stage(
    table: Table, side: SideFates, claims: Claims, free: Bools, stored: Bools | None = None
) -> tuple[SideFates, Bools]:
    """Apply the claims of a stage in order to the `free` blocks that remain.

    The first claim that names a block decides it and overrides earlier stages. A summary takes the blocks of
    `stored` (bool[m]) too, which an earlier stage left out of the request alone.

    Returns:
        The new side, and the free blocks (bool[m]) that no claim decided.
    """
    undecided = free & find_standing(side.fate)
    fate, tokens, rule, blocks = side.fate, side.tokens, side.rule, dict(side.blocks)
    touched = False
    for code, claim in claims:
        rows = claim.rows & undecided
        if stored is not None and claim.fate == SUMMARISED:
            rows |= claim.rows & free & stored & (fate == side.fate)
        if not rows.any():
            continue
        if not touched:
            fate, tokens, rule, touched = fate.copy(), tokens.copy(), rule.copy(), True
        if claim.rewrite is not None:
            done = rewrite_rows(table, claim.rewrite, np.flatnonzero(rows).tolist(), blocks, claim.again)
            rows = np.zeros(len(fate), bool)
            rows[done.rows] = True
            refuse_forged(table, code, claim, rows, done)
            tokens[done.rows] = done.tokens
            blocks.update(zip(done.rows.tolist(), done.blocks, strict=True))
        else:
            refuse_forged(table, code, claim, rows)
            if claim.tokens is not None:
                tokens[rows] = claim.tokens[rows]
        if not REMAINS[claim.fate]:
            np.putmask(tokens, rows, 0)
            for row in [row for row in blocks if rows[row]]:
                del blocks[row]
        # A block that this stage leaves unchanged keeps the result of an earlier stage.
        assigned = rows if claim.fate != VERBATIM else rows & (rule < 0)
        np.putmask(fate, assigned, claim.fate)
        np.putmask(rule, assigned, code)
        undecided &= ~rows
    return (SideFates(fate, tokens, rule, blocks) if touched else side), undecided


def refuse_forged(table: Table, code: int, claim: Claim, rows: Bools, done: Rewritten | None = None) -> None:
    """Raise `PolicyError` if a rule creates or alters reasoning (S0-20, S0-39, S0-41).

    Reasoning belongs to the provider: it stays unchanged, or is summarised, dropped or cleared as a whole.
    Invented reasoning would mislead the model and cannot be signed. This check cannot be switched off.
    """
    # Most blocks are not reasoning, before or after, and are not looked up.
    for row, block, forged in () if done is None else done.near_reasoning(table):
        if block == (was := table.block(row)):
            continue
        if forged:
            raise PolicyError.of_rule(
                table.rules[code].kind,
                f"it put reasoning into the context that no model thought, in the place of block {row} "
                f"({was.kind})",
            )
        raise PolicyError.of_rule(
            table.rules[code].kind, f"it put other words in the place of reasoning, block {row}"
        )
    if claim.fate in (TRUNCATED, POINTER) and (shortened := rows & (table.kind == REASONING)).any():
        raise PolicyError.of_rule(
            table.rules[code].kind,
            f"it gave reasoning, block {int(np.argmax(shortened))}, the fate {FATES[claim.fate]}; reasoning "
            "is kept, summarised, dropped or cleared whole",
        )


def _holds_reasoning(block: Block) -> bool:
    """Whether a block is reasoning, is an unknown block of a reasoning type, or has such a part."""
    if block.kind == "tool_output":
        # The parts of a copied output were not validated.
        return any(_holds_reasoning(part) for part in block.parts)
    raw = block.raw if block.kind == "unknown" else None
    return block.kind == "reasoning" or (isinstance(raw, dict) and raw.get("type") in _THINKING)


def close_pairs(table: Table, side: SideFates) -> SideFates:
    """Keep pairs whole: a half without its partner gets the partner's fate; lone halves are dropped."""
    live = table.live
    remains = find_standing(side.fate)
    lone = live.lone
    lone = lone[remains[lone]]
    # If all blocks remain, or none, no pair is split; that is the case on most sides.
    pairs = live.pairs if not remains.all() and remains.any() else live.pairs[:0]
    calls, outputs = pairs[:, 0], pairs[:, 1]
    lone_call, lone_output = remains[calls] & ~remains[outputs], remains[outputs] & ~remains[calls]
    if not (lone_call.any() or lone_output.any() or len(lone)):
        return side
    fate, tokens, rule, blocks = side.fate.copy(), side.tokens.copy(), side.rule.copy(), dict(side.blocks)
    fate[calls[lone_call]] = fate[outputs[lone_call]]
    fate[outputs[lone_output]] = fate[calls[lone_output]]
    fate[lone] = DROPPED
    for rows in (calls[lone_call], outputs[lone_output], lone):
        tokens[rows], rule[rows] = 0, BY_PAIR
        for row in rows.tolist() if blocks else ():
            blocks.pop(row, None)
    return SideFates(fate, tokens, rule, blocks)


def close_messages(table: Table, side: SideFates) -> SideFates:
    """Drop reasoning that would be the end of an assistant message, because everything after it was removed.

    Adjacent assistant messages count as one, as the provider merges them. A message that already ends with
    reasoning in the session is left as it is, and so are pinned blocks.
    """
    ending = _find_ending(table, side)
    if len(ending):
        ending = ending[side.rule[ending] != BY_PIN]
    return side.drop(ending, BY_END) if len(ending) else side


def describe_ends(table: Table, side: SideFates) -> list[str]:
    """Describe reasoning that was dropped, or is pinned, at the end of an assistant message."""
    out = []
    if ended := int((side.rule == BY_END).sum()):
        some = plural(ended, "reasoning block is", "reasoning blocks are")
        out.append(f"{some} left out: no message of the assistant's may end with reasoning.")
    if len(_find_ending(table, side)):
        out.append("A provider refuses this: a pin keeps reasoning at the end of the assistant's message.")
    return out


def _find_ending(table: Table, side: SideFates) -> Ints:
    """Rows of reasoning that end an assistant message, but do not in the session."""
    nothing = np.zeros(0, np.int32)
    remains = find_standing(side.fate)
    if remains.all() or not remains.any():
        return nothing
    thoughts = np.flatnonzero((table.kind == REASONING) & remains).astype(np.int32)
    if not len(thoughts):
        return nothing
    live = table.live
    ours = (live.role[live.position] == ASSISTANT) & (table.kind != TOOL_OUTPUT)
    sent = _find_sent(table, thoughts)
    remains &= sent
    thoughts = thoughts[_lead_on(thoughts, sent, ours)]
    endings = [nothing]
    # Reasoning that is followed only by such reasoning ends the message too.
    while len(thoughts) and not (leads := _lead_on(thoughts, remains, ours)).all():
        endings.append(thoughts[~leads])
        remains[endings[-1]] = False
        thoughts = thoughts[leads]
    return np.concatenate(endings)


def _find_sent(table: Table, thoughts: Ints) -> Bools:
    """bool[m]: False for a text of white space right after reasoning, which no request can carry."""
    sent = np.ones(len(table.kind), bool)
    after = thoughts[thoughts + 1 < len(sent)] + 1
    for row in after[table.kind[after] == TEXT].tolist():
        block = table.block(row)
        sent[row] = block.kind != "text" or bool(block.text.strip())
    return sent


def _lead_on(rows: Ints, remains: Bools, ours: Bools) -> Bools:
    """bool[rows]: whether the next remaining row is the assistant's too, so that its message continues."""
    standing = np.flatnonzero(remains)
    following = np.searchsorted(standing, rows, "right")
    there = following < len(standing)
    out = np.zeros(len(rows), bool)
    out[there] = ours[standing[following[there]]]
    return out


def find_edit(table: Table, side: SideFates) -> int:
    """The first row the client changes on this side; m if it changes none.

    A block that the provider itself clears or summarises is not an edit by the client.
    """
    rules = table.rules
    own = [code for code, rule in enumerate(rules) if not rule.by_provider]
    changed = (side.fate != VERBATIM) & (side.rule != BY_WITHHELD)
    edited = np.flatnonzero(changed & (np.isin(side.rule, own) | (side.rule < 0)))
    return int(edited[0]) if len(edited) else len(side.fate)


def unbind(table: Table, side: SideFates, first: int) -> SideFates:
    """Drop reasoning after an edit, for a model that binds reasoning to its prefix.

    `first` is the row from which on an earlier row was edited already; m if none was.
    """
    first = min(first, find_edit(table, side))
    lost = (table.kind == REASONING) & find_standing(side.fate)
    lost[:first] = False
    return side.drop(lost, BY_BOUND) if lost.any() else side


def join_sides(a: SideFates, b: SideFates, first: Bools) -> SideFates:
    """Return the fates of side `a` for the rows of which `first` (bool[m]) is true, else of side `b`."""
    blocks = {row: block for row, block in a.blocks.items() if first[row]}
    blocks |= {row: block for row, block in b.blocks.items() if not first[row]}
    return SideFates(
        np.where(first, a.fate, b.fate),
        np.where(first, a.tokens, b.tokens),
        np.where(first, a.rule, b.rule),
        blocks,
    )


def find_pinned(table: Table, pins: tuple[str, ...]) -> Bools:
    """Rows that pins hold, with the other half of every call/output pair they touch."""
    live, session = table.live, table.session
    rows = np.zeros(len(table.tokens), bool)
    if not pins:
        return rows
    for pin in pins:
        name, block = pin, None
        if pin not in session.index and "/" in pin:
            try:
                name, block = BlockRef.parse(pin)
            except ValueError:
                raise EditError("pin", pin, "a block is written entry/number") from None
        positions = np.flatnonzero(live.entries == session.index.get(name, -1))
        if not len(positions):
            raise EditError("pin", pin, "no such entry in this context")
        first, last = int(live.start[positions[0]]), int(live.start[positions[0] + 1])
        if block is None:
            rows[first:last] = True
        elif first + block < last and block >= 0:
            rows[first + block] = True
        else:
            raise EditError("pin", pin, f"the entry has {last - first} blocks")
    calls, outputs = live.pairs[:, 0], live.pairs[:, 1]
    both = rows[calls] | rows[outputs]
    rows[calls[both]] = rows[outputs[both]] = True
    return rows


def weigh_side(table: Table, side: SideFates, measure: Measure | None = None) -> Longs:
    """int64[n]: the size of each live entry on this side, by the policy's measure or another."""
    measure, live = measure or table.trigger.measure, table.live
    n = len(live)
    if measure in COUNTED:
        counted: Longs = np.bincount(live.position, side.tokens, n).astype(np.int64)
        return counted
    remains = side.standing
    alive = np.diff(live.start) == 0
    alive[live.position[remains]] = True
    if measure == "messages":
        return np.asarray(alive, np.int64)
    weights: Longs = table.weights(measure).astype(np.int64)
    weights[~alive] = 0
    touched = np.unique(live.position[side.fate != VERBATIM])
    counter = find_counter(measure)
    for position in touched[alive[touched]].tolist():
        assert counter.weigh is not None
        weights[position] = counter.weigh(_remaining_entry(table, side, position, remains))
    return weights


def _remaining_entry(table: Table, side: SideFates, position: int, remains: Bools) -> Entry:
    """The entry with only its remaining blocks, in their present form."""
    live = table.live
    rows = range(int(live.start[position]), int(live.start[position + 1]))
    blocks = tuple(side.blocks.get(row) or table.block(row) for row in rows if remains[row])
    entry = table.session.entries[live.entries[position]]
    remaining: Entry = entry.model_copy(update={"blocks": blocks})
    return remaining


def find_lost(table: Table, fate: Bytes) -> tuple[BlockRef, ...]:
    """The live blocks that a plan leaves no longer verbatim, in order (S1-32)."""
    return tuple(table.session.live_refs(np.flatnonzero(fate != VERBATIM)))


def describe_lost(fate: Bytes) -> str:
    """The same in a sentence; empty when everything stays.

    >>> describe_lost(np.array([3, 3, 4, 0], np.uint8))
    'Lossy: 3 blocks are no longer verbatim (2 summarised, 1 dropped); the file keeps them.'
    """
    counts = Counter(fate[fate != VERBATIM].tolist())
    lost = sum(counts.values())
    if not lost:
        return ""
    fates = ", ".join(f"{counts[code]:,} {name}" for code, name in enumerate(FATES) if counts[code])
    some = plural(lost, "block is", "blocks are")
    return f"Lossy: {some} no longer verbatim ({fates}); the file keeps {'it' if lost == 1 else 'them'}."
