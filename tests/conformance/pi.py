"""What three versions of pi make of the vectors' sessions, fact by fact, against our pi reader and policy.

The real functions were fed the entries of the active path. So are we: the path is written down as a file of
pi's and read by our reader for those. The words pi puts around a shell command and a branch's summary are
its own and not ours; they are taken from the vectors that show their texts, to be put in the place of ours.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from inspector.errors import EmptySession
from inspector.formats.readers import read_session
from inspector.planning.plan import Plan
from inspector.planning.planner import make_plan
from inspector.planning.summary_jobs import SummaryJob
from inspector.policies.builtin.pi import VERSIONS
from inspector.policies.pi_estimate import Estimate, weigh_message
from inspector.policies.policy import Edits
from inspector.policies.rules.carry_file_operations import collect
from inspector.policies.rules.keep_recent_tokens import KeepRecentTokens, measure_context, walk_back
from inspector.policies.trigger import Measured, TailWeight, measure_usage
from inspector.session.entries import Entry
from inspector.session.session import Session
from inspector.summaries.material import conversation_text, job_entries
from inspector.tokens.counters import chars4_utf16
from inspector.tokens.ledger import Ledger

from .compare import Found, compare

ESTIMATES: dict[str, Estimate] = {"0.58.3": "pi-0.73.1", "0.73.1": "pi-0.73.1", "1.5.2": "pi-1.5.2"}
SAID_APART = ("bashExecution", "branchSummary")
NO_WORDS = "pi's words around a {} are its own, and no readable text of these vectors shows them"
Facts = Iterator[tuple[str, Found]]


class Words(NamedTuple):
    """What stands before, between and after the texts of a shell command or a branch's summary."""

    parts: tuple[str, ...]

    def say(self, texts: tuple[str, ...]) -> str:
        spoken = [part + text for part, text in zip(self.parts, texts, strict=False)]
        return "[User]: " + "".join(spoken) + self.parts[-1]


def active_path(session: dict[str, Any], leaf: str | None) -> list[dict[str, Any]]:
    """The raw entries from the root to a leaf of a Flue session."""
    entries = {entry["id"]: entry for entry in session["entries"]}
    path: list[dict[str, Any]] = []
    while leaf in entries:
        entry = entries.pop(leaf)  # so that a circle ends
        path.append(entry)
        leaf = entry.get("parentId")
    return path[::-1]


def parse(path: list[dict[str, Any]]) -> Session:
    """The path as our reader sees it in a session file of pi's."""
    header = {"type": "session", "version": 3, "id": "vector", "timestamp": "1970-01-01T00:00:00.000Z"}
    lines = [json.dumps(item) for item in (header, *path)]
    try:
        return read_session("\n".join(lines).encode(), "vector", format="pi")
    except EmptySession:  # pi plans an empty session too
        return Session(format="pi")


def learn_words(cases: Iterable[tuple[list[dict[str, Any]], dict[str, Any]]]) -> dict[str, Words]:
    """pi's words around texts that are not messages, from vectors that show a whole conversation."""
    found: dict[str, Words] = {}
    for path, facts in cases:
        told = [name for name in ("historyConversation", "prefixConversation") if facts.get("preparation")]
        shown = [text for name in told if (text := facts["preparation"][name].get("text"))]
        for role, texts in _apart(path):
            if len(set("".join(texts))) < 3:
                continue  # too plain to be told from what stands around it
            gaps = r"((?:(?!\n\n\[).)*?)".join(re.escape(text) for text in texts)
            pattern = rf"\[User\]: ((?:(?!\n\n\[).)*?){gaps}((?:(?!\n\n\[).)*)"
            for text in shown:
                if role not in found and (match := re.search(pattern, text, re.S)):
                    found[role] = Words(match.groups())
    return found


