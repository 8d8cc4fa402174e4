"""The cost of a session by the usage in its file: the lines of its bill, for the whole session.

The input is a ledger; the result is a payload. Unknown values are rows without a number.
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
"""Name for the counter of streamed replies while the ledger is an estimate."""
_BILLS: Memo[Bill] = Memo()


class BillRow(Payload, frozen=True):
    """A line of the bill: number of requests, their tokens and cost; None if unknown or without a price."""

    name: str
    calls: int
    tokens: int | None
    money: float | None


class BillPayload(Payload, frozen=True):
    """The lines of the bill, the total of the known costs, and notes on prices and assumptions.

    `total` is None without a known cost; `rows` is empty if there are no replies.
    """

    currency: str
    total: float | None
    whole: bool
    rows: list[BillRow]
    notes: list[str]


def describe_bill(ledger: Ledger) -> BillPayload:
    """Return the bill of the ledger's session, computed once."""
    bill = find_bill(ledger)
    rows = [BillRow(*line) for line in bill.lines]
    total = None if bill.cost is None else bill.cost.total
    return BillPayload(bill.currency, total, not bill.has_unknown, rows, list(bill.notes) if rows else [])


def find_bill(ledger: Ledger) -> Bill:
    """Return the bill of the ledger's session with a row for each request, computed once."""
    return _BILLS.of(ledger, lambda: _price(ledger))


def _price(ledger: Ledger) -> Bill:
    # With an estimated ledger the bill is an estimate too: exact counts need the tokenizer's tables.
    counter = QUICK if ledger.base is ESTIMATE else SNAPSHOTS
    return price_spent(
        ledger.session,
        find_spent(ledger.session, "5m", counter, counts=ledger.words_by(find_counter(counter))),
    )
