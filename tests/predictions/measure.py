"""Every recorded compaction, and clearing of outputs, of sessions: what was predicted, and the next request.

The product sees the session up to the last row before the provider's next request, and nothing after it: no
prediction looks at its own answer. What the provider reported is read here from the raw rows.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from inspector.errors import InspectorError
from inspector.files import open_session
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens
from inspector.tokens.moment import find_moment

LARGEST = 400_000_000
"""Bytes of a file that is still looked at."""


class Prediction(NamedTuple):
    """One compaction: predicted and reported tokens of the request after it, and on what it rests."""

    file: str
    line: int
    kind: str
    predicted: int
    low: int
    high: int
    reported: int
    evidence: str
    warned: bool

    @property
    def error(self) -> float:
        """The difference as a share of what was reported."""
        return (self.predicted - self.reported) / self.reported

    @property
    def holds(self) -> bool:
        """Whether the range holds what was reported."""
        return self.low <= self.reported <= self.high


def find_predictions(path: Path) -> Iterator[Prediction]:
    """Those of every session below a path, in the order of names."""
    for file, name in list_files(path):
        try:
            session = open_session(file)
        except (InspectorError, OSError):
            continue
        if not session.boundaries:
            continue
        try:
            yield from _predict(session, name, read_reported(file))
        except Exception as error:
            # One file that cannot be measured does not hide what the others say.
            print(f"{name}: cannot be measured: {error!r}", file=sys.stderr)


def list_files(path: Path) -> Iterator[tuple[Path, str]]:
    """The files that may be sessions, at a path or below it, and what they are called from there."""
    for file in [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file()):
        if file.suffix in (".jsonl", ".json") and file.stat().st_size <= LARGEST:
            yield file, file.name if path.is_file() else str(file.relative_to(path))


def _predict(session: Session, name: str, reported: dict[int, int]) -> Iterator[Prediction]:
    path = list(session.path)
    for number, position in enumerate(path):
        entry = session.entries[position]
        if entry.boundary is None or not entry.sources:
            continue
        found = _find_answer(session, path[number + 1 :], reported)
        if found is None:
            continue
        answer, tokens = found
        before = session.entries[path[answer + number]]
        seen = session.with_entries(session.entries[: path[answer + number + 1]], before.id)
        ledger = count_tokens(seen)
        outside = find_moment(seen, ledger).outside
        counted = ledger.count_context(seen)
        replies = dict.fromkeys(reply for part in outside.parts.values() for reply in part.replies)
        lines = [_line(session, reply) for reply in replies]
        yield Prediction(
            name,
            entry.sources[0].line,
            entry.boundary.kind,
            counted + outside.tokens,
            *outside.bound(counted),
            tokens,
            f"replies at lines {', '.join(map(str, sorted(lines)))}" if lines else "no reply",
            bool(outside.warnings),
        )


def _find_answer(session: Session, later: list[int], reported: dict[int, int]) -> tuple[int, int] | None:
    """How many entries come before the next reply that tells the size of its request, and that size."""
    for number, position in enumerate(later):
        entry = session.entries[position]
        if entry.boundary is not None:
            return None
        if entry.role == "assistant" and not entry.cut_short:
            told = [reported[source.line] for source in entry.sources if source.line in reported]
            if told:
                return number, told[-1]
    return None


def _line(session: Session, name: str) -> int:
    sources = session[name].sources
    return sources[0].line if sources else 0


# -- what the provider reported, from the raw rows -----------------------------------------------------------


def read_reported(file: Path) -> dict[int, int]:
    """Tokens of the request that a row reports, by its line; for a JSON document, by the message's number."""
    if file.suffix == ".json":
        return _read_document(file)
    out: dict[int, int] = {}
    codex = _Codex(out)
    with file.open("rb") as rows:
        for line, row in enumerate(rows, 1):
            try:
                data = json.loads(row)
            except ValueError:
                continue
            if not isinstance(data, dict):
                continue
            if isinstance(payload := data.get("payload"), dict):
                codex.take(line, str(data.get("type")), payload)
            elif tokens := _find_request(data):
                out[line] = tokens
    return out


