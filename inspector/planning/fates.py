"""Fates of blocks on one side of the cut: claims in order, pins before all, pairs kept whole.

In go a table and the rules' claims, out comes a `SideFates`. Nothing here knows where the cut stands.
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
from ..session.blocks import KINDS, REASONING, Block, BlockRef
from ..session.entries import Entry
from ..session.tree import ASSISTANT, Bools, Ints
from ..text import plural
from ..tokens.counter import Longs
from ..tokens.counters import find_counter
from ..tokens.memo import Memo, Same


class Rewritten(NamedTuple):
    """Rows that changed (int32), what stands there now, and its tokens (int32).

    `reasoning` (int32) are those of the rows where what stands now is or holds reasoning.
    """

    rows: Ints
    blocks: list[Block | None]
    tokens: Ints
    reasoning: Ints

    def near_reasoning(self, table: Table) -> Iterator[tuple[int, Block, bool]]:
        """The rows that were reasoning or became it, what stands there, and whether that is reasoning."""
        forged = np.isin(self.rows, self.reasoning)
        for at in np.flatnonzero(forged | (table.kind[self.rows] == REASONING)).tolist():
            made = self.blocks[at]
            if made is not None:
                yield int(self.rows[at]), made, bool(forged[at])


Kept = tuple[Block, Block | None, int, bool]
"""A block, what became of it, the tokens of that (-1: left alone), and whether it holds reasoning."""


Name = int | tuple[int, bool | Same]
"""A block as a rewrite gets it: by the ledger's row, and where it is not the file's, by what else it is."""


_REWRITES: Memo[dict[Name, Kept]] = Memo(64)


def rewrite_rows(
    table: Table, rewrite: Rewrite, rows: list[int], before: Mapping[int, Block | None], again: bool
) -> Rewritten:
    """Rewrite live rows. `before` holds what earlier stages made of some; those are left unless `again`."""
    ledger, cleared = table.ledger, table.live.cleared
    memory: dict[Name, Kept] = {}
    if rewrite.key is not None:
        memory = _REWRITES.of(ledger, dict, rewrite.key)
    if before:
        rows = [row for row in rows if row not in before or (again and before[row] is not None)]
    names: list[Name] = table.moment.rows[rows].tolist()
    if before or cleared.any():
        # An emptied output, or what a stage made of a block, is another block of the same row.
        for index, row in enumerate(rows):
            if row in before or cleared[row]:
                names[index] = int(table.moment.rows[row]), Same(before[row]) if row in before else True
    # Nearly all were rewritten for the plan before.
    known = list(map(memory.get, names))
    done: list[Kept] = []
    new: list[int] = []
    for index, kept in enumerate(known):
        if kept is None:
            block = before.get(rows[index]) or table.block(rows[index])
            made = rewrite.make(block, rows[index])
            kept = (block, made, -1 if made is block else 0, made is not None and _holds_reasoning(made))
            if made is None or made is block:
                memory[names[index]] = kept
            else:
                new.append(index)
        done.append(kept)
    fresh = [made for index in new if (made := done[index][1]) is not None]
    counted = ledger.count_blocks(fresh).tolist() if new else []
    # Kept only once it is counted: another thread may read it as soon as it stands there.
    for index, tokens in zip(new, counted, strict=True):
        block, made, _, holds = done[index]
        memory[names[index]] = done[index] = (block, made, tokens, holds)
    changed = [(row, kept) for row, kept in zip(rows, done, strict=True) if kept[2] >= 0]
    return Rewritten(
        np.array([row for row, _ in changed], np.int32),
        [rewritten for _, (_, rewritten, _, _) in changed],
        np.array([tokens for _, (_, _, tokens, _) in changed], np.int32),
        np.array([row for row, (_, _, _, holds) in changed if holds], np.int32),
    )


BY_NONE, BY_PIN, BY_PAIR, BY_BOUND, BY_WITHHELD, BY_END = -1, -2, -3, -4, -5, -6
"""Who decided a block when no rule did: nobody, a pin, the other half of its call/output pair, the model,
which takes no reasoning whose prefix was edited, the harness, which sends no reasoning at all (S0-25), or the
provider, which takes no message of the assistant's that ends with reasoning: what it led to is gone."""
DECIDERS = {
    BY_NONE: "nothing",
    BY_PIN: "pin",
    BY_PAIR: "pair",
    BY_BOUND: "bound",
    BY_WITHHELD: "withheld",
    BY_END: "end",
}
_TEXT, _OUTPUT = KINDS.index("text"), KINDS.index("tool_output")
_THINKING = ("thinking", "redacted_thinking", "reasoning")
"""How formats call the blocks that are reasoning here."""
STANDS = np.array([fate not in ("summarised", "dropped") for fate in FATES])

