"""Save a plan as JSON: its settings, its session and its result, without text of the transcript.

Reading it back with the same session gives an equal plan, even if the session has grown.
"""

from __future__ import annotations

import json
import re
from collections import Counter as Multiset
from hashlib import sha256
from pathlib import PurePath
from typing import Any, Literal

from pydantic import AliasChoices, Field, ValidationError

from ..errors import EditError, OtherSession, PlanError
from ..policies.builtin.recorded import RECORDED
from ..policies.harness import BUNDLED
from ..policies.part import LARGE
from ..policies.policy import FORMER, Edits
from ..policies.registry import find_policy
from ..policies.table import FATES
from ..policies.trigger import Reason
from ..redaction.cut import cut_text, redact_text
from ..session.blocks import Chars, Value
from ..session.json_text import digest
from ..session.session import Session
from ..tokens.counter import Counter
from ..tokens.counters import COUNTERS, ESTIMATE, find_counter
from ..tokens.ledger import Ledger, count_tokens
from .plan import Plan
from .planner import make_plan

FORMAT: Literal["compaction-plan/1"] = "compaction-plan/1"
LONGEST = 60
MOST_WORDS = 300


class Origin(Value):
    """The session a plan was made of: its first `entries`, with the hash of what they say."""

    format: Chars
    id: Chars
    entries: int = Field(ge=0, le=LARGE)
    leaf: Chars | None
    sha256: str


class SavedOutcome(Value):
    """The result: tokens of the request before and after, those after it that are not in the file, the
    blocks of each fate, and the hash of every decision."""

    title: str
    cut: Chars | None
    before: int
    after: int
    outside: int = Field(validation_alias=AliasChoices("outside", "unexplained"))
    fits: bool
    blocks: dict[str, int]
    sha256: str


class SavedPlan(Value):
    """A plan in a file. `policy` is all of it, as it was configured; a summary written for it is not kept.

    >>> from inspector import read_session
    >>> session = read_session([{"role": "user", "content": "Name a prime."},
    ...                         {"role": "assistant", "content": "Seven."}])
    >>> plan = make_plan(session, count_tokens(session), "keep-recent-turns", {"cut": "end"})
    >>> saved: SavedPlan = pack_plan(plan)
    >>> saved.session.entries, saved.edits, saved.outcome.blocks
    (2, Edits(cut='end'), {'summarised': 2})
    """

    saved: Literal["compaction-plan/1"] = FORMAT
    session: Origin
    at: Chars | None
    counter: str
    counted: str
    policy: dict[str, Any]
    edits: Edits
    window: int | None = None
    reason: Reason = "auto"
    outcome: SavedOutcome


def pack_plan(plan: Plan) -> SavedPlan:
    """A plan as it is kept. A summary that was written for it is left out: that is the transcript's text.

    >>> from inspector import count_tokens, make_plan, open_demo
    >>> session = open_demo()
    >>> plan = make_plan(session, count_tokens(session), "flue", {"cut": "end"})
    >>> make_again(pack_plan(plan), session).after == plan.after
    True
    """
    # A summary that was written is not saved; the one that the file records belongs to the policy.
    plan = plan if plan.policy.name == RECORDED.name else plan.with_summary(None)
    whole = plan.ledger.session
    count = _count_own(whole)
    counts = Multiset(plan.fate.tolist())
    return SavedPlan(
        session=Origin(
            format=whole.format,
            id=redact_text(whole.id),
            entries=count,
            leaf=whole.leaf,
            sha256=_hash_entries(whole, count),
        ),
        at=plan.session.leaf,
        counter=plan.ledger.base.name,
        counted=plan.ledger.base.title,
        policy=plan.policy.model_dump(mode="json"),
        edits=plan.edits,
        window=plan.table.given_window,
        reason=plan.reason,
        outcome=SavedOutcome(
            title=plan.policy.title or plan.policy.name,
            cut=None if plan.cut is None else plan.cut.entry,
            before=plan.before,
            after=plan.after,
            outside=plan.outside_after,
            fits=plan.fits,
            blocks={fate: counts[code] for code, fate in enumerate(FATES) if counts[code]},
            sha256=_hash_decisions(plan),
        ),
    )


def write_plan(plan: Plan) -> str:
    """The same as the text of a file; equal plans give equal texts."""
    return json.dumps(pack_plan(plan).model_dump(), indent=2, default=list) + "\n"


