"""Read Claude Code's session files, one JSON row per line, into a `Session`.

A row of the conversation becomes an entry, and the rows of one reply become one entry. Every other row
becomes a note, and an unreadable line a corrupt record, so `session.records` are exactly the lines that are
not blank. `speakers` decides who wrote a row of the user's role. A message that a user queues while the model
works is an entry at its delivery (`queue`), and `extra["queued"]` has all queued messages with their lines. A
rewind writes an `explicit` row `last-prompt` that names the leaf; it counts until a message follows. Replies
of sub-agents in rows of progress are in `Session.subagents`; files of sub-agents become sidechains
(`agents`). Source: CLAUDE §3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from sys import intern
from typing import Any

from msgspec import UNSET

from ....errors import EmptySession
from ....session.blocks import Block, ToolOutput, build
from ....session.entries import Boundary, Corrupt, Entry, Note, Provided, Source
from ....session.session import Session
from ....session.speakers import Speech, judge
from ...damaged_lines import repair_line
from ...json_document import is_number, tell_wordless
from ...json_lines import Data, iter_lines, read_lines
from ...other_sessions import warn_of_copies
from ...recording import first_rows
from ...requests.anthropic_blocks import Names, read_content
from ..gemini.qwen import is_qwen
from .attached import WAY, Announced, PromptSnapshot, read_attachment
from .chain import SYNTHETIC, LineChain, announces, make_boundaries, make_entry, warn_of_links
from .draft import Draft, Kind, Lane, ReplyFields, read_replacements, replace_outputs
from .queue import QUEUE, PromptQueue, is_command, words_of
from .recorded_requests import Reminders
from .replies import RepeatedRows, ReplyIndex, ReplyName, find_output
from .rows import (
    BOOKKEEPING,
    SUBTYPES,
    TALK,
    Message,
    ProgressRow,
    Row,
    Sign,
    ToolResult,
    UsageFields,
    decode_row,
    decode_sign,
    read_origin,
)
from .subagents import RecordedReplies, SubAgentRows, index_replies

NAME = "claude-code"
LOOK = 64

MAIN: Lane = (False, None)


def sniff(data: Data) -> str | None:
    """Return None if one of the first lines is a row of Claude Code, else the reason why not."""
    count = 0
    for source, line in islice(iter_lines(data), LOOK):
        count += 1
        if any(sign.ours for sign in _read_signs(data, source, line)):
            qwen = any(is_qwen(row) for row in first_rows(data))
            return "its messages hold Qwen Code's `parts`" if qwen else None
    return (
        f"none of the first {count} lines is a row with a uuid and a parentUuid" if count else "it is empty"
    )


def _read_signs(data: Data, source: Source, line: memoryview) -> Iterator[Sign]:
    """Yield the identifying fields of a line, or of each complete row in a damaged line."""
    try:
        yield decode_sign(line)
    except ValueError:
        for begin, end in repair_line(data, source.offset, source.offset + source.size).spans:
            with suppress(ValueError):
                yield decode_sign(memoryview(data)[begin:end])


def read(data: Data) -> Session:
    """Read a file. Raises `EmptySession` if it has no message."""
    return read_lines(ClaudeCodeLines(), data)


class ClaudeCodeLines:
    """Read the rows of one file in order and build the session.

    Attributes:
        agent: The sub-agent that the file's name names. Rows that name no sub-agent belong to it.
        goes_on: Whether rows may follow. If False, building the session frees the parsed rows, so a session
            of 1 GB opens within 1.5 GB of memory.
        charged: Messages that are also in another file of the session and are charged there.
        recorded_replies: The replies in the session that was built last.
    """

    def __init__(self, agent: str | None = None) -> None:
        self.agent = agent
        self.goes_on = True
        self.charged: frozenset[ReplyName] = frozenset()
        self.recorded_replies = RecordedReplies(frozenset(), {})
        self.drafts: list[Draft] = []
        self.notes: list[Note] = []
        self.corrupt: list[Corrupt] = []
        self.chain = LineChain()
        self.names: Names = {}
        self.replies = ReplyIndex()
        self.repeated = RepeatedRows()
        self.unwritten: dict[Lane, list[Draft]] = {}
        self.previous: dict[Lane, Draft] = {}
        self.last_message: dict[bool, Draft] = {}
        self.models: dict[bool, str] = {}
        self.titles: dict[str, str] = {}
        self.summaries: list[tuple[str, str | None]] = []
        self.facts: dict[str, str] = {}
        self.queue = PromptQueue()
        self.announced = {False: Announced(), True: Announced()}  # to the model, and to sub-agents
        self.prompt = {False: PromptSnapshot(), True: PromptSnapshot()}
        self.reminders = Reminders()
        self.attached: dict[str, Draft] = {}
        self.undelivered: list[tuple[Row, str, Source]] = []
        self.subagents = SubAgentRows()
        self.sent_instead: dict[str, str] = {}  # by the id of the call whose output was too long
        self.retracted: dict[str, None] = {}  # rows of refused replies, which no later request holds
        self.pinned: tuple[str | None] | None = (
            None  # the end of the conversation after a rewind, until the next message
        )

    def take(self, source: Source, line: memoryview) -> None:
        """Read the next line of the file."""
        try:
            row = decode_row(line)
        except ValueError as error:
            self.spoil(source, str(error))
        else:
            if self.agent is not None and row.agent_id is None:
                row.agent_id = self.agent
            self.place(row, source)
            if row.copied_from is not None:
                return  # its sub-agents are charged in the session that it was copied from
            if type(row.data) is ProgressRow and row.data.type == "agent_progress":
                self.subagents.take_progress(source, row.data)
            elif type(row.tool_use_result) is ToolResult and row.tool_use_result.tells_of_agent:
                self.subagents.take_result(source, line)

    def place(self, row: Row, source: Source) -> None:
        """Read a row by its type."""
        earlier = self.chain.home.get(row.uuid) if row.uuid is not None else None
        if earlier is not None or row.uuid in self.chain.via:
            self.repeated.add(row, earlier, self.previous.get(row.lane))
        else:
            self.repeated.mend(row)
        if row.type in TALK:
            if row.message is None:
                self.spoil(source, f"a row of type {row.type} without a message")
            elif row.is_compact_summary and row.type == "user":
                self._summarise(row, row.message, source)
            else:
                self._say(row, row.message, source)
        elif row.type == "system" and row.subtype == "compact_boundary":
            self._compact(row, source)
        elif row.type == "system" and row.subtype == "microcompact_boundary":
            draft = self._find_known(row, "micro")
            if draft is not None:
                draft.replace(row.uuid, [], source)
            else:
                draft = self._start(row, source, row.lane, "system")
                draft.kind = "micro"
                draft.append(row.uuid, [], source)
                if draft.aside in self.last_message:
                    self.last_message[draft.aside] = draft
            draft.metadata = row.microcompact_metadata
        elif row.attachment is not None and row.attachment.get("type") == "queued_command":
            self._deliver(row, row.attachment, source)
        elif row.attachment is not None and self._announce(row, row.attachment):
            self._note(row, source)
        elif row.attachment is not None and (blocks := read_attachment(row.attachment, row.rendered)):
            self._attach(row, blocks, source)
        elif row.type == QUEUE and (words := self.queue.take(row, source)):
            self.undelivered.append((row, words, source))
        else:
            self._note(row, source)

    def _announce(self, row: Row, attachment: dict[str, Any]) -> bool:
        """Read content that is part of every request. Return whether the attachment has such content."""
        aside = row.lane[0]
        return self.prompt[aside].take(attachment) or self.announced[aside].take(attachment, row.rendered)

    def spoil(self, source: Source, reason: str) -> None:
        """Record a line that cannot be read."""
        self.corrupt.append(build(Corrupt, line=source.line, offset=source.offset, reason=reason))

    def check_last(self, source: Source) -> None:
        """Report a corrupt last line without a line end as unfinished: it is still being written."""
        if self.corrupt and self.corrupt[-1].line == source.line:
            self.corrupt.pop()
            self.spoil(source, "the last line is not finished")

    def _note(self, row: Row, source: Source) -> None:
        kind = row.type or ""
        is_known = kind in BOOKKEEPING
        self.reminders.take(row)
        self.prompt[row.lane[0]].take_request(row.shape_hash, row.shape, row.query_source)
        self.sent_instead |= read_replacements(row.replacements) if kind == "content-replacement" else {}
        retracted = row.retracted_message_uuids if isinstance(row.retracted_message_uuids, list) else ()
        self.retracted |= {name: None for name in retracted if isinstance(name, str)}
        if kind == "system":
            kind, is_known = f"system/{row.subtype or ''}", row.subtype in SUBTYPES
        self.notes.append(build(Note, type=kind, known=is_known, source=source))
        if row.uuid is not None:
            self.chain.via.setdefault(row.uuid, None if row.parent_uuid is UNSET else row.parent_uuid)
        if row.custom_title is not None:
            self.titles["custom"] = row.custom_title
        elif row.ai_title is not None:
            self.titles["ai"] = row.ai_title
        elif row.summary is not None and kind == "summary":
            self.summaries.append((row.summary, row.leaf_uuid))
        elif kind == "last-prompt" and row.explicit is True:
            self.pinned = (row.leaf_uuid,)

    def _start(
        self, row: Row, source: Source, lane: Lane, role: str = "user", *, outputs: bool = False
    ) -> Draft:
        """Start a draft for this row, after the queued messages that were delivered before it."""
        if self.undelivered and lane == MAIN and not outputs:
            for draft in self._make_undelivered():
                self._add(draft, MAIN)
                self.last_message[False] = self.queue.inserted[draft.lines[0].blocks[0].text] = draft
            self.undelivered.clear()
        parent = row.parent_uuid
        if parent is UNSET:
            # Rows of a format without the field follow each other.
            parent = self.previous[lane].id if lane in self.previous else None
        elif parent is not None and (above := self.chain.home.get(parent)) is not None and above.id == parent:
            parent = above.id  # shares one string object
        name = row.uuid if row.uuid is not None else f"line-{source.line}"
        if row.uuid is None and name in self.chain.home:
            name = f"{name}.{source.offset}"  # another row of a damaged line
        draft = Draft(name, parent, role, len(self.drafts), lane)
        draft.timestamp, draft.copied_from = row.timestamp, row.copied_from
        self._add(draft, lane)
        self._note_session(row)
        return draft

    def _add(self, draft: Draft, lane: Lane) -> None:
        if lane == MAIN:
            self.pinned = None
        self.drafts.append(draft)
        self.previous[lane] = draft
        self.chain.home[draft.id] = draft

    def _make_undelivered(self) -> list[Draft]:
        """Build drafts of the messages that left the queue since the last reply.

        They are delivered together with the outputs of the running tools.
        """
        parent, drafts = self.previous.get(MAIN), list[Draft]()
        for row, words, source in self.undelivered:
            order = len(self.drafts) + len(drafts)
            draft = Draft(f"line-{source.line}", parent.id if parent else None, "user", order, MAIN)
            speech = Speech("harness", "local command") if is_command(words) else Speech("user", "queued")
            draft.queued, draft.timestamp = True, row.timestamp
            draft.meta, draft.extra = speech.meta, speech.extra
            draft.append(None, read_content(words, self.names), source)
            drafts.append(draft)
        return drafts

    def _note_session(self, row: Row) -> None:
        facts = self.facts
        if row.cwd is not None:
            facts.setdefault("cwd", row.cwd)
        if row.session_id is not None:
            facts["id"] = row.session_id
        if row.version is not None:
            facts["version"] = row.version
        if row.git_branch is not None:
            facts["git_branch"] = row.git_branch

    def _say(self, row: Row, message: Message, source: Source) -> None:
        lane, answers = row.lane, row.type == "assistant"
        blocks = read_content(message.content, self.names)
        draft = self.chain.home.get(row.uuid) if row.uuid is not None else None
        again = draft is not None and draft.kind == "message" and draft.message == message.id
        if draft is not None and again and (draft.role == "assistant") == answers:
            self._move(draft, row)
            changed = draft.replace(row.uuid, blocks, source)
            if answers:
                self._answer(draft, row, message)
            elif changed:
                self._ask(draft, row, blocks)
            return
        draft = self.replies.find(row, message, self._find_above(row)) if answers else None
        if draft is None:
            # Queued prompts wait for outputs.
            outputs = bool(self.undelivered) and any(type(block) is ToolOutput for block in blocks)
            draft = self._start(row, source, lane, "assistant" if answers else "user", outputs=outputs)
            if answers:
                self.replies.add(draft, message, lane)
        elif row.uuid is not None:
            self.chain.home[row.uuid] = draft
            if draft.parent == row.uuid:
                draft.parent = None if row.parent_uuid is UNSET else row.parent_uuid
        draft.message = message.id
        draft.append(row.uuid, blocks, source)
        if answers:
            self._answer(draft, row, message)
            self.unwritten.pop(lane, None)
        else:
            self._ask(draft, row, blocks)
            if draft.role == "user" and not draft.meta:
                self.replies.end(lane, draft.order)
        self.last_message[lane[0]] = draft

    def _find_above(self, row: Row) -> Draft | None:
        """Return the draft of a row's parent; the last one of its lane if rows have no parents."""
        if row.parent_uuid is UNSET:
            return self.previous.get(row.lane)
        return None if row.parent_uuid is None else self.chain.home.get(row.parent_uuid)

    def _ask(self, draft: Draft, row: Row, blocks: list[Block]) -> None:
        """Set the text and outputs of a row with the user's role."""
        outputs = [block.call_id for block in blocks if type(block) is ToolOutput]
        draft.role = "tool" if outputs and len(outputs) == len(blocks) else "user"
        draft.answers = tuple(outputs)
        self._attribute(draft, row, blocks)

    def _attribute(self, draft: Draft, row: Row, blocks: list[Block]) -> None:
        """Set the speaker of a row with the user's role."""
        if draft.role == "tool" and not (draft.aside or row.is_meta or row.origin or row.prompt_source):
            draft.meta, draft.extra = False, row.file_extra  # a row of outputs has no speaker
            return
        text = words_of(blocks)
        origin = read_origin(row.origin), row.prompt_source
        speech = judge(
            blocks,
            origin=origin[0],
            source=origin[1],
            meta=row.is_meta is True,
            aside=draft.aside,
            plan=row.plan_content is not None,
        )
        if self.queue.hand_over(text) and speech == Speech("user"):
            speech = Speech("user", "queued")
        if draft.answers and speech == Speech("user"):
            speech = Speech("user", "remark" if draft.role == "user" else "")
        draft.meta, draft.extra = speech.meta, speech.extra

    def _attach(self, row: Row, blocks: list[Block], source: Source) -> None:
        """Add an attachment of the harness. Like queued messages, it is in no chain of parents."""
        parent = None if row.parent_uuid is UNSET else row.parent_uuid
        name = row.uuid if row.uuid is not None else f"line-{source.line}"
        if name in self.attached:
            # It stays at its first position: later rows follow that one.
            self.attached[name].replace(row.uuid, blocks, source)
            return
        if row.uuid is not None:
            self.chain.via[row.uuid] = parent
        draft = self.attached[name] = Draft(name, parent, "user", len(self.drafts), row.lane)
        draft.queued, draft.meta, draft.timestamp = True, True, row.timestamp
        draft.extra = Speech("harness", WAY).extra
        draft.append(row.uuid, blocks, source)
        self.drafts.append(draft)
        self._note_session(row)

    def _deliver(self, row: Row, attachment: dict[str, Any], source: Source) -> None:
        """Read a row for a queued message that was delivered while the model worked."""
        blocks = read_content(attachment.get("prompt"), self.names)
        if (earlier := self._find_known(row, "message")) is not None:
            earlier.replace(row.uuid, blocks, source)
            return
        text = words_of(blocks)
        self.queue.hand_over(text)
        self._withdraw(text)
        draft = self._start(row, source, row.lane)
        draft.append(row.uuid, blocks, source)
        mode = attachment.get("commandMode")
        notified = mode if mode == "task-notification" else None
        origin = read_origin(attachment.get("origin")) or notified
        speech = judge(blocks, origin=origin, source="queued", meta=row.is_meta is True)
        draft.meta, draft.extra = speech.meta, speech.extra
        if not draft.meta:
            self.replies.end(row.lane, draft.order)
        self.last_message[row.lane[0]] = draft

    def _withdraw(self, text: str) -> None:
        """Remove the draft of a queued message, because a row of its own has been found."""
        for at, (_, words, source) in enumerate(self.undelivered):
            if words == text:
                self.notes.append(build(Note, type=QUEUE, known=True, source=source))
                del self.undelivered[at]
                return
        draft = self.queue.inserted.pop(text, None)
        if draft is not None:
            draft.kind, draft.extra, draft.cached_entry = "note", None, None
            for line in draft.lines:
                line.blocks = ()

    def _answer(self, draft: Draft, row: Row, message: Message) -> None:
        """Set the fields of a reply from one of its rows."""
        reply = draft.reply
        if reply is None:
            reply = draft.reply = ReplyFields()
        if message.model is not None:
            reply.model = intern(message.model)
            if message.model != SYNTHETIC:
                self.models[draft.aside] = message.model
        if message.stop_reason is not None:
            reply.stop_reason = intern(message.stop_reason)
        if row.request_id is not None:
            reply.request = row.request_id
        usage, earlier = message.usage, reply.usage
        if type(usage) is UsageFields and (earlier is None or find_output(usage) >= find_output(earlier)):
            reply.usage = usage
        if is_number(row.cost):
            reply.cost = row.cost
        if row.is_api_error_message:
            reply.error = row.error if isinstance(row.error, str) else "api_error"

    def _retract(self) -> None:
        """Turn refused replies into notes. Another model wrote the reply again, so no later request contains
        the refused part. It is still charged."""
        for row in self.retracted:
            draft = self.chain.home.get(row)
            if draft is not None and draft.kind == "message" and draft.role == "assistant":
                if self.retracted.keys() >= {line.row for line in draft.lines}:
                    draft.kind, draft.cached_entry = "note", None

    def _find_known(self, row: Row, kind: Kind) -> Draft | None:
        """Return the draft of this kind from an earlier row with the same id, or None."""
        draft = self.chain.home.get(row.uuid) if row.uuid is not None else None
        return draft if draft is not None and draft.kind == kind else None

    def _move(self, draft: Draft, row: Row) -> None:
        """Set the parent of a repeated row to the later one, unless that is a compaction that kept it."""
        if row.parent_uuid is UNSET or draft.lines[0].row != row.uuid:
            return
        above, _ = self.chain.find(row.parent_uuid)
        if above is not None and above.kind == "compaction":
            self.chain.tails.setdefault(draft, []).append(above)
        else:
            draft.parent = row.parent_uuid

    def _compact(self, row: Row, source: Source) -> None:
        draft = self._find_known(row, "compaction")
        if draft is not None:
            draft.replace(row.uuid, [], source)
        else:
            draft = self._start(row, source, row.lane)
            draft.kind = "compaction"
            draft.append(row.uuid, [], source)
            self.unwritten.setdefault(row.lane, []).append(draft)
            self.replies.end(row.lane, draft.order)
            draft.metadata, draft.logical = row.compact_metadata, row.logical_parent_uuid

    def _summarise(self, row: Row, message: Message, source: Source) -> None:
        blocks = read_content(message.content, self.names)
        draft = self._find_known(row, "compaction")
        if draft is not None:
            draft.replace(row.uuid, blocks, source)
            return
        waiting = self.unwritten.get(row.lane, [])
        draft = next((candidate for candidate in reversed(waiting) if announces(candidate, row)), None)
        if draft is None and waiting:
            draft = waiting[-1]
        if draft is None:
            draft = self._start(row, source, row.lane)
            draft.kind = "compaction"
        else:
            waiting.remove(draft)
            if row.uuid is not None:
                self.chain.home[row.uuid] = draft
        draft.append(row.uuid, blocks, source)
        self.last_message[draft.aside] = draft

    def make_session(self) -> Session:
        """Build the session from all rows. Raises `EmptySession` if none of them is a message."""
        if not self.last_message:
            count = len(self.notes) + len(self.corrupt) + len(self.drafts)
            why = tell_wordless(count, "record", corrupt=self.corrupt)
            raise EmptySession("data", [(NAME, "recognised")], why)
        aside, title = False not in self.last_message, self._find_title()
        drafts, boundaries, leaf, agent, bridged = self._link()
        agents = {at: draft.agent for at, draft in enumerate(drafts) if draft.aside}
        times = [draft.timestamp for draft in drafts if draft.timestamp is not None]
        names = self.replies.names()
        entries = self._make_entries(drafts, boundaries)
        blocks = (block for at, e in enumerate(entries) if (at in agents) == aside for block in e.blocks)
        extra: dict[str, Any] = {
            name: self.facts[name] for name in ("version", "git_branch") if name in self.facts
        }
        if self.queue.queued:
            extra["queued"] = list(self.queue.queued)
        if aside and agent is not None:
            extra["agent_id"] = agent
        self.recorded_replies = RecordedReplies(names, index_replies(agents, entries))
        return build(
            Session,
            format=NAME,
            id=self.facts.get("id", ""),
            title=title,
            model=self.models.get(aside),
            cwd=self.facts.get("cwd"),
            created=min(times, default=None),
            updated=max(times, default=None),
            entries=entries,
            leaf=leaf,
            system=self.prompt[aside].make_system(),
            tools=self.prompt[aside].make_tools(blocks),
            provided=self._make_provided(entries, aside),
            subagents=self.subagents.make(self.recorded_replies),
            notes=tuple(self.notes),
            corrupt=tuple(self.corrupt),
            warnings=(*warn_of_links(entries, bridged), *warn_of_copies(entries)),
            extra=extra,
        )

    def _make_provided(self, entries: Iterable[Entry], aside: bool) -> tuple[Provided, ...]:
        announced = self.announced[aside].make()
        return announced if aside else (*announced, *self.reminders.make(entries, announced))

    def _link(self) -> tuple[list[Draft], dict[int, Boundary], str | None, str | None, int]:
        """Link all drafts to their predecessors.

        Returns:
            The drafts, the boundaries of compactions by the draft's order, the id of the leaf, the sub-agent
            of the last draft, and the number of links to rows that are not in the file.
        """
        replace_outputs(self.drafts, self.sent_instead)
        self._retract()
        chain, delivered = self.chain.fork(), self._make_undelivered()
        drafts = [*self.drafts, *delivered]
        chain.link(drafts)
        aside = False not in self.last_message
        leaf = chain.find_end(delivered[-1] if delivered and not aside else self.last_message[aside])
        current: Draft | None = leaf
        if self.pinned is not None and not aside:
            current = self._find_pinned(chain, leaf, *self.pinned)
        if aside:
            # In a sub-agent's own file the sidechain is the main conversation.
            main = leaf.side
            for draft in drafts:
                draft.side = None if draft.side == main else draft.side
        self.replies.charge_once(self.charged, is_agent=self.agent is not None)
        boundaries = make_boundaries(chain, drafts)
        return drafts, boundaries, None if current is None else current.id, leaf.agent, chain.bridged

    def _make_entries(self, drafts: list[Draft], boundaries: dict[int, Boundary]) -> tuple[Entry, ...]:
        """Build the entries of all drafts. If no rows follow, free each draft after its entry is built."""
        if self.goes_on:
            return tuple([make_entry(draft, boundaries.get(draft.order)) for draft in drafts])
        self._let_go()
        entries: list[Entry] = []
        while drafts:  # drafts refer only to earlier drafts, so the last one can be freed
            draft = drafts.pop()
            entries.append(make_entry(draft, boundaries.get(draft.order)))
        entries.reverse()
        return tuple(entries)

    def _let_go(self) -> None:
        """Free all drafts."""
        self.drafts, self.chain = [], LineChain()
        self.names.clear()
        self.replies.clear()
        self.unwritten.clear()
        self.previous.clear()
        self.last_message.clear()
        self.attached.clear()
        self.queue.inserted.clear()

    def _find_pinned(self, chain: LineChain, leaf: Draft, row: str | None) -> Draft | None:
        """Return the end of the conversation after a rewind to `row`: the end of that row's reply, None if
        `row` is None, or the last message if the row is not in the file."""
        if row is None:
            return None
        draft, _ = chain.find(row)
        return leaf if draft is None or draft.aside else chain.find_end(draft)

    def _find_title(self) -> str | None:
        """Return the user's title, else the model's, else the latest summary of this chain, else of any."""
        here = [words for words, leaf in self.summaries if leaf in self.chain.home]
        ranked = [words for words, _ in self.summaries] + here
        titles = [self.titles[kind] for kind in ("ai", "custom") if kind in self.titles]
        return (ranked + titles)[-1] if ranked or titles else None
