"""Describe the kind of a file that is not a session.

Kinds are recognised by the published marks at the beginning of their files, and text by its first characters.
`name_foreign` names kinds that are certainly not sessions, so that no reader has to look at them.
`describe_text` describes the other files that no reader recognised.

`recognise` identifies unsupported files: the tool that wrote them, and how much they contain. A file of an
unsupported version or harness is identified by its structure, never by its name: by the fields of one of its
first rows (`ROWS`) or of its document (`DOCUMENTS`). The first kind that fits counts. Sources of the fields
are FORMATS §1 to §14. Rows are counted in the bytes, so that unreadable rows are included.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from ..text import join_words, plural, printable
from .harnesses.claude_code.stream_json import is_droid_event
from .harnesses.codex.parts import TRAE
from .json_document import HEAD, Fields, cut_head, peek_once
from .json_lines import BOM, Data, decode, iter_lines
from .recording import Json, first_rows

UNPACK = ": unpack it first"
AS_UTF8 = ": save it as UTF-8 first"

DATABASE = "an SQLite database"

# (offset, bytes, kind). Sources are the specifications of the formats; longer marks come before shorter ones.
_MARKS: tuple[tuple[int, bytes, str], ...] = (
    (0, b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (0, b"\xff\xd8\xff", "a JPEG picture"),
    (0, b"GIF87a", "a GIF picture"),
    (0, b"GIF89a", "a GIF picture"),
    (0, b"II*\0", "a TIFF picture"),
    (0, b"MM\0*", "a TIFF picture"),
    (0, b"\0\0\1\0", "an icon"),
    (0, b"8BPS", "a Photoshop picture"),
    (8, b"WEBP", "a WebP picture"),
    (8, b"WAVE", "a WAV recording"),
    (8, b"AVI ", "an AVI film"),
    (4, b"ftypheic", "a HEIC picture"),
    (4, b"ftypavif", "an AVIF picture"),
    (4, b"ftypM4A", "an M4A recording"),
    (4, b"ftyp", "an MP4 film"),
    (0, b"\x1aE\xdf\xa3", "a Matroska or WebM film"),
    (0, b"OggS", "an Ogg recording"),
    (0, b"fLaC", "a FLAC recording"),
    (0, b"ID3", "an MP3 recording"),
    (0, b"%PDF-", "a PDF"),
    (0, b"%!PS", "a PostScript document"),
    (0, b"{\\rtf", "an RTF document"),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document"),
    (0, b"\x1f\x8b", f"a gzip archive{UNPACK}"),
    (0, b"BZh", f"a bzip2 archive{UNPACK}"),
    (0, b"\xfd7zXZ\0", f"an xz archive{UNPACK}"),
    (0, b"(\xb5/\xfd", f"a zstd archive{UNPACK}"),
    (0, b"\x04\x22M\x18", f"an lz4 archive{UNPACK}"),
    (0, b"\x1f\x9d", f"a compress archive{UNPACK}"),
    (0, b"7z\xbc\xaf\x27\x1c", f"a 7z archive{UNPACK}"),
    (0, b"Rar!\x1a\x07", f"a RAR archive{UNPACK}"),
    (257, b"ustar", f"a tar archive{UNPACK}"),
    (0, b"SQLite format 3\0", DATABASE),
    (8, b"DUCK", "a DuckDB database"),
    (0, b"PAR1", "a Parquet table"),
    (0, b"ARROW1", "an Arrow table"),
    (0, b"FEA1", "a Feather table"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (0, b"\x93NUMPY", "a NumPy array"),
    (0, b"Obj\1", "an Avro file"),
    (0, b"\x7fELF", "a program (ELF)"),
    (0, b"\xcf\xfa\xed\xfe", "a program (Mach-O)"),
    (0, b"\xca\xfe\xba\xbe", "a program (Java class or Mach-O)"),
    (0, b"\0asm", "a program (WebAssembly)"),
    (0, b"wOFF", "a font"),
    (0, b"wOF2", "a font"),
    (0, b"\0\1\0\0\0", "a font"),
    (0, b"OTTO\0", "a font"),
    (0, b"PACK\0", "a git pack"),
    (0, b"DIRC\0", "a git index"),
)
# Words of the tables at the beginning of a database, and its content.
_DATABASES: tuple[tuple[tuple[bytes, ...], str], ...] = (
    ((b"cursorDiskKV",), "Cursor's chats"),
    ((b"content_json", b"messages"), "goose's sessions: `goose session export` gives one as JSON"),
    ((b"message_count", b"parent_session_id", b"parts"), "Crush's sessions"),
    ((b"rollout_path", b"threads"), "Codex's list of threads: open a rollout in ~/.codex/sessions"),
    ((b"threads", b"data_type"), "Zed's threads"),
    ((b"auth_kv", b"conversations"), "Kiro's or Amazon Q's conversations"),
)
_WIDE: tuple[tuple[bytes, str], ...] = (
    (b"\xff\xfe\0\0", "UTF-32 text"),
    (b"\0\0\xfe\xff", "UTF-32 text"),
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
)
_ZIPS: tuple[tuple[bytes, str], ...] = (
    (b"mimetypeapplication/epub", "an EPUB book"),
    (b"mimetypeapplication/vnd.oasis", "an OpenDocument file"),
    (b"[Content_Types].xml", "an Office document"),
    (b"META-INF/", "a Java archive"),
)
_STARTS: tuple[tuple[bytes, str], ...] = (
    (b"<?xml", "an XML document"),
    (b"<!doctype html", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"<svg", "an SVG picture"),
    (b"-----begin", "a PEM file of keys or certificates"),
    (b"diff --git", "a patch"),
    (b"# v2 git bundle", "a git bundle"),
    (b"version https://git-lfs", "a pointer of Git LFS: fetch the file itself first"),
)
_NOTEBOOK = (b'"cells"', b'"nbformat', b'"metadata"', b'"worksheets"')
_LINE_OF_JSON = re.compile(rb"^[ \t]*[{\[]", re.MULTILINE)
_ZEROS = re.compile(rb"\0+")
_FIRST_KEY = re.compile(rb'[^{\[]*\{\s*"([^"\\]{1,200})"\s*:')
_CONTROL = re.compile(rb"[\1-\x08\x0e-\x1a\x1c-\x1f\x7f]")
"""Control characters that text does not contain."""
_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_BYTECODE = re.compile(rb"..\r\n[\0-\3]\0\0\0", re.DOTALL)
_TAR_SUM = slice(148, 156)


def name_foreign(data: Data) -> str:
    """Name the kind of a file that is certainly not a session, from its first MiB; else "".

    >>> name_foreign(b"%PDF-1.7"), name_foreign(b"[]"), name_foreign("é".encode("utf-16"))
    ('a PDF', '', 'UTF-16 text: save it as UTF-8 first')
    """
    head = cut_head(data)
    for mark, kind in _WIDE:
        if head.startswith(mark) and b"\0" in head:  # without one, a broken line of another encoding
            return kind + AS_UTF8
    for offset, mark, kind in _MARKS:
        if head.startswith(mark, offset):
            return _name_database(head) if kind == DATABASE else kind
    if head.startswith((b"PK\3\4", b"PK\5\6", b"PK\7\b")):
        return next((kind for mark, kind in _ZIPS if mark in head[:200]), f"a zip archive{UNPACK}")
    if _is_tar(head):
        return f"a tar archive{UNPACK}"
    begin = head.removeprefix(BOM)[:64].lstrip().lower()
    for start, kind in _STARTS:
        if begin.startswith(start):
            return kind
    # A notebook's fields may have any order; the first one is near the beginning.
    if begin.startswith(b"{") and any(name in begin for name in _NOTEBOOK):
        document, _ = peek_once(head, len(memoryview(data)) <= HEAD)
        if _is_notebook(document):
            return "a Jupyter notebook"
    return _name_binary(head) if b"\0" in head or _PICKLE.match(head) else ""


def _name_database(head: bytes) -> str:
    """Name a database by the tables that its first pages describe."""
    whose = (name for words, name in _DATABASES if all(word in head for word in words))
    return f"{DATABASE} of {owner}" if (owner := next(whose, "")) else DATABASE


def _is_notebook(value: Any) -> bool:
    """Return whether a document is a notebook. The version is at the end, so its first cell counts too."""
    cells = value.get("cells") if isinstance(value, dict) else None
    if not isinstance(cells, list):
        return False
    return "nbformat" in value or (bool(cells) and isinstance(cells[0], dict) and "cell_type" in cells[0])


def _is_tar(head: bytes) -> bool:
    """Return whether the data begins with a header of the oldest tar format: no mark, but a checksum."""
    if len(head) < 512 or not head[_TAR_SUM].strip(b"\0 ").isdigit():
        return False
    try:
        checksum = int(head[_TAR_SUM].strip(b"\0 "), 8)
    except ValueError:
        return False
    return checksum == sum(head[:148]) + 8 * ord(" ") + sum(head[156:512])


def _name_binary(head: bytes) -> str:
    """Name the kind of bytes that contain zeros; "" if one of their lines may be JSON."""
    if _ZEROS.fullmatch(head):
        return "nothing but zero bytes"
    if head.startswith(b"BM") and head[6:10] == bytes(4):
        return "a bitmap picture"
    if head.startswith(b"MZ"):
        return "a program (Windows)"
    if _PICKLE.match(head):
        return "a Python pickle"
    if _BYTECODE.match(head):
        return "Python bytecode"
    some = head[: 1 << 12]
    for width, name in ((4, "UTF-32"), (2, "UTF-16")):
        # In Latin text all bytes of a character except one are zero.
        empty = sorted(some[index::width].count(0) / len(some) * width for index in range(width))
        if empty[0] < 0.1 and empty[1] > 0.9:
            return f"{name} text{AS_UTF8}"
    return "" if _LINE_OF_JSON.search(head) else "binary data of no known kind"


def describe_text(data: Data) -> str:
    """Describe a file that no reader recognised and `name_foreign` does not know; "" if it is empty.

    >>> describe_text(b'{"a": 1}'), describe_text(b"a,b\\n1,2\\n")
    ('a JSON object with the field a', 'a table of comma-separated values')
    >>> describe_text("café".encode("latin-1"))
    'text that is not UTF-8 (byte 3): save it as UTF-8 first'
    """
    head = cut_head(data)
    whole = len(memoryview(data)) <= HEAD
    text = head.removeprefix(BOM).strip()
    if not text:
        return "nothing but white space" if head else ""
    if text[:1] in (b"{", b"["):
        end = bytes(memoryview(data)[-64:]).rstrip()[-1:]
        return _describe_json(head, whole, ended=end in (b"}", b"]", b""))
    try:
        words = head.decode("utf-8")
    except UnicodeDecodeError as error:
        if whole or error.start < len(head) - 4:
            is_binary = b"\0" in head or _CONTROL.search(head) is not None
            kind = "binary data of no known kind" if is_binary else "text that is not UTF-8"
            return f"{kind} (byte {error.start:,})" + ("" if is_binary else AS_UTF8)
        words = head.decode("utf-8", "ignore")
    if text.startswith(b"#!"):
        return "a script"
    if whole:
        try:
            return _describe_value(decode(text))
        except ValueError:
            pass
    return _describe_table(words) or "plain text"


def _describe_json(head: bytes, whole: bool, *, ended: bool) -> str:
    lines = iter_lines(head)
    try:
        first = decode(next(lines)[1])
    except (ValueError, StopIteration):
        first = None
    if first is not None and next(lines, None) is not None:
        return f"JSON Lines, the first of them {_describe_value(first)}"
    value, reason = peek_once(head, whole)
    if reason:
        return f"broken JSON ({reason.partition(': ')[2]})"
    description = _describe_value(value)
    if not whole and value == {} and (key := _FIRST_KEY.match(head)):
        name = printable(key[1].decode("utf-8", "replace"), 40)
        description = f"a JSON object that begins with a long field {name}"
    return description if ended else f"{description}; its end is missing"


def _describe_value(value: Any) -> str:
    if isinstance(value, dict):
        messages = value.get("messages")
        if messages == []:
            return "a JSON object whose list of messages is empty"
        if isinstance(messages, list) and not any(isinstance(item, dict) for item in messages):
            return "a JSON object whose `messages` are not objects"
        if messages is not None and not isinstance(messages, list):
            return "a JSON object whose `messages` is not a list"
        names = [printable(name, 40) for name in value][:5]
        more = len(value) - len(names)
        fields = join_words([*names, plural(more, "other")] if more else names)
        if not names:
            return "an empty JSON object"
        return f"a JSON object with the field{'s' * (len(value) > 1)} {fields}"
    if isinstance(value, list):
        kinds = {_kind_of(item) for item in value}
        of = f" of {kinds.pop()}" if len(kinds) == 1 else ""
        return f"a JSON list{of}" if value else "an empty JSON list"
    return "a JSON string" if isinstance(value, str) else "one JSON value"


def _kind_of(value: Any) -> str:
    if isinstance(value, dict):
        return "objects"
    return "lists" if isinstance(value, list) else "strings" if isinstance(value, str) else "other values"


def _describe_table(words: str) -> str:
    lines = [line for line in words.splitlines()[:4] if line.strip()]
    for sign, name in (("\t", "tab"), (",", "comma"), (";", "semicolon")):
        counts = {line.count(sign) for line in lines}
        if len(lines) > 1 and len(counts) == 1 and counts.pop():
            return f"a table of {name}-separated values"
    return ""


class _Kind(NamedTuple):
    """A kind of unsupported files.

    `forms` are the forms of a row, or where the items of a document are, separated by ";". A form names
    fields: `a/b` is the field b of the object a, `a=x*|y` has a value of one of these patterns, and `a{}` is
    an object. "b: a" are the items of the field b of an object of the form "a", "b[]: a" those whose first is
    of that form, "[]: a" such a list, ": a" the object itself. Instead of a form there may be a function, of
    a document one that returns the items or their number.
    """

    name: str
    forms: str | Callable[[Any], Any]
    singular: str = ""
    advice: str = ""
    compactions: bytes = b""


def _fits(value: Any, form: str) -> bool:
    for term in form.split():
        path, _, words = term.partition("=")
        field = value
        for key in path.removesuffix("{}").split("/"):
            if not isinstance(field, dict) or key not in field:
                return False
            field = field[key]
        if path.endswith("{}") and not isinstance(field, dict):
            return False
        if words and not any(fnmatchcase(str(field), pattern) for pattern in words.split("|")):
            return False
    return True


def _holds(row: Json, kind: _Kind) -> bool:
    if callable(kind.forms):
        return bool(kind.forms(row))
    return any(_fits(row, form) for form in kind.forms.split(";"))


def _find_items(value: Any, kind: _Kind) -> Any:
    """Return the items of a document of a kind, or their number; None if it is of another kind."""
    if callable(kind.forms):
        return kind.forms(value)
    for where, _, form in (alternative.partition(":") for alternative in kind.forms.split(";")):
        items = value
        for key in filter(None, where.removesuffix("[]").split("/")):
            items = Fields(items).rest.get(key)
        if where.endswith("[]"):
            if isinstance(items, list) and items and _fits(items[0], form):
                return items
        elif isinstance(items, list | dict) and _fits(value, form):
            return items
    return None


def _is_goose_event(row: Json) -> bool:
    """A message of goose's: its calls are of types that no other harness writes."""
    inner = Fields(row.get("message")) if row.get("type") == "message" else Fields(row)
    kinds = [Fields(part).rest.get("type") for part in inner.items("content") or ()]
    return "toolRequest" in kinds or "toolResponse" in kinds


