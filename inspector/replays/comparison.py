"""Compare replays of one session under several policies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..errors import expect
from ..mixins import Framed
from ..policies.policy import Policy
from ..policies.registry import list_policies
from ..progress import show_progress
from ..session.session import Session
from ..text import html_table, printed, text_table
from ..tokens.bill import Bill
from ..tokens.cost import SummaryCall, price_session, price_steps
from ..tokens.history import trace_history
from ..tokens.ledger import Ledger, count_tokens
from ..tokens.models import model_of
from ..tokens.prices import Price, find_price
from .engine import replay, tell_part
from .run import Run
from .scenario import Scenario


class Compared(NamedTuple):
    """One policy's run, and what its requests would have cost."""

    run: Run
    bill: Bill


HEADINGS = ("policy", "compactions", "first in turn", "fullest", "at the end", "sent", "cached", "cost")


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Framed):
    """Runs of several policies over one session, in the order they were asked for.

    `recorded` is the cost of the session's own requests, by the usage in the file; `note` names the source of
    the prices.

    >>> from inspector import read_session
    >>> answer = {"role": "assistant", "content": "It is short."}
    >>> session = read_session([{"role": "user", "content": "Read src/a.py."}, answer])
    >>> compared: Comparison = compare_policies(session, ["flue", "codex"])
    >>> [(row["policy"], row["compactions"], row["status"]) for row in compared.table()]
    [('flue', 0, 'finished'), ('codex', 0, 'finished')]
    >>> len(compared["codex"].turn)
    2
    """

    session: Session
    rows: tuple[Compared, ...]
    recorded: Bill
    note: str

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Run]:
        return (row.run for row in self.rows)

    def __getitem__(self, policy: str) -> Run:
        """The run of a policy, by its name. Raises `KeyError` for one that was not compared."""
        for row in self.rows:
            if row.run.policy.name == policy:
                return row.run
        raise KeyError(f"{policy!r} was not compared; known: {', '.join(run.policy.name for run in self)}")

    def to_columns(self) -> dict[str, list[Any]]:
        """Return the rows of `table` as columns."""
        rows = self.table()
        return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}

    def table(self) -> list[dict[str, Any]]:
        """A row for each policy: plain values, for a data frame or a chart.

        Tokens are by the ledger's counter and what usage reports beyond it; `cached` is the share of the
        tokens sent that were an unchanged prefix; `cost` is None without a known price.
        """
        return [_row(row) for row in self.rows]

    def _repr_html_(self) -> str:
        """The same table as HTML, for a notebook."""
        head = repr(self).splitlines()[0]
        rows = [_cells(row) for row in self.table()]
        notes = " ".join([*filter(None, map(_tell_room, self)), self.note])
        return html_table(HEADINGS, rows, numbers=range(1, len(HEADINGS)), around=(head, notes))

    @printed
    def __repr__(self) -> str:
        lines = [HEADINGS, *(_cells(row) for row in self.table())]
        head = f"Comparison of {len(self)} policies over {self.session!r}"
        body = (f"  {line}" for line in text_table(lines, range(1, len(HEADINGS))))
        notes = (f"  {note}" for note in (*filter(None, map(_tell_room, self)), self.note))
        return "\n".join([head, *body, *notes])


def _tell_room(run: Run) -> str:
    """Say that a policy fires at any size, because the window is not larger than what it reserves."""
    for condition in run.policy.trigger.conditions:
        base = condition.base(run.window)
        limit = condition.threshold(run.window)
        if run.policy.acts_alone and condition.tokens is None and base > 0 >= limit:
            return (
                f"{run.policy.name} has no room: it reserves {condition.reserve_tokens:,.0f} tokens "
                f"of a window of {base:,.0f}, so it fires at every check."
            )
    return ""


def compare_policies(
    session: Session,
    policies: Sequence[str | Policy | dict[str, Any]] | str | Policy | dict[str, Any] | None = None,
    scenario: Scenario | dict[str, Any] | None = None,
    *,
    ledger: Ledger | None = None,
    window: int | None = None,
    price: Price | None = None,
    tell: Callable[[float], None] | None = None,
) -> Comparison:
    """Replay a session under each policy, or under one; None takes every known policy.

    `ledger` is by default calibrated to the sizes that the session's provider reported; `window` (tokens) and
    `price` replace those of its model. Raises the errors of `replay`.

    About a hundred times for each policy the `tell` callback is called with the completed share, from 0 to 1.
    An error that it raises (`Stopped`) ends the comparison.

    >>> from inspector import open_demo
    >>> runs = compare_policies(open_demo(), ["flue", "keep-recent-turns"])
    >>> [run.policy.name for run in runs], len(runs.table())
    (['flue', 'keep-recent-turns'], 2)
    """
    expect("compare_policies", session=(session, Session), ledger=(ledger, Ledger, None))
    expect("compare_policies", price=(price, Price, None), tell=(tell, Callable, None))
    if isinstance(policies, str | Policy | dict):
        policies = [policies]
    if policies is not None:
        expect("compare_policies", policies=(policies, list, tuple))
    chosen = list(list_policies() if policies is None else policies)
    first = 1 if ledger is None else 0
    parts = first + len(chosen)
    with show_progress("compare policies", tell) as tell:
        if ledger is None:
            ledger = count_tokens(session, "calibrated", tell_part(tell, 0, parts))
        history = trace_history(session, ledger)
        model_price = find_price(model_of(session))
        price, note = (model_price.price, model_price.note) if price is None else (price, price.note)
        rows = []
        for done, policy in enumerate(chosen, first):
            say = tell_part(tell, done, parts)
            run = replay(session, policy, scenario, ledger=ledger, window=window, history=history, tell=say)
            rows.append(Compared(run, price_run(run, price)))
    return Comparison(session, tuple(rows), price_session(session), note)


def price_run(run: Run, price: Price | None) -> Bill:
    """Return the bill of the replayed requests, with the calls that wrote summaries."""
    calls = [
        SummaryCall(item.step, item.asked, item.written, calls=item.calls)
        for item in run.compactions
        if item.calls
    ]
    return price_steps(run.sent, run.cached, run.output, price, summaries=calls)


def _row(row: Compared) -> dict[str, Any]:
    run, bill = row
    sent = int(run.sent.sum())
    done = run.adopted
    return {
        "policy": run.policy.name,
        "compactions": len(done),
        "first_turn": done[0].turn + 1 if done else None,
        "fullest": run.peak,
        "at_end": int(run.context[-1]) if len(run) else 0,
        "sent": sent,
        "cached": int(run.cached.sum()) / sent if sent else 0.0,
        "summariser_calls": sum(item.calls for item in run.compactions),
        "cost": bill.cost.total if bill.cost is not None and bill.prices else None,
        "currency": bill.currency,
        "status": run.status,
        "findings": [finding.sentence for finding in run.findings],
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    money = "?" if row["cost"] is None else f"{row['currency']} {row['cost']:,.2f}"
    ended = "" if row["status"] == "finished" else f" ({row['status']})"
    return (
        row["policy"] + ended,
        str(row["compactions"]),
        "" if row["first_turn"] is None else str(row["first_turn"]),
        f"{row['fullest']:,}",
        f"{row['at_end']:,}",
        f"{row['sent']:,}",
        f"{row['cached']:.0%}",
        money,
    )