_UNTOUCHED: Memo[SideFates] = Memo()


def find_standing(fate: Bytes) -> Bools:
    """`STANDS[fate]`, in a tenth of the time: where something of the block still stands in the context."""
    standing: Bools = (fate != SUMMARISED) & (fate != DROPPED)
    return standing


@dataclass(frozen=True, eq=False)
class SideFates:
    """Every block's outcome on one side of the cut: fate uint8[m], tokens int32[m], rule int32[m].

    `blocks` holds what stands in a rewritten block's place, by row; None where nothing does.
    """

    fate: Bytes
    tokens: Ints
    rule: Ints
    blocks: Mapping[int, Block | None] = field(default_factory=dict)

    @property
    def changed(self) -> Bools:
        """bool[m]: the block is not what it was; what is never sent does not count."""
        changed: Bools = (self.fate != VERBATIM) & self.is_history
        return changed

    @property
    def is_history(self) -> Bools:
        """bool[m]: all but reasoning of a harness that keeps none in its history."""
        kept: Bools = self.rule != BY_WITHHELD
        return kept


Claims = Sequence[tuple[int, Claim]]
"""Claims of one stage in order, each with the number of its rule in the policy."""


def start_side(table: Table, pinned: Bools, withheld: Bools | None = None) -> SideFates:
    """Nothing is decided yet but what pins hold, and reasoning that is never sent: no pin brings it back.

    Without either it is the same for every plan of a moment.
    """

    def make() -> SideFates:
        rule = np.where(pinned, np.int32(BY_PIN), np.int32(BY_NONE))
        fate, tokens = np.full(len(rule), VERBATIM, np.uint8), table.tokens
        if withheld is not None and withheld.any():
            tokens = tokens.copy()
            fate[withheld], tokens[withheld], rule[withheld] = DROPPED, 0, BY_WITHHELD
        fate.flags.writeable = rule.flags.writeable = False  # sides that nothing happens to are shared
        return SideFates(fate, tokens, rule)

    decided = pinned.any() or (withheld is not None and withheld.any())
    return make() if decided else _UNTOUCHED.of(table.moment, make)


def decide_stage(table: Table, side: SideFates, claims: Claims, free: Bools) -> tuple[SideFates, Bools]:
    """Ask the claims of a stage in order about the `free` blocks that still stand.

    The first that names a block decides it, over what stages before decided. Gives the new side, and which
    free blocks (bool[m]) no claim decided.
    """
    undecided = free & find_standing(side.fate)
    fate, tokens, rule, blocks = side.fate, side.tokens, side.rule, dict(side.blocks)
    touched = False
    for code, claim in claims:
        rows = claim.rows & undecided
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
        if not STANDS[claim.fate]:
            np.putmask(tokens, rows, 0)
            for row in [row for row in blocks if rows[row]]:
                del blocks[row]
        # What is left as it is keeps what an earlier stage made of it.
        said = rows if claim.fate != VERBATIM else rows & (rule < 0)
        np.putmask(fate, said, claim.fate)
        np.putmask(rule, said, code)
        undecided &= ~rows
    return (SideFates(fate, tokens, rule, blocks) if touched else side), undecided


