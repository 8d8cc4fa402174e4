"""Keep the end of the history, measured in messages, characters or tokens; the cut snaps.

LangChain, Inspect and Gemini CLI use the same walk. They differ in the measure, in whether the amount is a
maximum or a minimum, and in the valid positions of the cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from ...session.blocks import TOOL_CALL, TOOL_OUTPUT, Block, Document, Image, Text, ToolCall, ToolOutput
from ...session.json_text import stringify
from ...session.tree import ASSISTANT, TOOL, USER, Bools
from ...text import utf16_length
from ...tokens.counter import Longs, running_sums
from ...tokens.memo import Memo
from ...tokens.rows import SECTIONS
from ..base_rule import Rule
from ..part import Count, Share
from ..shorten import from_tools
from ..table import VERBATIM, Claim, Decision, Table

ESTIMATES = ("langchain", "ai-sdk", "cline", "deepseek", "agno", "joined", "said")
"""Measures of whole messages: published estimates, and ways to count them."""

Snap = Literal["none", "call", "words", "words-or-call", "turn", "forwards", "backwards"]

_UNITS = dict.fromkeys(("messages", "joined", "said"), "messages") | {"characters": "characters"}
"""The unit of a measure; tokens for all others."""
_SNAPS: dict[str, str] = {
    "none": "exactly there",
    "call": "with the call of its first output",
    "words": "at the user's next message",
    "words-or-call": "at the user's next message, else at the next call",
    "turn": "at the next turn",
    "forwards": "at the next valid cut",
    "backwards": "at the valid cut before it",
}


class KeepRecentShare(Rule):
    """Cut at the beginning of the last `share`, or of the last `amount`; then apply `snap`.

    `none` cuts there. `call` goes back from a tool's output to the message that called for it, or forward
    past outputs without a call. `words` moves forward to a user's words, and keeps nothing if none follow;
    `words-or-call` then moves forward to the next call.
    `turn` does so too, but if none follow it keeps nothing only after a finished reply, else it moves back
    to the last turn. `forwards` and `backwards` look for a valid cut.
    """

    title: ClassVar[str] = "Keep a recent share"
    source: ClassVar[str] = (
        "LangChain 1.4.7 and langchain-core 1.7.2; inspect_ai 0.3.285; Gemini CLI 02b2885c (PEERS §1)"
    )
    cuts: ClassVar[bool] = True
    removes: ClassVar[bool] = False

    kind: Literal["keep-recent-share"] = "keep-recent-share"
    share: Share = Field(0.3, description="Share kept after the cut")
    amount: Count | None = Field(None, description="A fixed amount kept instead of the share")
    measure: Literal[
        "messages",
        "joined",
        "said",
        "characters",
        "tokens",
        "agno",
        "langchain",
        "ai-sdk",
        "cline",
        "deepseek",
    ] = Field(
        "tokens",
        description="What is added up: messages, characters of their JSON, counted tokens or an estimate of "
        "them",
    )
    of: Literal["history", "window", "threshold"] = Field(
        "history",
        description="The whole that the share refers to; the window and the trigger's threshold are "
        "counted in tokens",
    )
    lowest: Count | None = Field(None, description="Minimum of the share, in tokens")
    highest: Count | None = Field(None, description="Maximum of the share, in tokens")
    turns: Count | None = Field(None, description="Maximum number of turns to keep; no limit by default")
    newest_prompt: bool = Field(
        False, description="Keep the user's newest message, unless it is the first one"
    )
    newest_turn: bool = Field(
        False, description="The newest turn is kept whole, even if nothing is before it; not with 0 turns"
    )
    drop: Count = Field(0, description="Least amount before the cut, if more remains")
    awaited: tuple[str, ...] | None = Field(
        None,
        description="Open calls at the end are awaited, and those of these tools anywhere: the cut is never "
        "after one",
    )
    outweigh: bool = Field(
        False, description="Nothing is cut while less would go than the last summary is long"
    )
    not_all: bool = Field(False, description="Where everything would be kept, nothing is")
    least: bool = Field(False, description="Keep at least that much, otherwise at most")
    keep_last: bool = Field(True, description="Keep the last message even if it exceeds the amount")
    snap: Snap = Field("forwards", description="Allowed positions of the cut")
    empty: bool = Field(True, description="Allow keeping nothing; otherwise the last turn is always kept")
    first_words: bool = Field(
        False,
        description="The beginning, up to the first user's message or a recorded summary, stays and is not "
        "counted",
    )
    with_system: bool = Field(False, description="The system prompt counts against the amount")

    @property
    def template(self) -> str:
        unit, bound = _UNITS.get(self.measure, "tokens"), "at least" if self.least else "at most"
        if self.amount == 0 or self.turns == 0:
            lead = "keep the last message as it is" if self.keep_last else "keep nothing"
        elif self.amount is not None:
            lead = f"keep {bound} the last {{amount}} {unit} as they are"
        elif self.of == "history":
            lead = f"keep {bound} the last {{share}} of all {unit} as they are"
        else:
            whole = "window" if self.of == "window" else "trigger's threshold"
            lead = f"keep the newest messages as they are, {bound} {{share}} of the {whole}"
        limits = ["at most {turns} turns"] if self.turns and self.amount != 0 else []
        whole_turn = self.newest_turn and (self.turns != 0 or not self.keep_last)
        always = ["the whole newest turn"] if whole_turn else []
        always += ["the newest prompt"] if self.newest_prompt else []
        limits += [f"and always {' and '.join(always)}"] if always else []
        return ", ".join((lead, *limits, f"cut {_SNAPS[self.snap]}"))

    def decide(self, table: Table) -> Decision:
        """Propose the place; the beginning that is not counted stays verbatim."""
        n = len(table.live)
        first = _after_first_words(table) if self.first_words else 0
        sizes = _add_up(self, table, first)
        total = int(sizes[-1])
        spare = Claim(table.live.position < first, VERBATIM) if first else None
        amount = _amount(self, table)
        if amount is None:
            why = "The model's window is not known, so no share of it is."
            return Decision(why=why, older=spare, kept=spare)
        before = total * (1 - self.share) if amount < 0 else total - amount
        if self.amount is None:
            if self.lowest is not None and total <= self.lowest and not self.not_all:
                why = "There is nothing to compact: the whole context is within the amount to keep."
                return Decision(why=why, older=spare, kept=spare)
            before = min(before, total - (self.lowest or 0))
            before = before if self.highest is None else max(before, total - self.highest)
        before = max(before, min(self.drop, total))
        # A call keeps all its results, so a limit between two of them lies before the first.
        inside = self.snap == "call" and self.measure == "messages"
        place = _find_place(sizes, first, before, least=self.least or inside)
        if self.keep_last and place >= n > first:
            place = n - 1
        if self.turns is not None:
            place = max(place, table.recent_turns(self.turns))
        if self.not_all and place <= max(table.start, first):
            place = n
        place = _snap(self.snap, table, place, first)
        if self.turns == 0 and self.keep_last:
            place = _with_call(table, max(n - 1, 0))
        elif self.newest_turn:
            place = min(place, table.recent_turns(1))
        if self.newest_prompt:
            prompt = table.recent_turns(1)
            place = min(place, prompt) if prompt > max(table.start, first) else place
        if not self.empty and not any(_says(table, position) for position in range(max(place, 0), n)):
            words = np.flatnonzero(_speaking(table))[::-1].tolist()
            place = next((position for position in words if _says(table, position)), first)
        place = _before_awaited(self, table, place)
        if self.outweigh and _is_less_than_summary(table, place):
            why = "The part to compact is shorter than the last summary."
            return Decision(why=why, older=spare, kept=spare)
        if place <= max(table.start, first):
            what = "nothing is left before it" if place >= 0 else "no cut is valid there"
            return Decision(why=f"There is nothing to compact: {what}.", older=spare, kept=spare)
        return Decision(cut=place, older=spare, kept=spare)


def _before_awaited(rule: KeepRecentShare, table: Table, place: int) -> int:
    """The place, or the last legal one before an open call of a tool that is awaited."""
    if rule.awaited is None:
        return place
    live = table.live
    open_calls = np.isin(np.arange(len(table.kind)), live.pending)
    last = live.position == len(live) - 1
    waiting = live.position[open_calls & (last | from_tools(table, open_calls, rule.awaited))]
    if not len(waiting) or place <= waiting.min():
        return place
    legal = np.flatnonzero(table.cuts.legal[: int(waiting.min()) + 1])
    return int(legal[-1]) if len(legal) else -1


def _is_less_than_summary(table: Table, place: int) -> bool:
    """Whether the context begins with a summary at least as long as the messages from there to the place."""
    if not table.start:
        return False
    sizes = table.weights("chars4_utf16")
    return int(sizes[table.start : max(place, table.start)].sum()) < int(sizes[: table.start].sum())


def _find_place(sizes: Longs, first: int, before: float, *, least: bool) -> int:
    """Return the first place with that much before it, or the last one with no more than that."""
    if least:
        return first + max(int(np.searchsorted(sizes[first:], before, "right")) - 1, 0)
    return first + int(np.searchsorted(sizes[first:], before, "left"))


def _amount(rule: KeepRecentShare, table: Table) -> int | None:
    """The fixed amount to keep, -1 if a share of the history is set, None if it is unknown."""
    if rule.amount is None and rule.of == "history":
        return -1
    if rule.amount is None:
        whole = table.trigger.threshold(table.window) if rule.of == "threshold" else table.window
        is_known = (
            table.trigger.knows(table.window) if rule.of == "threshold" else table.trigger.base(table.window)
        )
        if not is_known or whole <= 0:
            return None
        amount = max(int(whole * rule.share), 1)
    else:
        amount = rule.amount
    if rule.with_system:
        amount = max(amount - int(table.ledger.head_sections[SECTIONS.index("system")]), 0)
    return amount


def _add_up(rule: KeepRecentShare, table: Table, first: int) -> Longs:
    """int64[n+1]: the weight before every place, of the entries from the first one that is counted."""
    n = len(table.live)
    weights = np.ones(n, np.int64)
    if rule.measure in ESTIMATES:
        weights = table.weights(rule.measure).astype(np.int64)
    elif (rule.of != "history" and rule.amount is None) or rule.measure == "tokens":
        weights = np.bincount(table.live.position, table.tokens, n).astype(np.int64)
    elif rule.measure == "characters":
        weights = _characters(table)
    else:
        weights = _messages(table)
    weights[:first] = 0
    return running_sums(weights)


def _messages(table: Table) -> Longs:
    """int64[n]: messages per entry, as these libraries count them: one per result, and one for the text.

    A request to Anthropic has all results of a step in one message.
    """
    live, n = table.live, len(table.live)
    outputs = table.kind == TOOL_OUTPUT
    results = np.bincount(live.position[outputs], minlength=n)
    words = np.bincount(live.position[~outputs], minlength=n)
    return np.maximum(results + (words > 0), 1).astype(np.int64)


def _answering(table: Table) -> Bools:
    """bool[n]: the entry holds outputs of tools."""
    out: Bools = table.live.role == TOOL
    out[table.live.position[table.kind == TOOL_OUTPUT]] = True
    return out


def _speaking(table: Table) -> Bools:
    """bool[n]: a user's message that answers no call, a summary too."""
    speaking: Bools = (table.live.role == USER) & ~_answering(table)
    return speaking


