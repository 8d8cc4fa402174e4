"""Identify the speaker of every message and text: the user, the harness, a sub-agent, the model or a tool.

Many user messages were not typed by a user: reports of background tasks, output of local commands,
instructions of a skill. `judge` returns the speaker from a message's text and the fields of its row;
`find_speech` divides each text of an entry into spans with their speakers, because a tool's output may also
contain typed text. Readers use the first, facts and the screen the second.

The fields of a row are read first (Claude Code's `origin.kind`, `promptSource`, `isMeta`, `isSidechain`;
Copilot's record of the typed text), then the tags that harnesses are known to write, then the structure of
the text (`wrappers.py`). Ambiguous cases are decided as follows:

- A slash command that asks the model something is the user's and opens a turn. The text after the command
  is the user's, the instructions of the command are the harness's. Written with `<command-message>` first.
- A command that is answered locally (/copy, /model, /compact; `<command-name>` first) and a shell command
  typed after "!" ask the model nothing: they open no turn, so that "the last 4 turns" are 4 prompts.
  Entries between the previous prompt and them belong to that prompt. The text after such a command, and the
  shell command, are still the user's.
- A plan that the user approved, and with which a new session starts, opens a turn. Its text is the model's:
  a rule in it does not count as typed, although the user read it.
- The report of a background task opens no turn; the reply to it belongs to the previous turn. A sub-agent's
  report in it is the sub-agent's.
- The task of a sub-agent is the model's. In a file of the sub-agent's own it opens a turn, because there
  are no other prompts.
- "[Request interrupted by user]" is the harness's: it reports an action of the user, not their words.
- Text that the user types while the model works opens a turn at its delivery: it is a prompt, and a
  cut before it separates nothing. A remark typed while refusing or answering a tool opens no turn: it is a
  tool's output at the wire, and cannot be separated from its call.
- Each text is divided by its tags (`_divide`), and a message opens a turn if one of its texts contains
  typed text: before, between or after elements of the harness. A tag in the middle of a line, or after text
  and never closed, is part of the typed text. An element of the harness that the user pastes counts as the
  harness's, up to the end of the text if the text begins with it and it is never closed.
- Text after a slash command, outside of its elements, is the user's. In a request, the instructions of the
  command may follow it in the same message: they cannot be distinguished from typed text.
- A message that consists only of elements named like host events is the host's, unless its row says that it
  was typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from .wrappers import Element, find_named, find_prompt, find_reminders, is_host_message

if TYPE_CHECKING:  # a hook reads speakers without the models of entries
    from .blocks import Block
    from .entries import Entry

Speaker = Literal["user", "model", "tool", "harness", "agent", "summary"]
SPEAKERS: tuple[Speaker, ...] = ("user", "model", "tool", "harness", "agent", "summary")


class Speech(NamedTuple):
    """The speaker of a message, and how it was sent: "" for a normal prompt.

    `way` is one of queued, command, local command, shell, plan, task, notification, interrupt, notice,
    attached.
    """

    speaker: Speaker
    way: str = ""

    @property
    def meta(self) -> bool:
        """Whether the harness wrote a message of the user's role."""
        return self.speaker in ("harness", "agent")

    @property
    def extra(self) -> dict[str, Any]:
        """The fields besides `meta` from which `who_speaks` recognises the speaker of an entry."""
        fields = {} if self.speaker in ("user", "harness") else {"speaker": self.speaker}
        return {**fields, **({"way": self.way} if self.way else {})}


class SpeechSpan(NamedTuple):
    """Characters `start` to `end` of a block's text, and their speaker.

    Further values of `way` are reminder, context (text that an editor adds to a prompt), answer, refusal,
    remark and arguments.
    """

    start: int
    end: int
    speaker: Speaker
    way: str