def _apart(path: list[dict[str, Any]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    for entry in path:
        message = entry.get("message") or {}
        if entry["type"] == "branch_summary":
            yield "branchSummary", (entry["summary"],)
        elif message.get("role") == "bashExecution" and message["output"] and _ended_well(message):
            yield "bashExecution", (message["command"], message["output"])


def _ended_well(message: dict[str, Any]) -> bool:
    """Whether a shell command ended as it should, so that pi says nothing more about it."""
    return not (message.get("exitCode") or message.get("cancelled") or message.get("truncated"))


def check_facts(
    impl: str,
    expected: dict[str, Any] | None,
    path: list[dict[str, Any]],
    ledger: Ledger,
    given: dict[str, Any],
    words: dict[str, Words],
) -> Facts:
    """Every fact that a version of pi ("pi-1.5.2") states about a session: its name and what came of it."""
    version = impl.removeprefix("pi-")
    if version not in VERSIONS:
        yield "all", f"we have no settings for {impl}"
        return
    if expected is None:
        yield "all", "the vectors say nothing of it"
        return
    keep = {
        "trigger.enabled": given["settings"]["enabled"],
        "trigger.reserve_tokens": given["settings"]["reserveTokens"],
        "keep-recent-tokens.tokens": given["settings"]["keepRecentTokens"],
    }
    edits = Edits(settings=VERSIONS[version] | keep)
    session = ledger.session
    plan = make_plan(session, ledger, "pi", edits, window=given["contextWindow"] or 0)
    roles = [_role(session.entries[i]) for i in session.live.entries.tolist()]
    yield "contextRoles", list(compare(roles, expected["contextRoles"]))
    measured = _estimate(session, version)
    for name, mine in zip(
        ("tokens", "usageTokens", "trailingTokens", "lastUsageIndex"), measured[:4], strict=True
    ):
        yield f"estimate.{name}", list(compare(mine, expected["estimate"][name]))
    wanted = expected["preparation"]
    if wanted is None or plan.place is None:
        mine = None if plan.place is None else f"a cut at {plan.place}"
        yield "preparation", list(compare(mine, wanted if wanted is None else "a preparation"))
        return
    before = measure_context(plan.table, _walk_rule(plan))
    actual = _prepare(plan) | {"tokensBefore": before.tokens}
    for name, value in wanted.items():
        if name in ("historyConversation", "prefixConversation"):
            yield f"preparation.{name}", _check_text(plan, name, value, path, words)
        elif name not in actual:
            yield f"preparation.{name}", "we know no such fact"
        else:
            yield f"preparation.{name}", list(compare(actual[name], value))


def _role(entry: Entry) -> str:
    special = {"compaction": "compactionSummary", "branch_summary": "branchSummary"}.get(entry.kind)
    told = entry.extra.get("role")
    role = "toolResult" if entry.role == "tool" else entry.role
    return special or (told if isinstance(told, str) else "custom" if entry.meta else role)


def _estimate(session: Session, version: str) -> Measured:
    """What the version's own estimate of a list of messages says; it looks at no compaction."""
    tail = TailWeight(session, lambda entry: weigh_message(entry, ESTIMATES[version]))
    return measure_usage(session, tail, empty=False) if version == "1.5.2" else measure_usage(session, tail)


def _job(plan: Plan, prefix: bool) -> SummaryJob | None:
    return next((job for job in plan.jobs if (job.kind == "turn_prefix") == prefix), None)


def _walk_rule(plan: Plan) -> KeepRecentTokens:
    rule = plan.table.sibling("keep-recent-tokens")
    assert isinstance(rule, KeepRecentTokens)
    return rule


def _prepare(plan: Plan) -> dict[str, Any]:
    session, rule = plan.session, _walk_rule(plan)
    assert plan.place is not None
    walk = walk_back(plan.table, rule.tokens, rule)
    files = collect(plan.table, plan.place)
    history, prefix = _job(plan, False), _job(plan, True)
    recorded = session.entries[session.live.entries[0]].boundary if session.live.summary == 0 else None
    return {
        "firstKeptEntryId": session.entries[session.live.entries[plan.place]].id,
        "isSplitTurn": walk.turn_start >= 0,
        "messagesToSummarize": len(history.entries) if history else 0,
        "turnPrefixMessages": len(prefix.entries) if prefix else 0,
        "hasPreviousSummary": recorded is not None,
        "fileLists": {"readFiles": files.read_files, "modifiedFiles": files.modified_files},
    }


def _check_text(
    plan: Plan, name: str, expected: Any, path: list[dict[str, Any]], words: dict[str, Words]
) -> Found:
    job = _job(plan, name == "prefixConversation")
    apart = {entry["id"]: next(_apart([entry]), None) for entry in path}
    items = []
    for entry in job_entries(plan.session, job) if job else ():
        role = _role(entry)
        if role not in SAID_APART:
            assert job is not None
            text = conversation_text([entry], thinking=job.thinking, whole_characters=job.whole_characters)
            items += [text] if text else []
            continue
        told = apart[entry.id]
        if told is None or role not in words:
            return NO_WORDS.format("shell command" if role == "bashExecution" else "branch's summary")
        items.append(words[role].say(told[1]))
    return list(compare("\n\n".join(items), expected))


def check_weights(message: dict[str, Any], expected: dict[str, int]) -> Facts:
    """What versions of pi weigh a message."""
    stamp = {"id": "m", "parentId": None, "timestamp": "1970-01-01T00:00:00.000Z"}
    session = parse([{"type": "message", **stamp, "message": message}])
    for impl, tokens in expected.items():
        version = impl.removeprefix("pi-")
        if version in ESTIMATES and impl != version:
            weights = [weigh_message(entry, ESTIMATES[version]) for entry in session.entries]
            yield impl, list(compare(sum(weights), tokens))


def weigh_all(session: Session, impl: str) -> list[int]:
    """Every entry of a session as an implementation weighs it."""
    if not impl.startswith("pi-"):
        return [int(tokens) for tokens in chars4_utf16.CHARS4_UTF16.entry_weights(session)]
    return [weigh_message(entry, ESTIMATES[impl.removeprefix("pi-")]) for entry in session.entries]