def _says(table: Table, position: int) -> bool:
    """Return whether an entry has content that is sent; blank text is not."""
    blocks = table.session.entries[table.live.entries[position]].blocks
    return any(
        not isinstance(block, Text | Document) or bool(block.text.strip() or getattr(block, "data", None))
        for block in blocks
    )


def _after_first_words(table: Table) -> int:
    words = np.flatnonzero(_speaking(table))
    return int(words[0]) + 1 if len(words) else len(table.live)


def _snap(snap: Snap, table: Table, place: int, first: int) -> int:
    """Return the cut for a requested place, or -1."""
    n = len(table.live)
    if snap == "call":
        return _with_call(table, place)
    if snap in ("words", "words-or-call", "turn"):
        words = np.flatnonzero(_speaking(table))
        after = words[words >= place]
        if len(after):
            return int(after[0])
        if snap == "words-or-call":
            calls = np.flatnonzero(_calls(table)[place:])
            return place + int(calls[0]) if len(calls) else -1
        finished = n > 0 and table.live.role[-1] == ASSISTANT and not _calls(table)[-1]
        if snap == "words" or finished:
            return n
        return int(words[-1]) if len(words) and words[-1] >= first else first
    if snap == "none":
        return place
    legal = np.flatnonzero(table.cuts.legal)
    side = legal[legal >= place] if snap == "forwards" else legal[legal <= place]
    if not len(side):
        return -1
    return int(side[0] if snap == "forwards" else side[-1])