def refuse_forged(table: Table, code: int, claim: Claim, rows: Bools, done: Rewritten | None = None) -> None:
    """Raise `PolicyError` where a rule makes reasoning, or something else of it (S0-20, S0-39, S0-41).

    Reasoning is the provider's: it stays to the byte, or is written up, dropped or cleared whole. What no
    model thought would mislead it, and no seal can be made for it. Nothing switches this off.
    """
    # Most blocks neither were reasoning nor became it, and are not looked up.
    for row, made, forged in () if done is None else done.near_reasoning(table):
        if made == (was := table.block(row)):
            continue
        if forged:
            raise PolicyError(
                table.rules[code].kind,
                f"it put reasoning into the context that no model thought, in the place of block {row} "
                f"({was.kind})",
            )
        raise PolicyError(
            table.rules[code].kind, f"it put other words in the place of reasoning, block {row}"
        )
    if claim.fate in (TRUNCATED, POINTER) and (shortened := rows & (table.kind == REASONING)).any():
        raise PolicyError(
            table.rules[code].kind,
            f"it gave reasoning, block {int(np.argmax(shortened))}, the fate {FATES[claim.fate]}; reasoning "
            "is kept, summarised, dropped or cleared whole",
        )


def _holds_reasoning(block: Block) -> bool:
    """Whether it is reasoning, as such, as a block that no reader knows or among the parts of an output."""
    if block.kind == "tool_output":
        # What was copied with other parts was not checked.
        return any(_holds_reasoning(part) for part in block.parts)
    raw = block.raw if block.kind == "unknown" else None
    return block.kind == "reasoning" or (isinstance(raw, dict) and raw.get("type") in _THINKING)


def close_pairs(table: Table, side: SideFates) -> SideFates:
    """Keep pairs whole: a half that would stand alone shares the other's fate; lone halves are dropped."""
    live = table.live
    stands = find_standing(side.fate)
    lone = live.lone
    lone = lone[stands[lone]]
    # Where all of them stand, or none, no pair is torn: so it is on most sides.
    pairs = live.pairs if not stands.all() and stands.any() else live.pairs[:0]
    calls, outputs = pairs[:, 0], pairs[:, 1]
    lone_call, lone_output = stands[calls] & ~stands[outputs], stands[outputs] & ~stands[calls]
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
    """Drop reasoning that would end the assistant's message, because all that it led to there is gone.

    Neighbouring messages of the assistant are one, as the provider merges them. A message that ends so in the
    session itself is left as it is, and so is what is pinned.
    """
    ending = _find_ending(table, side)
    if len(ending):
        ending = ending[side.rule[ending] != BY_PIN]
    if not len(ending):
        return side
    fate, tokens, rule = side.fate.copy(), side.tokens.copy(), side.rule.copy()
    fate[ending], tokens[ending], rule[ending] = DROPPED, 0, BY_END
    gone = set(ending.tolist())
    return SideFates(fate, tokens, rule, {row: b for row, b in side.blocks.items() if row not in gone})


def describe_ends(table: Table, side: SideFates) -> list[str]:
    """What was left out, or is pinned, so that a message of the assistant's would end with it."""
    out = []
    if ended := int((side.rule == BY_END).sum()):
        some = plural(ended, "reasoning block is", "reasoning blocks are")
        out.append(f"{some} left out: no message of the assistant's may end with reasoning.")
    if len(_find_ending(table, side)):
        out.append("A provider refuses this: a pin keeps reasoning at the end of the assistant's message.")
    return out


def _find_ending(table: Table, side: SideFates) -> Ints:
    """Rows of reasoning that end a message of the assistant's, and did not in the session."""
    nothing = np.zeros(0, np.int32)
    stands = find_standing(side.fate)
    if stands.all() or not stands.any():
        return nothing
    thoughts = np.flatnonzero((table.kind == REASONING) & stands).astype(np.int32)
    if not len(thoughts):
        return nothing
    live = table.live
    ours = (live.role[live.position] == ASSISTANT) & (table.kind != _OUTPUT)
    sent = _find_sent(table, thoughts)
    stands &= sent
    thoughts = thoughts[_lead_on(thoughts, sent, ours)]
    found = [nothing]
    # What led to nothing but such reasoning ends the message in its turn.
    while len(thoughts) and not (leads := _lead_on(thoughts, stands, ours)).all():
        found.append(thoughts[~leads])
        stands[found[-1]] = False
        thoughts = thoughts[leads]
    return np.concatenate(found)