TYPED = Speech("user")
# Tags at the beginning of a harness's message, and the kind of the message.
_TAGS: dict[str, Speech] = {
    "task-notification": Speech("harness", "notification"),
    "local-command-stdout": Speech("harness", "notice"),
    "local-command-stderr": Speech("harness", "notice"),
    "local-command-caveat": Speech("harness", "notice"),
    "bash-input": Speech("user", "shell"),
    "user_shell_command": Speech("user", "shell"),  # Codex
    "bash-stdout": Speech("harness", "notice"),
    "bash-stderr": Speech("harness", "notice"),
    "command-name": Speech("harness", "local command"),
    "command-message": Speech("user", "command"),
    "command-args": Speech("harness", "local command"),
    "command-contents": Speech("harness", "local command"),
    "system-reminder": Speech("harness", "notice"),
    "system_reminder": Speech("harness", "notice"),  # Copilot
    "user-prompt-submit-hook": Speech("harness", "notice"),
    "session-start-hook": Speech("harness", "notice"),
    "post-tool-use-hook": Speech("harness", "notice"),
    "teammate-message": Speech("agent", "notification"),
    "agent-message": Speech("agent", "notification"),
    "cross-session-message": Speech("agent", "notification"),
    "tick": Speech("harness", "notification"),
    "fork-boilerplate": Speech("harness", "notice"),
    "github-webhook-activity": Speech("harness", "notification"),
    "mcp-polling-update": Speech("harness", "notification"),
    "mcp-resource-update": Speech("harness", "notification"),
    "scheduled-task": Speech("harness", "notification"),
    "environment_context": Speech("harness", "notice"),
    "environment_details": Speech("harness", "notice"),  # Cline and Roo
    "session_context": Speech("harness", "notice"),  # Gemini CLI
    "user_instructions": Speech("harness", "notice"),
    "recommended_plugins": Speech("harness", "notice"),  # Codex
    "in-app-browser-context": Speech("harness", "notice"),  # Codex
    "skill": Speech("harness", "notice"),  # Codex
    "turn_aborted": Speech("harness", "interrupt"),
    "subagent_notification": Speech("agent", "notification"),
}
_NAMES = frozenset(_TAGS)
_OPENS = re.compile(r"\s*<([a-z][a-z_-]{3,40})[\s>]")
_PICTURE_TAG = re.compile(r"\s*(?:<image(?: name=\[[^\]\n]{1,80}\])?(?: path=\"[^\"\n]*\")?>|</image>)\s*")
"""Codex puts the tags around a picture in blocks of their own."""
_INTERRUPTED = re.compile(r"\s*\[Request interrupted by user[^\]\n]{0,40}\](?=[ \t\r]*(?:\n|\Z))")
_HOOK = re.compile(
    r"\s*(?:(?:Stop|SubagentStop|PreToolUse|PostToolUse|UserPromptSubmit|SessionStart|PreCompact)(?::\w+)?"
    r" hook (?:feedback|success|blocking error|stopped continuation|additional context|error)\b"
    r"|Caveat: The messages below were generated by the user while running local commands"
    r"|# AGENTS\.md instructions for [^\n]{1,400}\n\s*<INSTRUCTIONS>)"
)
_WHERE = re.compile(
    r"\s*(?:Read the output file to retrieve the result|Full transcript available at): [^\n]*"
)
"""The line after a notification with the path of its output."""
_REPORT = re.compile(r"<result>(.*?)(?:</result>|$)", re.DOTALL)
_SHELL = re.compile(r"\s*(<command>.*?</command>)", re.DOTALL)
_IN_OUTPUT = re.compile(r"(?:^|\n)<system-reminder>.*?</system-reminder>", re.DOTALL)
# Answers of a user who is asked about a tool: their text is between texts of the harness.
_REFUSED = re.compile(
    r"(?:The user doesn['’]t want to proceed with this tool use\b|Permission for this tool use was denied\b)"
    r"[^\n]{0,300}?\bthe user said:[ \n]",
    re.IGNORECASE,
)
_REJECTED = re.compile(
    r"(?:The user doesn['’]t want to (?:proceed with|take) this (?:tool use|action)\b"
    r"|Permission for this tool use was denied\b)",
    re.IGNORECASE,
)
_REFUSED_END = re.compile(r"\n\s*Note: The user['’]s next message\b")
_CLARIFY = re.compile(r"\s*The user wants to clarify these questions\b")
_ANSWERED = re.compile(r"(?:User has answered your questions|Your questions have been answered)\s*:\s*")
_ANSWERED_END = re.compile(r"\.?\s*You can now continue\b")
_PAIR = re.compile(r'"\s*(?:=|→|->)\s*(?="|\()')
_PREVIEW = re.compile(r"\s+selected preview:")
_NOTES = re.compile(r"\s+user notes:")
_APPROVED = re.compile(r"User has approved (?:your|the) plan\b")
_COMMENT = re.compile(
    r"(?:with (?:the following )?(?:comments?|feedback|changes)|The user (?:also )?said|User feedback)"
    r"\s*:\s*(.+?)(?=\n+(?:Your plan has been saved|#+ Approved Plan|You can refer)|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_APPROVED_PLAN = re.compile(r"\n#+ Approved Plan\b")
AGENT_TOOLS = frozenset({"task", "agent", "spawn_agent", "delegate_task", "subagent", "wait_agent"})
"""Names of tools, in lower case, whose output is written by a sub-agent."""


def judge(
    words: str | Iterable[Block],
    *,
    origin: str | None = None,
    source: str | None = None,
    meta: bool = False,
    aside: bool = False,
    plan: bool = False,
) -> Speech:
    """Find the speaker of a message with the user's role, and the way it was sent.

    Args:
        words: The blocks of the message, or its text. Outputs of tools among the blocks are passed over.
        origin: The row's `origin.kind`.
        source: The row's `promptSource`.
        meta: The row's `isMeta`.
        aside: The row belongs to a sub-agent.
        plan: The row hands over a plan.

    >>> judge("Fix the nits", origin="human"), judge("<task-notification>b1 is done</task-notification>")
    (Speech(speaker='user', way=''), Speech(speaker='harness', way='notification'))
    >>> judge("<command-name>/copy</command-name>").way, judge("carry on", source="queued").way
    ('local command', 'queued')
    >>> judge("<local-command-stdout>Bye!</local-command-stdout> Never push.").speaker
    'user'
    """
    blocks = [] if isinstance(words, str) else [block for block in words if block.kind != "tool_output"]
    texts = [words] if isinstance(words, str) else [block.text for block in blocks if block.kind == "text"]
    tagged = _read_tags(texts)
    if tagged.meta and len(texts) < len(blocks):
        tagged = TYPED  # a picture or a file that the user sent with it
    if origin is not None and origin != "human":
        notified = tagged if tagged.meta else Speech("harness", "notification")
        return _report(texts, notified)
    if meta or (origin is None and source == "system"):
        return _report(texts, tagged if tagged.meta else Speech("harness", "notice"))
    if aside:
        return tagged if tagged.meta else Speech("model", "task")
    if plan:
        return Speech("model", "plan")
    if tagged == TYPED:
        alone = len(texts) >= len(blocks)
        if alone and source != "typed" and is_host_message("\n".join(texts), by_program=source == "sdk"):
            return Speech("harness", "notification")
        return Speech("user", "queued") if source == "queued" else TYPED
    return _report(texts, tagged)


def _read_tags(texts: Sequence[str]) -> Speech:
    """Find the speaker of a message by its texts alone."""
    texts = [text for text in texts if text and not text.isspace()]
    heads = [_read_head(text) for text in texts]
    if heads[:1] == [Speech("user", "command")]:
        return heads[0]
    for text in texts:
        added = len(texts) > 1 and is_host_message(text, by_program=True)
        if find_prompt(text) is not None or (not added and any(map(_is_prompt, _divide(text)))):
            return TYPED
    return next((head for head in heads if head != TYPED), TYPED)


def _read_head(text: str) -> Speech:
    """Find the speaker of a message that begins with this text."""
    if (opening := _OPENS.match(text)) is not None:
        return _TAGS.get(opening[1], TYPED)
    if _INTERRUPTED.match(text):
        return Speech("harness", "interrupt")
    return Speech("harness", "notice") if _HOOK.match(text) else TYPED


def _report(texts: Sequence[str], speech: Speech) -> Speech:
    """Return the sub-agent as the speaker of a notification with a report."""
    reported = speech.way == "notification" and any("<result>" in text for text in texts)
    return Speech("agent", speech.way) if reported else speech


def who_speaks(entry: Entry) -> Speech:
    """Return the speaker of an entry of any format.

    >>> from .entries import Entry
    >>> who_speaks(Entry(id="a", role="assistant")).speaker, who_speaks(Entry(id="b", meta=True)).speaker
    ('model', 'harness')
    """
    if entry.kind in ("compaction", "branch_summary"):
        return Speech("summary")
    if entry.role == "assistant":
        return Speech("model")
    if entry.role == "tool":
        return Speech("tool")
    if entry.role != "user":
        return Speech("harness")
    speaker, way = entry.extra.get("speaker"), entry.extra.get("way")
    if way is None and isinstance(entry.extra.get("command"), str):
        way = "shell"  # pi's record of a command that its user ran
    usual: Speaker = "harness" if entry.meta else "user"
    named = next((candidate for candidate in SPEAKERS if candidate == speaker), usual)
    return Speech(named, way if isinstance(way, str) else "")


def find_speech(entry: Entry, block: Block, tool: str | None = None) -> Iterator[SpeechSpan]:
    """Yield the spans of a block's text with their speakers. Together they cover the whole text, in order.

    `tool` is the name of the tool whose output the block is.

    >>> from .blocks import Text
    >>> from .entries import Entry
    >>> said = Text(text="Go on.<system-reminder>Mind the todos.</system-reminder>")
    >>> [tuple(span) for span in find_speech(Entry(id="a", blocks=(said,)), said)]
    [(0, 6, 'user', ''), (6, 56, 'harness', 'reminder')]
    """
    text, speech = block.text, who_speaks(entry)
    if not text:
        return
    if block.kind == "tool_output":
        yield from _speech_of_output(text, speech, tool or block.name or "")
    elif block.kind == "text" and entry.role == "user" and speech.speaker != "summary":
        yield from _speech_of_message(text, speech, entry)
    else:
        yield SpeechSpan(0, len(text), speech.speaker, speech.way)


def find_speaker(entry: Entry, block: Block, at: int) -> Speaker:
    """Return the speaker at an offset of a block's text."""
    spans = find_speech(entry, block)
    return next((span.speaker for span in spans if at < span.end), who_speaks(entry).speaker)


def typed_words(entry: Entry) -> str:
    """Return what the user typed in an entry: a prompt, answers to a question, the reason of a refusal.

    >>> from .blocks import Text
    >>> from .entries import Entry
    >>> sent = "<open_files>a.py</open_files><user_query>Rename it</user_query>"
    >>> typed_words(Entry(id="a", blocks=(Text(text=sent),)))
    'Rename it'
    """
    return "\n".join(
        block.text[span.start : span.end]
        for block in entry.blocks
        if block.kind in ("text", "tool_output")
        for span in find_speech(entry, block)
        if span.speaker == "user"
    )


def _speech_of_message(text: str, speech: Speech, entry: Entry) -> Iterator[SpeechSpan]:
    if speech.speaker == "user" and (typed := _read_typed(entry, text)) is not None:
        yield from _fill(text, [(*typed, "user", speech.way)], "harness", "reminder")
        return
    if len(entry.blocks) > 1 and _PICTURE_TAG.fullmatch(text):
        yield SpeechSpan(0, len(text), "harness", "context")
        return
    spans = _divide(text)
    if speech.meta and any(map(_is_prompt, spans)):
        # According to its row it was not typed.
        inner = _find_report(text, 0, len(text), speech.way) if speech.speaker == "agent" else []
        yield from _fill(text, inner, "harness" if inner else speech.speaker, speech.way)
        return
    others = any(block.kind == "text" and block.text not in ("", text) for block in entry.blocks)
    if speech == TYPED and others and is_host_message(text, by_program=True) and find_prompt(text) is None:
        is_tagged = _read_head(text) != TYPED
        yield from spans if is_tagged else [SpeechSpan(0, len(text), "harness", "reminder")]
        return  # a user does not type a separate block
    way = "" if speech.way == "command" else speech.way
    for span in spans:
        yield span._replace(speaker=speech.speaker, way=way) if _is_prompt(span) else span


def _is_prompt(span: SpeechSpan) -> bool:
    """Return whether a span of `_divide` was typed and asks the model something."""
    return span.speaker == "user" and not span.way


def _divide(text: str) -> list[SpeechSpan]:
    """Divide a text with the user's role by its tags. A span without a `way` was typed."""
    if (prompt := find_prompt(text)) is not None:
        inner = _mark(prompt.typed, "user", "") + _mark(prompt.rules, "harness", "reminder")
        return list(_fill(text, sorted(inner), "harness", "context"))
    if _HOOK.match(text):
        return [SpeechSpan(0, len(text), "harness", "notice")]
    inner = _mark_tagged(text)
    if (interrupt := _INTERRUPTED.match(text)) is not None:
        inner.insert(0, (0, interrupt.end(), "harness", "interrupt"))
    spans = list(_fill(text, inner, "user", ""))
    if any(map(_is_prompt, spans)) or (head := _read_head(text)) == TYPED:
        return spans
    # If nothing was typed, the beginning decides the kind of the harness's message.
    inner = [part for part in inner if part[2] != "harness"]
    return list(_fill(text, inner, "harness", head.way))


def _mark_tagged(text: str) -> list[tuple[int, int, Speaker, str]]:
    """Find the spans that are not typed: elements of harnesses, reminders, and their contents."""
    reminders = find_reminders(text)
    marked = [
        (
            start,
            end,
            _mark([(start, end)], "harness", "context" if text.startswith("<ide_", start) else "reminder"),
        )
        for start, end in reminders
    ]
    begins = {start for start, _ in reminders}
    way, last = "", 0
    for element in find_named(text, _NAMES):
        goes_on = not text[last : element.start].strip() and way
        way = way if goes_on else _TAGS[element.name].way
        end = element.end
        if _TAGS[element.name].way == "notification" and (where := _WHERE.match(text, end)) is not None:
            end = where.end()
        last = end
        if element.start not in begins:
            marked.append((element.start, end, _part_element(text, element._replace(end=end), way)))
    at, parts = 0, list[tuple[int, int, Speaker, str]]()
    for start, end, inner in sorted(marked, key=lambda mark: mark[:2]):
        if start >= at:
            parts += inner
            at = end
    return parts


def _part_element(text: str, element: Element, way: str) -> list[tuple[int, int, Speaker, str]]:
    """Divide an element of the harness: a command's arguments are typed, a report is a sub-agent's."""
    speech = _TAGS[element.name]
    inner: list[tuple[int, int, Speaker, str]] = []
    if element.name == "command-args":
        arguments = _trimmed(text, element.inner, element.inner_end, "arguments")
        inner = [(start, end, "user", how) for start, end, how in arguments]
    elif element.name == "bash-input":
        return [(element.start, element.end, "user", "shell")]
    elif element.name == "user_shell_command":
        ran = _SHELL.match(text, element.inner, element.inner_end)
        inner = [(*ran.span(1), "user", "shell")] if ran else []
    elif speech.way == "notification":
        inner = _find_report(text, element.inner, element.inner_end, way)
    outer: Speaker = "agent" if speech.speaker == "agent" and not inner else "harness"
    parts: list[tuple[int, int, Speaker, str]] = []
    at = element.start
    for part in inner:
        parts += [(at, part[0], outer, way), part]
        at = part[1]
    return [*parts, (at, element.end, outer, way)]


def _find_report(text: str, start: int, end: int, way: str) -> list[tuple[int, int, Speaker, str]]:
    match = _REPORT.search(text, start, end)
    return [(*match.span(1), "agent", way)] if match else []


def _read_typed(entry: Entry, text: str) -> tuple[int, int] | None:
    """Return the span of a message that was typed, if its row records it (`extra["typed"]`)."""
    match entry.extra.get("typed"):
        case [int(start), int(end)] if 0 <= start <= end <= len(text) and len(entry.blocks) == 1:
            return start, end
    return None


def _mark(
    spans: Iterable[tuple[int, int]], speaker: Speaker, way: str
) -> list[tuple[int, int, Speaker, str]]:
    return [(start, end, speaker, way) for start, end in spans]


def _speech_of_output(text: str, speech: Speech, tool: str) -> Iterator[SpeechSpan]:
    if speech.speaker == "summary":
        yield SpeechSpan(0, len(text), "summary", speech.way)
        return
    answers = list(find_answers(text))
    if answers or is_refusal(text):
        yield from _fill(text, [(start, end, "user", way) for start, end, way in answers], "harness", "")
        return
    reminders = _IN_OUTPUT.finditer(text) if "<system-reminder>" in text else ()
    inner: list[tuple[int, int, Speaker, str]] = [
        (*match.span(), "harness", "reminder") for match in reminders
    ]
    yield from _fill(text, inner, "agent" if tool.lower() in AGENT_TOOLS else "tool", "")


def is_refusal(text: str) -> bool:
    """Return whether a tool's output says that the user refused the call, so that the tool never ran.

    >>> is_refusal("The user doesn't want to proceed with this tool use. The tool use was rejected.")
    True
    """
    return _REJECTED.match(text) is not None


def find_answers(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, way) of typed text in a tool's output: a refusal, answers, a comment on a plan.

    An answer is the question with what was chosen or typed, as neither says much alone.

    >>> said = 'User has answered your questions: "Which?"="Redis". You can now continue.'
    >>> [said[start:end] for start, end, _ in find_answers(said)]
    ['"Which?"="Redis"']
    """
    head = text[:400]
    if (match := _REFUSED.match(head)) is not None:
        end = _REFUSED_END.search(text, match.end() - 1)
        stop = end.start() if end else len(text)
        if not _CLARIFY.match(text, match.end()):
            yield from _trimmed(text, match.end(), stop, "refusal")
    elif (match := _ANSWERED.match(head)) is not None:
        ends = list(_ANSWERED_END.finditer(text, match.end()))
        yield from _read_pairs(text, match.end(), ends[-1].start() if ends else len(text))
    elif _APPROVED.match(head):
        plan = _APPROVED_PLAN.search(text)
        comment = _COMMENT.search(text, 0, plan.start() if plan else len(text))
        if comment:
            yield from _trimmed(text, comment.start(1), comment.end(1), "remark")


def _read_pairs(text: str, at: int, stop: int) -> Iterator[tuple[int, int, str]]:
    """Yield the pairs of a question and its answer. Quotation marks inside them are not escaped.

    The preview of a choice is omitted; the user's notes on it are an answer.
    """
    joints = list(_PAIR.finditer(text, at, stop))
    for joint, following in zip_longest(joints, joints[1:]):
        end = after = stop
        if following is not None:
            between = joint.end(), following.start()
            end = text.rfind('", "', *between) + 1 or max(
                text.rfind(', "', *between), text.rfind('\n"', *between)
            )
            end = end if end >= 0 else following.start()
            after = text.find('"', end, following.start())
        shown, notes = _PREVIEW.search(text, joint.end(), end), _NOTES.search(text, joint.end(), end)
        yield from _trimmed(text, at, shown.start() if shown else end, "answer")
        if shown and notes and notes.start() > shown.start():
            yield from _trimmed(text, notes.end(), end, "answer")
        at = after if after >= 0 else end


def _trimmed(text: str, start: int, end: int, way: str) -> Iterator[tuple[int, int, str]]:
    words = text[start:end]
    start += len(words) - len(words.lstrip())
    end = start + len(text[start:end].rstrip())
    if end > start:
        yield start, end, way


def _fill(
    text: str, inner: Iterable[tuple[int, int, Speaker, str]], speaker: Speaker, way: str
) -> Iterator[SpeechSpan]:
    """Yield the given spans, and the text between them as the other speaker's."""
    at = 0
    for start, end, who, how in inner:
        if start > at and text[at:start].strip():
            yield SpeechSpan(at, start, speaker, way)
        if end > start:
            yield SpeechSpan(start, end, who, how)
        at = max(at, end)
    if at < len(text) and (at == 0 or text[at:].strip()):
        yield SpeechSpan(at, len(text), speaker, way)