def _calls(table: Table) -> Bools:
    """bool[n]: the entry calls a tool."""
    out = np.zeros(len(table.live), bool)
    out[table.live.position[table.kind == TOOL_CALL]] = True
    return out


def _with_call(table: Table, place: int) -> int:
    """Move back to the message with the call of an output in the run at `place`, else past the run."""
    answering = _answering(table)
    if place >= len(answering) or not answering[place]:
        return place
    others = np.flatnonzero(~answering[place:])
    end = place + int(others[0]) if len(others) else len(answering)
    calls, outputs = table.live.position[table.live.pairs].T
    own_calls = calls[(outputs >= place) & (outputs < end) & (calls < place)]
    return int(own_calls.max()) if len(own_calls) else end


_CHARACTERS: Memo[dict[int, int]] = Memo()


def _characters(table: Table) -> Longs:
    """int64[n]: UTF-16 units of each message as Gemini's JSON, its outputs as they are shortened first."""
    live = table.live
    memo = _CHARACTERS.of(table.ledger, dict)
    out = np.zeros(len(live), np.int64)
    for position, index in enumerate(live.entries.tolist()):
        if index not in memo:
            entry = table.session.entries[index]
            memo[index] = _measure(entry.role, entry.blocks)
        out[position] = memo[index]
    shorten = getattr(table.sibling("budget-outputs"), "shorten", None)
    changed: dict[int, Block] = {} if shorten is None else dict(shorten(table))
    changed |= {row: table.block(row) for row in np.flatnonzero(live.cleared).tolist() if row not in changed}
    for position in {int(live.position[row]) for row in changed}:
        rows = range(int(live.start[position]), int(live.start[position + 1]))
        blocks = [changed.get(row) or table.block(row) for row in rows]
        out[position] = _measure(table.session.entries[live.entries[position]].role, blocks)
    return out


def _measure(role: str, blocks: Sequence[Block]) -> int:
    content = {"role": "model" if role == "assistant" else "user", "parts": [_part(b) for b in blocks]}
    return utf16_length(stringify(content))


def _part(block: Block) -> dict[str, Any]:
    match block:
        case ToolCall():
            return {"functionCall": {"id": block.id, "name": block.name, "args": block.input}}
        case ToolOutput():
            answer = {"id": block.call_id, "name": block.name, "response": {"output": block.text}}
            return {"functionResponse": answer}
        case Image():
            return {"inlineData": {"mimeType": block.media_type, "data": block.data or block.url}}
        case _:
            return {"text": block.text}
