"""DOOR: has a summary written for a plan on a screen: what would be sent, how far it is, what came of it.

One summary is written at a time. A model is asked only for what was looked at before: the digest of the
requests is the permission. What is written is handed over as a `Checkpoint`; a failure is a sentence, and
nothing of it is kept.
"""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from .apicall import KEYS
from .background import Errands, tell_error
from .checkpoints import Checked, check_checkpoint
from .claude import Claude, Progress
from .desk import Desk
from .errors import EditError
from .extractive import TOKENS, Extractive
from .lives import Tell
from .models import find_claude, model_of
from .plan import Plan
from .printable import printable
from .sendview import describe_offline, describe_sending, list_models, tell_checked, tell_usage
from .summary import Checkpoint
from .writing import from_text, write_up

ADDRESS = "https://api.anthropic.com"
"""Where the `anthropic` package sends to, unless ANTHROPIC_BASE_URL says otherwise."""
MOST_AT_ONCE = 20_000
"""Characters of a text that one answer carries."""
MOST_PASTED = 2_000_000
WHAT = "Writing the summary"
CHANGED = "The plan has changed since you looked; nothing was sent. Look again."
STOPPED = "Stopped; nothing of it was kept."

Adopt = Callable[[Plan, Checkpoint | None], None]


@dataclass
class Writing:
    """The summary that is being written, or was written last; `parts` are its jobs' texts so far."""

    state: str = "none"
    by: str = ""
    sentence: str = ""
    plan: Plan | None = None
    checkpoint: Checkpoint | None = None
    parts: dict[str, str] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)
    tries: int = 0
    findings: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.checkpoint.text if self.checkpoint is not None else "\n\n".join(filter(None, self.parts.values()))

    @property
    def share(self) -> float | None:
        jobs = len(self.plan.jobs) if self.plan is not None else 0
        return round(sum(self.shares.values()) / jobs, 3) if jobs and self.shares else None