def _is_training(row: Json) -> bool:
    """Return whether a row is from a data set of trajectories: messages as text, or with the task's name."""
    return "instance_id" in row and (isinstance(row.get("messages"), str) or "trajectory" in row)


def _find_sent(value: Any) -> Any:
    """Find the runs in what LangSmith's SDK sends: one batch of them, or a list of batches."""
    batches = value if isinstance(value, list) else [value]
    runs = [run for batch in batches for run in Fields(batch).items("post") or ()]
    return runs if runs and _fits(runs[0], "run_type") else None


def _find_contents(value: Any) -> Any:
    """Find Google's contents in a saved chat of Gemini's."""
    listed = Fields(value).rest.get("history", value)
    first = Fields(listed[0]).rest if isinstance(listed, list) and listed else {}
    google = first.get("role") in ("user", "model") and isinstance(first.get("parts"), list)
    return listed if google and all("type" not in Fields(part).rest for part in first["parts"]) else None


def _sum_history_item(value: Any) -> Any:
    """Return the tokens of a task in Roo Code's list; an item names its task and its cost."""
    fields = Fields(value)
    if not _fits(value, "ts task tokensIn tokensOut totalCost"):
        return None
    return sum(int(fields.number(name) or 0) for name in ("tokensIn", "tokensOut"))