def read_plan(text: str | bytes, name: str = "the plan") -> SavedPlan:
    """A saved plan from a file's text. Raises `PlanError` for anything else."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        raise PlanError(name, "this is not JSON") from None
    version = data.get("saved") if isinstance(data, dict) else None
    if not isinstance(version, str) or not version.startswith("compaction-plan/"):
        raise PlanError(name, "this file has no saved plan")
    if version != FORMAT:
        raise PlanError(name, f"it was saved by a newer version, as {cut_text(version, LONGEST)}")
    try:
        return SavedPlan.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise PlanError(name, cut_text(f"{where}: {first['msg']}", MOST_WORDS)) from None


def make_again(
    saved: SavedPlan, session: Session, name: str = "the plan", ledger: Ledger | None = None
) -> Plan:
    """The plan that was saved, made of the same session.

    Later entries of the session are ignored. `ledger` is a count of it, by default counted again. Raises
    `OtherSession` for any other session, `PlanError` if the plan made again is not equal, `PolicyError` for
    an unknown rule and `CounterError` for an unknown counter.
    """
    try:
        whole = _as_it_was(saved, session, name)
        policy = find_policy(saved.policy)
        if ledger is None or ledger.session.entries is not whole.entries:
            ledger = count_tokens(whole, _find_counter(saved))
        # A file may name a leaf that it does not hold.
        moment = whole if whole.leaf == saved.at else whole.at(saved.at)
        plan = make_plan(moment, ledger, policy, saved.edits, window=saved.window, reason=saved.reason)
    except EditError as error:
        raise PlanError(name, cut_text(str(error), MOST_WORDS)) from None
    if _hash_decisions(plan, saved.policy) != saved.outcome.sha256:
        now, then = f"{plan.after:,} tokens", f"{saved.outcome.after:,}"
        reason = "the counter or the policy has changed since it was saved"
        raise PlanError(
            name,
            f"planned again, it leaves {now} (saved: {then}), or the same number in other blocks; {reason}",
        )
    return plan


def count_added(saved: SavedPlan, session: Session, name: str = "the plan") -> int:
    """How many entries a session has more than when a plan of it was saved.

    Raises `OtherSession` for a session that the plan was not saved of.
    """
    _as_it_was(saved, session, name)
    return max(_count_own(session) - saved.session.entries, 0)


def name_plan(session: Session, path: str = "") -> str:
    """Build the file name of a session's plan from the name of its file, or from its id.

    >>> from inspector.session.session import Session
    >>> name_plan(Session(format="pi", id="a/b"), "runs/first.session.jsonl"), name_plan(Session(format="pi"))
    ('first.plan.json', 'session.plan.json')
    """
    base = re.split(r"[/\\]", path)[-1] or redact_text(session.id) or "session"
    name = re.sub(r"(\.session)?\.jsonl?$", "", base, flags=re.I)
    safe = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:LONGEST]
    return f"{safe or 'session'}.plan.json"


def number_name(name: str, number: int) -> str:
    """Insert a number into a file name, unless it is 1.

    >>> number_name("a.plan.json", 1), number_name("a.plan.json", 2), number_name("b.jsonl", 3)
    ('a.plan.json', 'a-2.plan.json', 'b-3.jsonl')
    """
    suffix = ".plan.json" if name.endswith(".plan.json") else PurePath(name).suffix
    return name if number == 1 else f"{name.removesuffix(suffix)}-{number}{suffix}"


def _as_it_was(saved: SavedPlan, session: Session, name: str) -> Session:
    origin, count = saved.session, saved.session.entries
    if len(session.entries) < count or _hash_entries(session, count) != origin.sha256:
        name_now = redact_text(session.id)
        here = f"this one is {_describe_session(session.format, name_now, len(session.entries))}"
        if (origin.format, origin.id) in ((session.format, session.id), (session.format, name_now)) and len(
            session.entries
        ) >= count:
            here = "the entries of this one differ"
        raise OtherSession(
            name, f"it was made of {_describe_session(origin.format, origin.id, count)}; {here}"
        )
    own = _count_own(session)
    if count in (own, len(session.entries)):
        return session if session.leaf == origin.leaf else session.at(origin.leaf)
    return session.with_entries((*session.entries[:count], *session.entries[max(own, count) :]), origin.leaf)


def _count_own(session: Session) -> int:
    """Number of entries of the session's own file; those of other files come after them."""
    count = len(session.entries)
    while (
        count and session.entries[count - 1].sidechain is not None and not session.entries[count - 1].sources
    ):
        count -= 1
    return count


def _describe_session(format: str, id: str, entries: int) -> str:
    return f"{entries:,} entries of {cut_text(format, LONGEST)} {cut_text(id, LONGEST)!r}"


def _find_counter(saved: SavedPlan) -> Counter:
    """Two counters may have one name: exact ones fitted to what was reported, and estimates."""
    for counter in (*COUNTERS, ESTIMATE):
        if (counter.name, counter.title) == (saved.counter, saved.counted):
            return counter
    return find_counter(saved.counter)


def _hash_entries(session: Session, count: int) -> str:
    total = sha256()
    for entry in session.entries[:count]:
        fields = [entry.id, entry.parent or "", entry.role, entry.kind, entry.sidechain or ""]
        for block in entry.blocks:
            fields += [block.kind, block.text]
        # The lengths first, so that no text passes for two.
        sizes = ",".join(str(len(text)) for text in fields)
        total.update(f"{sizes}\n{''.join(fields)}\n".encode("utf-8", "surrogatepass"))
    return total.hexdigest()


def _hash_decisions(plan: Plan, saved: dict[str, Any] | None = None) -> str:
    """Return the SHA-256 of the decisions about all blocks and of the settings behind them, without names.

    `saved` is the policy of a file: a setting that its version did not have has its default, and was not
    hashed. Before 0.2 the harness and its own tool had other names.
    """
    policy = plan.policy.model_dump(mode="json", exclude={"name", "title", "version", "source"})
    if saved is not None:
        if FORMER in saved:
            policy[FORMER] = {**policy.pop("harness"), "kind": FORMER}
            if policy[FORMER]["engine"] == BUNDLED:
                policy[FORMER]["engine"] = "tool"
        policy = _take_known(policy, saved)
    columns = [plan.fate.tolist(), plan.outcome.tokens.tolist(), plan.place, plan.counted_after]
    return digest([policy, plan.session.leaf, columns])


def _take_known(value: Any, saved: Any) -> Any:
    """A JSON value without the keys that another of its shape does not have."""
    if isinstance(value, dict) and isinstance(saved, dict):
        return {name: _take_known(item, saved[name]) for name, item in value.items() if name in saved}
    if isinstance(value, list) and isinstance(saved, list) and len(value) == len(saved):
        return [_take_known(item, other) for item, other in zip(value, saved, strict=True)]
    return value
