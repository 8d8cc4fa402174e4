"""What a provider would refuse in a context before a plan and after it: a plan adds nothing."""

from __future__ import annotations

from inspector.planning.context import Context
from inspector.planning.plan import Plan
from inspector.wire.checks import check_context
from inspector.wire.render import render_request

OPENING = {"no_message", "first_not_user"}


def find_rules(context: Context) -> set[str]:
    """The rules that a context breaks, before the user's next words."""
    return {fault.rule for fault in check_context(context, awaits_user=True)}


def check_opening(context: Context, broken: set[str]) -> None:
    """`no_message` exactly where no message is left, `first_not_user` exactly where another opens."""
    messages = render_request(context).request["messages"]
    assert ("no_message" in broken) == (messages == [])
    assert ("first_not_user" in broken) == (messages != [] and messages[0]["role"] != "user")


def check_adds_none(before: Context, after: Context, plan: Plan, *own: str) -> None:
    """Only what was refused before is refused after, but for `own`, which the session may bring with it.

    A conversation that no user began could not be sent to begin with, and one in which only the harness
    spoke as the user holds no words of theirs: a rule that begins at a user's words may leave nothing of
    either, and the plan says so. Of any other, a message always stays.
    """
    had, has = find_rules(before), find_rules(after)
    check_opening(before, had)
    check_opening(after, has)
    spoken = any(
        plan.session.entries[i].role == "user" and not plan.session.entries[i].meta
        for i in plan.table.live.entries.tolist()
    )
    if "no_message" in has:
        assert had & OPENING or not spoken
        assert had & OPENING or any("Nothing is left to send" in note for note in plan.notes)
    assert has - {"no_message"} <= had | set(own)