def _find_sent(table: Table, thoughts: Ints) -> Bools:
    """bool[m]: False for a text of white space right after reasoning, which no request can carry."""
    sent = np.ones(len(table.kind), bool)
    after = thoughts[thoughts + 1 < len(sent)] + 1
    for row in after[table.kind[after] == _TEXT].tolist():
        block = table.block(row)
        sent[row] = block.kind != "text" or bool(block.text.strip())
    return sent


def _lead_on(rows: Ints, stands: Bools, ours: Bools) -> Bools:
    """bool[rows]: whether the next row that stands is the assistant's too, so that its message goes on."""
    standing = np.flatnonzero(stands)
    following = np.searchsorted(standing, rows, "right")
    there = following < len(standing)
    out = np.zeros(len(rows), bool)
    out[there] = ours[standing[following[there]]]
    return out


def find_edit(table: Table, side: SideFates) -> int:
    """The first row the client changes on this side; m when it changes none.

    What the provider itself clears or summarises is no edit of the client's (CLAUDE §8).
    """
    rules = table.rules
    own = [code for code, rule in enumerate(rules) if not rule.by_provider]
    changed = (side.fate != VERBATIM) & (side.rule != BY_WITHHELD)
    edited = np.flatnonzero(changed & (np.isin(side.rule, own) | (side.rule < 0)))
    return int(edited[0]) if len(edited) else len(side.fate)


def unbind(table: Table, side: SideFates, first: int) -> SideFates:
    """Drop reasoning that stands after an edit, for a model that binds it to its prefix (CLAUDE §8).

    `first` is the row from which on something before was edited already; m when nothing was.
    """
    first = min(first, find_edit(table, side))
    lost = (table.kind == REASONING) & find_standing(side.fate)
    lost[:first] = False
    if not lost.any():
        return side
    fate, tokens, rule = side.fate.copy(), side.tokens.copy(), side.rule.copy()
    fate[lost], tokens[lost], rule[lost] = DROPPED, 0, BY_BOUND
    blocks = {row: block for row, block in side.blocks.items() if not lost[row]}
    return SideFates(fate, tokens, rule, blocks)


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


def weigh_side(table: Table, side: SideFates) -> Longs:
    """int64[n]: what each live entry weighs as this side leaves it."""
    measure, live = table.trigger.measure, table.live
    n = len(live)
    if measure in COUNTED:
        counted: Longs = np.bincount(live.position, side.tokens, n).astype(np.int64)
        return counted
    stands = _standing(table, side)
    alive = np.diff(live.start) == 0
    alive[live.position[stands]] = True
    if measure == "messages":
        return np.asarray(alive, np.int64)
    weights: Longs = table.weights(measure).astype(np.int64)
    weights[~alive] = 0
    touched = np.unique(live.position[side.fate != VERBATIM])
    counter = find_counter(measure)
    for position in touched[alive[touched]].tolist():
        assert counter.weigh is not None
        weights[position] = counter.weigh(_left(table, side, position, stands))
    return weights


def _standing(table: Table, side: SideFates) -> Bools:
    stands = find_standing(side.fate)
    for row, block in side.blocks.items():
        if block is None:
            stands[row] = False
    return stands


def _left(table: Table, side: SideFates, position: int, stands: Bools) -> Entry:
    """The entry with the blocks that still stand, as they stand."""
    live = table.live
    rows = range(int(live.start[position]), int(live.start[position + 1]))
    blocks = tuple(
        block
        for row in rows
        if stands[row] and (block := side.blocks.get(row, None) or table.block(row)) is not None
    )
    entry = table.session.entries[live.entries[position]]
    left: Entry = entry.model_copy(update={"blocks": blocks})
    return left


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