_ROW = 'write the messages of one row as {"messages": […]} to open them'
_TASK = "open api_conversation_history.json in the same folder"
_SCREEN = f"it does not hold the context: {_TASK}"
_GEMINI = "they do not hold the context: open the chat in ~/.gemini/tmp"
_EXEC = "they do not hold the context: open the thread's rollout in ~/.codex/sessions"
_DROID = "they do not hold the context: the session is in ~/.factory/sessions"
_GOOSE = "they may be a part of a session: export the session with `goose session export`"
_ENTIRE = "it lacks compactions and cached tokens: open the full.jsonl in the same folder"
_BATCH = "they do not hold what was asked: open the batch's input"
_CLAUDE_PROMPTS = "they hold no replies: open a session in ~/.claude/projects"
_CODEX_PROMPTS = "they hold no replies: open a rollout in ~/.codex/sessions"
_NO_LINKS = "its rows name neither themselves nor the row before"
_REPLY = "it does not hold what was asked: keep the request and it as one line, {request: …, response: …}"
_STORED = "it is a part of a session: export the session with `opencode export`"
_SENT = "it stores inputs and outputs of a run apart: export the runs from LangSmith"
_CLAUDE_COMPACTIONS = rb'"subtype"\s*:\s*"compact_boundary"|"isCompactSummary"\s*:\s*true'
_KIMI_COMPACTIONS = rb'"(?:context\.apply_compaction|CompactionBegin)"'
_CODEX = (
    "type=session_meta|response_item|turn_context|event_msg|compacted payload{};id timestamp instructions"
)
_CODEX_EXEC = "type=thread.started thread_id;type=item.started|item.completed item{}"
_KIMI = (
    "type=config.update|context.apply_compaction|turn.prompt;message/type=TurnBegin|StepBegin|CompactionBegin"
)
_COPILOT = (
    "type=session.start|session.resume|session.shutdown|session.usage_checkpoint data{};"
    "type=user.message|assistant.message|assistant.turn_start data{}"
)
_GPTME = ";".join(
    f"role content timestamp {mark}"
    for mark in ("pinned=True", "hide=True", "ui_only=True", "file_hashes", "ephemeral_ttl")
)
_PIECES = ": id projectID directory;: id sessionID role;: id sessionID messageID type"

