"""One summary job, asked until there is an answer that can stand, or a reason why there is none.

A request that the provider finds too long is made shorter by the rule of `shortening`; an answer cut off at
its limit is asked for again in tighter words, twice as in a replay (S0-103, S0-104). A truncated or empty
answer is never kept. Each step is told as an event.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from .apicall import ApiCall
from .attempts import TIGHTER
from .errors import AnswerRefused, RequestRefused, SummaryError
from .planning.summary_jobs import Reply, SummaryJob, job_text
from .sending import LONGEST, read_texts, write_body
from .session.session import Session, Usage
from .shortening import MARGIN, Shortened, find_limit, shorten_job

if TYPE_CHECKING:
    from .claude import Claude

MOST_SHORTENED = 5
"""How often a request is made shorter before the provider's refusal is told."""
_OVERFLOWS = frozenset({"token_overflow", "byte_overflow"})


class Asker:
    """One job, asked until there is an answer that can stand, or a reason why there is none."""

    def __init__(self, claude: Claude, job: SummaryJob, session: Session) -> None:
        self.claude, self.job, self.session = claude, job, session
        self.stops = claude.stops
        self.cleaner = claude.cleaner(session)
        self.budget = LONGEST if job.max_tokens is None else job.max_tokens
        self.limit: int | None = None
        self.short: Shortened | None = None
        self.used: Usage | None = None
        self.shortened = self.tightened = self.size = 0

    def run(self) -> Reply:
        while True:
            try:
                call = self._ask()
            except SummaryError as error:
                self._pay(error.used)
                error.used = self.used
                if not self._shorten(error.kind, str(error)):
                    raise
                continue
            self._pay(call.usage)
            if (kind := _find_fault(call)) is None:
                return Reply(text=call.text.strip(), usage=self.used)
            if kind == "token_overflow" and self._shorten(kind, ""):
                continue
            if kind == "cut_off" and self._tighten(call):
                continue
            raise _refuse(kind, call, self.budget, self.tightened, self.used)

    def _ask(self) -> ApiCall:
        asking, job, session = self.claude.asking, self.job, self.session
        if self.short is not None:
            job, session = self.short.job, self.short.session
            asking = replace(
                asking, additions={**asking.additions, "compaction-inspector": self.short.notice}
            )
        body = write_body(job, session, asking, self.cleaner, limit=self.limit)
        self.size = sum(map(len, read_texts(body)))
        work = partial(ApiCall.listen, body=body)
        return self.claude.follow(self.cleaner, job.kind, self.budget, work, self.stops)

    def _pay(self, used: Usage | None) -> None:
        """What an answer cost that is not kept was paid all the same."""
        if used is not None and used.tokens:
            self.used = used if self.used is None else self.used + used

    def _shorten(self, kind: str, said: str) -> bool:
        """Make what is sent shorter; False when that is no cure, or there is nothing left to leave out."""
        if kind not in _OVERFLOWS or self.shortened >= MOST_SHORTENED:
            return False
        before = self.short.characters if self.short is not None else len(job_text(self.session, self.job))
        share = find_limit(said) if kind == "token_overflow" else None
        # Only the conversation can give way: instructions and the summary before stay whole.
        over = self.size * (1 - share * MARGIN) if share is not None else before / 2
        most = int(before - over)
        short = shorten_job(self.job, self.session, most)
        if short is None:
            return False
        self.short, self.shortened = short, self.shortened + 1
        self.claude.note(kind, surface="summary")
        told = {"step": short.step, "characters": short.characters, "left_out": short.left_out}
        self.claude.note("retried", error=kind, attempt=self.shortened, **told)
        return True

    def _tighten(self, call: ApiCall) -> bool:
        """Ask again for half as much, as a replay does; False when that was done often enough (S0-104)."""
        if self.tightened >= TIGHTER:
            return False
        self.tightened += 1
        self.limit = max((self.limit or self.budget) // 2, 1)
        size = int(call.usage.output)
        told = {"size": size, "budget": self.budget, "attempt": self.tightened, "limit": self.limit}
        self.claude.note("summary_oversize", **told)
        return True


def _find_fault(call: ApiCall) -> str | None:
    """Why an answer cannot stand for what it was to write up; None when it can."""
    reasons = {
        "max_tokens": "cut_off",
        "model_context_window_exceeded": "token_overflow",
        "refusal": "refusal",
        "tool_use": "tool",
    }
    if fault := reasons.get(call.stop_reason):
        return fault
    if call.stop_reason not in ("end_turn", "stop_sequence"):
        return "unknown"
    return None if call.text.strip() else "empty"


def _refuse(kind: str, call: ApiCall, budget: int, tightened: int, used: Usage | None) -> SummaryError:
    again = f", also when asked for less {tightened} times" if tightened else ""
    category = call.details.get("category")
    why = f" (it names the reason {category})" if isinstance(category, str) else ""
    if kind == "token_overflow":
        return RequestRefused(kind, "The request fills the model's window, so the answer was cut off.", used)
    says = {
        "cut_off": f"The summary was cut off at its {budget:,} tokens{again}; none of it was kept.",
        "empty": "The model's answer is empty, so there is no summary.",
        "refusal": f"The model refused to write the summary{why}.",
        "tool": "The model called a tool instead of writing the summary.",
        "unknown": "The model stopped for a reason that is not known here, so its answer was not kept.",
    }
    return AnswerRefused(kind, says[kind], used)
