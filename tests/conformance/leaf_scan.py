"""What becomes of a compaction at every leaf of a real session, counted: `leaf-scan/1` of Flue's vectors.

The manifest tells what is counted and not how the file is laid out, so the figures are looked for: a session
and, at it or below it, counts by outcome, with the settings that stand nearest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from inspector.planning.planner import make_plan
from inspector.policies.policy import Edits
from inspector.policies.rules.keep_recent_tokens import walk_back
from inspector.session.session import Session
from inspector.tokens.ledger import count_tokens

from .compare import Outcome, compare

DEFAULTS = {"enabled": True, "reserveTokens": 16_384, "keepRecentTokens": 20_000}
COMPACT, NO_CUT, NO_MESSAGE = (
    "compact",
    "nothing-to-compact:no-valid-cut-point",
    "nothing-to-compact:first-kept-not-a-message-entry",
)
OUTCOMES = (COMPACT, NO_CUT, NO_MESSAGE)
UNREAD = "a scan of leaves in a layout that the manifest does not tell"


def is_scan(data: Any) -> bool:
    """Whether a file is a scan, by its schema."""
    return isinstance(data, dict) and "leaf-scan/" in str(data.get("schema", ""))


def check(name: str, data: Any, open_session: Callable[[str], Session | None]) -> Iterator[Outcome]:
    """One outcome for every session and setting that is counted."""
    cases = list(_find(data, None, {}, 0))
    if not cases:
        yield name, UNREAD
    for file, settings, window, counts in cases:
        session = open_session(file)
        told = f"{name}: {file}, keep {settings['keepRecentTokens']}"
        if session is None:
            yield told, None
            continue
        found = scan(session, settings, window)
        mine = {key: sum(n for kind, n in found.items() if kind.startswith(key)) for key in counts}
        yield told, list(compare(mine, counts))


def scan(session: Session, settings: dict[str, Any], window: int) -> Counter[str]:
    """How often each outcome comes when every entry is the leaf once."""
    ledger = count_tokens(session)
    edits = Edits(
        settings={
            "trigger.enabled": settings["enabled"],
            "trigger.reserve_tokens": settings["reserveTokens"],
            "keep-recent-tokens.tokens": settings["keepRecentTokens"],
        }
    )
    found: Counter[str] = Counter()
    for entry in session.entries:
        plan = make_plan(session.at(entry.id), ledger, "flue", edits, window=window)
        walk = walk_back(plan.table, settings["keepRecentTokens"])
        if walk.first_kept <= plan.table.start:
            found[NO_CUT] += 1
        else:
            found[COMPACT if plan.place is not None else NO_MESSAGE] += 1
    return found


def _find(
    value: Any, file: str | None, settings: dict[str, Any], window: int
) -> Iterator[tuple[str, dict[str, Any], int, dict[str, int]]]:
    if isinstance(value, list):
        for child in value:
            yield from _find(child, file, settings, window)
    if not isinstance(value, dict):
        return
    given = value.get("settings") if isinstance(value.get("settings"), dict) else value
    settings = settings | {key: given[key] for key in DEFAULTS if key in given}
    window = value.get("contextWindow") or window
    if isinstance(value.get("session"), str):
        file = value["session"]
    counts = {key: n for key, n in value.items() if _is_outcome(key) and isinstance(n, int)}
    if counts and file is not None:
        yield file, DEFAULTS | settings, window, counts
    for key, child in value.items():
        named = key if key.endswith((".json", ".jsonl")) else file
        more = settings | ({"keepRecentTokens": int(key)} if key.isdigit() else {})
        yield from _find(child, named, more, window)


def _is_outcome(key: str) -> bool:
    return any(outcome.startswith(key) for outcome in OUTCOMES) and len(key) >= len(COMPACT)