ROWS = (
    _Kind(
        "the events of `gemini --output-format stream-json`",
        "type=init session_id model timestamp",
        advice=_GEMINI,
    ),
    _Kind("a rollout of TRAE's CLI", f"type={TRAE}"),
    _Kind("a Codex rollout", _CODEX, compactions=rb'"type"\s*:\s*"compacted"'),
    _Kind("the events of `codex exec --json`", _CODEX_EXEC, advice=_EXEC),
    _Kind("a VS Code chat", "kind=0 v/requests"),
    _Kind("a Kimi session", _KIMI, compactions=_KIMI_COMPACTIONS),
    _Kind("a Kiro session", "kind=Prompt|AssistantMessage|ToolResults data"),
    _Kind("a Copilot CLI log", _COPILOT, compactions=rb'"type"\s*:\s*"session\.compaction_complete"'),
    _Kind("a Claude Code session", "type=user|assistant message{}", "", _NO_LINKS, _CLAUDE_COMPACTIONS),
    _Kind(
        "a session of Factory's Droid",
        "type=session_start id cwd",
        "",
        "",
        rb'"type"\s*:\s*"compaction_state"',
    ),
    _Kind("the events of `droid exec`", is_droid_event, advice=_DROID),
    _Kind("a goose session", "working_dir message_count"),
    _Kind("messages of goose's", _is_goose_event, advice=_GOOSE),
    _Kind("a transcript that Entire shortened", "v agent type ts content", advice=_ENTIRE),
    _Kind("trajectories to train with", _is_training, advice=_ROW),
    _Kind("the answers of a batch of OpenAI's", "custom_id response error", advice=_BATCH),
    _Kind("the context of a Kimi session", "role=_usage|_checkpoint|_system_prompt"),
    _Kind(
        "a transcript of Cursor's agent",
        "role=user|assistant message/content",
        advice="it holds no results of tools and no figures",
    ),
    _Kind("the prompts that Claude Code remembers", "display pastedContents project", advice=_CLAUDE_PROMPTS),
    _Kind(
        "the prompts that Codex remembers",
        lambda row: row.keys() == {"session_id", "ts", "text"},
        advice=_CODEX_PROMPTS,
    ),
    _Kind("a Vibe session", "role content message_id"),
    _Kind("a gptme conversation", _GPTME),
)
DOCUMENTS = (
    _Kind(
        "a saved checkpoint of Gemini's",
        _find_contents,
        "message",
        "open the chat itself, in the folder chats/ of ~/.gemini/tmp",
    ),
    _Kind("a thread of Amp's", "messages: id=T-*", "message"),
    _Kind("a thread of Zed's", "messages[]: User;messages[]: Agent", "message"),
    _Kind("a prompt of Google AI Studio", "chunkedPrompt/chunks:", "turn"),
    _Kind("a goose session", "conversation: working_dir", "message"),
    _Kind("a session of Continue's", "history: workspaceDirectory", "message"),
    _Kind("a session of Augment's", "chatHistory: sessionId", "exchange"),
    _Kind("a trajectory of Trae Agent", "llm_interactions: agent_steps", "request"),
    _Kind("the state of AutoGen's agents", "agent_states: version", "agent"),
    _Kind("a file of a Letta agent", "messages: agent_type", "message"),
    _Kind(
        "calls exported from Weave",
        "[]: op_name trace_id",
        "call",
        "values that they only refer to are not in the file",
    ),
    _Kind("results of τ²-bench", "simulations: tasks", "run", _ROW),
    _Kind("a history of browser-use", "history[]: model_output result state", "step"),
    _Kind("a request to Gemini", "contents:", "message"),
    _Kind("the screen of a Cline or Roo task", "[]: ts type say", "message", _SCREEN),
    _Kind("the metadata of a Cline or Roo task", "files_in_context: model_usage", "file", _TASK),
    _Kind("the list entry of a Roo task", _sum_history_item, "token", _TASK),
    _Kind(
        "a log of prompts to Gemini CLI",
        "[]: sessionId messageId message",
        "prompt",
        "open the chat itself, in the folder chats/ next to it",
    ),
    _Kind("a rollout of the first Codex CLI", "items: session", "item"),
    _Kind("an older Copilot CLI session", "chatMessages: timeline", "message"),
    _Kind("an ATIF trajectory", "steps: schema_version=ATIF*", "step"),
    _Kind("a SWE-agent trajectory", "trajectory: history", "step"),
    _Kind("a VS Code chat", "requests: responderUsername", "request"),
    _Kind("a VS Code chat", "requests: sessionId", "request"),
    _Kind("a Kiro session", "history: conversation_id", "turn"),
    _Kind("an export of Claude.ai", "[]: uuid chat_messages", "conversation"),
    _Kind("an export of ChatGPT", "[]: mapping current_node", "conversation"),
    _Kind("a conversation of ChatGPT", "mapping: current_node", "node"),
    _Kind("a reply of OpenAI's", "output: object=response;choices: object=chat.completion", "item", _REPLY),
    _Kind("a file of opencode's older storage", _PIECES, "", _STORED),
    _Kind("messages of the AI SDK", "[]: role parts", "message"),
    _Kind("messages of pydantic-ai", "[]: kind parts", "message"),
    _Kind("messages of LangChain", "[]: type data", "message"),
    _Kind("events of an Inspect transcript", "[]: event timestamp", "event"),
    _Kind("events of an Inspect transcript", "events[]: event timestamp", "event"),
    _Kind("data sent by LangSmith's SDK", _find_sent, "run", _SENT),
    _Kind("a Posit Assistant conversation", "messages: schemaVersion root", "message"),
    _Kind(
        "a list of messages",
        "[]: role content",
        "message",
        'they may be any system\'s: format="request-log" reads OpenAI\'s, "anthropic-messages" Anthropic\'s',
    ),
)
_AIDER = re.compile(rb"^# aider chat started at ", re.MULTILINE)