class Scribe:
    """Writes for one document. `say` hears what is done, `adopt` gets a plan and what was written for it.

    Its questions are answered at once, but "sending", for which the session is looked through; ask that in a
    thread of its own.
    """

    def __init__(self, say: Callable[[dict[str, Any]], None], adopt: Adopt) -> None:
        self._errands, self._adopt = Errands(say), adopt
        self._lock = threading.Lock()
        self._now = Writing()
        self._looked: tuple[Plan, Claude, str] | None = None
        self.begin, self.wait = self._errands.begin, self._errands.wait

    def find(self, desk: Desk, asked: Mapping[str, Any]) -> dict[str, Any]:
        """The reply to one of its questions. Raises `InspectorError`, or what a strange one raises."""
        kind = asked["type"]
        if kind == "sending":
            return self.look(desk.plan, asked)
        if kind == "summarise":
            self.write(desk.plan, asked)
        elif kind == "unsummarise":
            self._adopt(desk.plan, None)
            self._now = Writing()
            return self.tell(desk.plan.with_summary(None))
        return self.tell(desk.plan, int(asked.get("from", 0)))

    def look(self, plan: Plan, asked: Mapping[str, Any]) -> dict[str, Any]:
        """What would be sent; nothing is."""
        if asked["by"] != "model":
            return describe_offline(plan, _room(plan), _tell_nothing(plan))
        plan = plan.with_summary(None)
        claude = self._hire(plan, asked)
        try:
            sending = claude.preview(plan)
        except EditError:
            # A name that was left in belongs to a request that no longer holds it.
            claude = self._hire(plan, {**asked, "keep": ()})
            sending = claude.preview(plan)
        self._looked = plan, claude, sending.digest
        return describe_sending(sending, find_host(), _tell_nothing(plan) or tell_missing())

    def write(self, plan: Plan, asked: Mapping[str, Any]) -> None:
        """Begin to write; a summary that is being written is given up."""
        plan = plan.with_summary(None)
        if trouble := _tell_nothing(plan):
            self._end(Writing("failed", sentence=trouble))
            return
        if asked["by"] == "pasted":
            self._send(plan, "pasted", lambda: from_text(str(asked["text"])[:MOST_PASTED], plan))
        elif asked["by"] == "extractive":
            self._send(plan, "extractive", lambda: write_up(plan, Extractive(plan.ledger)))
        elif self._looked is None or not self._stands(plan, str(asked.get("digest", ""))):
            self._end(Writing("failed", by=str(asked.get("model", "")), sentence=CHANGED))
        else:
            claude = self._looked[1]
            self._send(plan, claude.by, lambda: write_up(plan, claude), claude)

    def tell(self, plan: Plan, first: int = 0) -> dict[str, Any]:
        """How far it is: its text from character `first` on."""
        with self._lock:
            now, usage, price = self._now, "", ""
            if now.checkpoint is not None:
                usage, price = tell_usage(now.by, now.checkpoint.usage)
            text = now.text
            own = model_of(plan.session)
            claude = own if find_claude(own) else None
            models = list_models(claude)
            here = now.checkpoint is not None and plan.checkpoint is now.checkpoint
            return {
                "state": now.state,
                "by": printable(now.by, 80),
                "sentence": now.sentence,
                "text": printable(text[first : first + MOST_AT_ONCE]),
                "from": first,
                "total": len(text),
                "share": now.share,
                "tries": now.tries,
                "tokens": plan.summary_tokens if here else 0,
                "usage": usage,
                "price": price,
                "findings": now.findings,
                "here": here,
                **_tell_cut(now.plan),
                "models": models,
                "model": models[0],
                "limit": _room(plan),
            }

    def stop(self) -> bool:
        """Give up what is being written; whether anything was."""
        stopped = bool(self._errands.stop())
        if stopped:
            self._end(Writing("stopped", by=self._now.by, sentence=STOPPED))
        return stopped

    def close(self) -> None:
        """Give up for good. Waits for nobody."""
        self._errands.close()

    def _hire(self, plan: Plan, asked: Mapping[str, Any]) -> Claude:
        model = str(asked["model"]).strip() or list_models(model_of(plan.session))[0]
        keep = [str(name) for name in asked.get("keep", ())]
        claude = Claude(model, focus=str(asked.get("focus", "")).strip(), keep=keep)
        if self._looked is not None:
            claude.remember(self._looked[1])
        return claude

    def _stands(self, plan: Plan, digest: str) -> bool:
        """Whether this is what was looked at."""
        assert self._looked is not None
        seen, _, known = self._looked
        return digest == known and (seen.session.leaf, seen.jobs) == (plan.session.leaf, plan.jobs)

    def _send(
        self, plan: Plan, by: str, make: Callable[[], Checkpoint], claude: Claude | None = None
    ) -> None:
        self._errands.stop()
        mine = Writing("writing", by=by, plan=plan)
        self._end(mine)

        def work(tell: Tell) -> tuple[Checkpoint, Checked]:
            if claude is not None:
                claude.tell = lambda progress: self._hear(mine, progress, tell)
            made = make()
            return made, check_checkpoint(made, plan)

        def take(made: tuple[Checkpoint, Checked]) -> None:
            checkpoint, checked = made
            if checkpoint.error is not None:
                fail(EditError("summary by", checkpoint.by, checkpoint.error))
                return
            filled = plan.with_summary(checkpoint)
            sentence = (
                f"Written by {printable(checkpoint.by, 80)}: {filled.summary_tokens:,} tokens; "
                f"the stand-in has {plan.summary_tokens:,}."
            )
            if self._now is not mine:
                return  # stopped in the very moment it was done
            self._end(
                replace(
                    mine,
                    state="done",
                    sentence=sentence,
                    checkpoint=checkpoint,
                    findings=tell_checked(checked),
                )
            )
            self._adopt(plan, checkpoint)

        def fail(error: Exception) -> None:
            if self._now is mine:
                self._end(replace(mine, state="failed", sentence=tell_error(error), parts={}))

        self._errands.send("summary", WHAT, work, take, fail)

    def _hear(self, mine: Writing, progress: Progress, tell: Tell) -> None:
        with self._lock:
            mine.parts[progress.kind] = progress.text
            mine.shares[progress.kind] = progress.share
            mine.tries = max(mine.tries, progress.tries)
        tell(mine.share or 0.0)

    def _end(self, writing: Writing) -> None:
        with self._lock:
            self._now = writing


def find_host() -> str:
    """Where requests go, as the `anthropic` package reads it from the environment."""
    return urlsplit(os.environ.get("ANTHROPIC_BASE_URL", "").strip() or ADDRESS).netloc or ADDRESS


def tell_missing() -> str:
    """Why no model can be asked from here, "" when one can. The key itself is not looked at."""
    if importlib.util.find_spec("anthropic") is None:
        return "The anthropic package is not installed: pip install 'compaction-inspector[claude]'."
    if not any(os.environ.get(name, "").strip() for name in KEYS):
        return f"There is no key for the provider: set {KEYS[0]} in the environment before Jupyter starts."
    return ""


def _tell_nothing(plan: Plan) -> str:
    if plan.jobs:
        return ""
    return printable(plan.why, 400) or "This plan summarises nothing, so there is nothing to write."


def _room(plan: Plan) -> int:
    """Tokens an extractive summary may have."""
    return sum(min(TOKENS, TOKENS if job.max_tokens is None else job.max_tokens) for job in plan.jobs)


def _tell_cut(plan: Plan | None) -> dict[str, Any]:
    if plan is None or plan.cut is None or plan.place is None:
        return {"cut": "", "turn": 0}
    turn = plan.session.live.turn
    return {"cut": plan.cut.entry, "turn": int(turn[min(plan.place, len(turn) - 1)]) if len(turn) else 0}