class _Codex:
    """Rows of a Codex rollout: an event after a reply tells its usage, once for each time the total grew."""

    def __init__(self, out: dict[int, int]) -> None:
        self.out, self.reply, self.total = out, 0, None

    def take(self, line: int, kind: str, payload: dict[str, Any]) -> None:
        """One row."""
        if kind == "response_item":
            name = str(payload.get("type", "message"))
            if payload.get("role", "assistant") == "assistant" and not name.endswith("_output"):
                self.reply = line
        elif kind == "event_msg" and payload.get("type") == "token_count":
            info = payload.get("info") or {}
            last, total = info.get("last_token_usage") or {}, info.get("total_token_usage")
            if self.reply and total != self.total and last.get("input_tokens"):
                self.out[self.reply] = int(last["input_tokens"])
                self.reply, self.total = 0, total


def _read_document(file: Path) -> dict[int, int]:
    data = json.loads(file.read_bytes())
    if isinstance(data, dict) and isinstance(samples := data.get("samples"), list) and samples:
        return _read_events(samples[0])
    both = (data.get("entries"), data.get("messages")) if isinstance(data, dict) else ()
    rows = next((each for each in both if isinstance(each, list)), [])
    found = {
        n: _find_request(row) or _find_opencode(row) for n, row in enumerate(rows, 1) if isinstance(row, dict)
    }
    return {n: tokens for n, tokens in found.items() if tokens}


def _read_events(sample: Any) -> dict[int, int]:
    """Of the model's calls in an Inspect log, by the event: input beside what the cache gave and took."""
    names = ("input_tokens", "input_tokens_cache_read", "input_tokens_cache_write")
    found: dict[int, int] = {}
    for number, event in enumerate(sample["events"], 1):
        usage = event["output"].get("usage") if event.get("event") == "model" else None
        if usage:
            read, written = (usage.get(name) or 0 for name in names[1:])
            within = usage.get("total_tokens") == usage["input_tokens"] + usage["output_tokens"]
            found[number] = usage["input_tokens"] + (0 if within else read + written)
    return found


def _find_opencode(row: dict[str, Any]) -> int:
    """Of a reply as OpenCode exports it: input beside what the cache gave and took."""
    about = row.get("info")
    tokens = about.get("tokens") if isinstance(about, dict) and about.get("role") == "assistant" else None
    if not isinstance(tokens, dict):
        return 0
    cache = tokens.get("cache") or {}
    return int(tokens.get("input") or 0) + int(cache.get("read") or 0) + int(cache.get("write") or 0)


def _find_request(row: dict[str, Any]) -> int:
    """Input, written to the cache and read from it: the names of Anthropic's usage, and of pi's and Flue's.

    Gemini CLI and Qwen Code tell what was sent as one figure.

    Of several iterations the last one that is a message; rows of sub-agents and of failed requests tell none.
    """
    google = row.get("tokens") if row.get("type") == "gemini" else row.get("usageMetadata")
    if isinstance(google, dict) and not row.get("isSidechain"):
        return int(google.get("input") or google.get("promptTokenCount") or 0)
    message = row.get("message")
    if row.get("isSidechain") or row.get("isApiErrorMessage") or not isinstance(message, dict):
        return 0
    usage = message.get("usage")
    if message.get("role") != "assistant" or not isinstance(usage, dict):
        return 0
    turns = usage.get("iterations")
    if isinstance(turns, list):
        told = [t for t in turns if isinstance(t, dict) and t.get("type", "message") == "message"]
        usage = told[-1] if told else usage
    names = (
        ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"),
        ("input", "cacheWrite", "cacheRead"),
    )
    return max(sum(int(usage.get(name) or 0) for name in three) for three in names)


# -- the table -----------------------------------------------------------------------------------------------


def write_rows(found: list[Prediction]) -> Iterator[str]:
    """The table, tab-separated, and its last line."""
    yield "file\tline\tkind\tpredicted\tlow\thigh\treported\terror\tin range\twarned\tevidence"
    for p in found:
        yield (
            f"{p.file}\t{p.line}\t{p.kind}\t{p.predicted}\t{p.low}\t{p.high}\t{p.reported}\t"
            f"{100 * p.error:+.1f} %\t{_yes(p.holds)}\t{_yes(p.warned)}\t{p.evidence}"
        )
    yield summarise(found)


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def summarise(found: list[Prediction]) -> str:
    """The errors in one line: median, 90th percentile and worst."""
    if not found:
        return "no recorded compaction with a request after it, 0 compactions"
    errors = sorted(abs(p.error) for p in found)
    ninth = errors[min(-(-9 * len(errors) // 10), len(errors)) - 1]
    return (
        f"median {100 * median(errors):.1f} %, p90 {100 * ninth:.1f} %, worst {100 * errors[-1]:.1f} %, "
        f"{len(found)} compactions"
    )