class KnownKind(NamedTuple):
    """An identified file: its kind, how much it contains, and advice ("" for none).

    >>> print(KnownKind("a Codex rollout", "3,405 rows, 2 compactions"))
    a Codex rollout of 3,405 rows, 2 compactions
    """

    name: str
    amount: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.name} of {self.amount}" if self.amount else self.name


def name_row(row: Json) -> str:
    """Return the kind of a row of JSON Lines; "" if it is unknown.

    >>> name_row({"role": "_usage", "token_count": 7}), name_row({"role": "user", "content": "Hello"})
    ('the context of a Kimi session', '')
    """
    return next((kind.name for kind in ROWS if _holds(row, kind)), "")


def recognise(data: Data) -> KnownKind | None:
    """Return the kind of a file that no reader recognises; None if it is unknown.

    >>> row = b'{"type": "response_item", "payload": {"type": "message"}}'
    >>> print(recognise(row + b'\\n{"type": "compacted", "payload": {}}'))
    a Codex rollout of 2 rows, 1 compaction
    >>> recognise(b'{"name": "x"}') is None
    True
    """
    view = memoryview(data)
    head = bytes(view[:HEAD])
    if chats := len(_AIDER.findall(view)):
        return KnownKind("a chat history of Aider", plural(chats, "chat"))
    document, reason = peek_once(head, len(view) <= HEAD)
    for kind in () if reason else DOCUMENTS:
        if (items := _find_items(document, kind)) is not None:
            count = items if isinstance(items, int) else len(items)
            more = "" if len(view) <= HEAD else "at least "
            amount = more + plural(count, kind.singular) if kind.singular else ""
            return KnownKind(kind.name, amount, kind.advice)
    rows = first_rows(data)
    for kind in ROWS:
        if any(_holds(row, kind) for row in rows):
            amount = plural(sum(1 for _ in iter_lines(data)), "row")
            if kind.compactions:
                compactions = sum(1 for _ in re.finditer(kind.compactions, view))
                amount += f", {plural(compactions, 'compaction')}"
            return KnownKind(kind.name, amount, kind.advice)
    return None
