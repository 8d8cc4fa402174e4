"""What a session cost by the usage in its file: the lines of its bill, for all of it and not one moment.

In go a ledger, for its session; out comes a payload. What is unknown is a row without a figure.
"""

from __future__ import annotations

from ...tokens.bill import Bill
from ...tokens.cost import price_spent
from ...tokens.counters import ESTIMATE, find_counter
from ...tokens.ledger import Ledger
from ...tokens.memo import Memo
from ...tokens.spent import SNAPSHOTS, find_spent
from .base_payload import Payload

QUICK = "chars4_utf16"
"""What counts replies that streamed as long as the ledger is an estimate."""
_BILLS: Memo[Bill] = Memo()


class BillRow(Payload, frozen=True):
    """A line: how many requests, their tokens and money; null where that is not told, or has no price."""

    name: str
    calls: int
    tokens: int | None
    money: float | None


class BillPayload(Payload, frozen=True):
    """The lines, what of them is known together, and sentences on prices and on what was taken for what.

    `total` is None if nothing is known; `rows` is empty if there are no replies.
    """

    currency: str
    total: float | None
    whole: bool
    rows: list[BillRow]
    notes: list[str]


def describe_bill(ledger: Ledger) -> BillPayload:
    """The bill of the ledger's session, worked out once."""
    bill = _BILLS.of(ledger, lambda: _price(ledger))
    rows = [BillRow(*line) for line in bill.lines]
    total = None if bill.cost is None else bill.cost.total
    return BillPayload(bill.currency, total, not bill.has_unknown, rows, list(bill.notes) if rows else [])


def _price(ledger: Ledger) -> Bill:
    # By an estimate first where all is: an exact count takes the tables of tokens, and comes with its ledger.
    counter = QUICK if ledger.base is ESTIMATE else SNAPSHOTS
    return price_spent(
        ledger.session,
        find_spent(ledger.session, "5m", counter, known=ledger.words_by(find_counter(counter))),
    )
