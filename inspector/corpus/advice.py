"""Which policy to take on these sessions: the one that keeps most of the facts in so many tokens.

In go the policies of a scan with what each kept of every session, out comes one with those that cannot be
told apart from it, and with how much more it keeps than the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..text import join_words, plural, printed
from .resample import Interval, Shares, resample_difference


class Candidate(NamedTuple):
    """A policy: the share of the tokens it leaves, the facts it keeps, and the same by session."""

    policy: str
    left: float
    kept: float
    shares: Shares


class Advice(NamedTuple):
    """The policy that keeps most in at most `budget` of the tokens, and how it stands to the others.

    `alike` are those of which it cannot be said on these sessions that they keep less: the 95 % interval of
    the difference, by session, holds 0. `worse` are the others that fit, each with how much less it keeps,
    `too_large` those that leave more tokens.

    >>> alike = {"codex": Interval(0.02, -0.03, 0.07)}
    >>> found = Advice("flue", 0.25, 0.2, 0.85, sessions=12, alike=alike, worse={}, too_large=())
    >>> print(found)
    In at most 25% of the tokens, flue keeps most: 85% of the facts in 20%, over 12 sessions. On these
    sessions it cannot be told apart from codex.
    """

    policy: str
    budget: float
    left: float
    kept: float
    sessions: int
    alike: dict[str, Interval]
    worse: dict[str, Interval]
    too_large: tuple[str, ...]

    @printed
    def __str__(self) -> str:
        told = (
            f"In at most {self.budget:.0%} of the tokens, {self.policy} keeps most: {self.kept:.0%} of the "
            f"facts in {self.left:.0%}, over {plural(self.sessions, 'session')}."
        )
        if self.alike:
            told += f" On these sessions it cannot be told apart from {join_words([*self.alike])}."
        if self.worse:
            nearest = min(self.worse, key=lambda name: self.worse[name].share or 0.0)
            less = self.worse[nearest]
            sure = "" if less.low is None or less.high is None else f" ({less.low:.0%} to {less.high:.0%})"
            told += f" It keeps {less.share:.0%}{sure} more than {nearest}, the next."
        return told


def choose_policy(candidates: Sequence[Candidate], budget: float) -> Advice | None:
    """The advice for a budget, a share of the tokens; None where no policy is that brief.

    >>> one = Candidate("a", 0.2, 0.85, {"x": (9, 10), "y": (8, 10)})
    >>> other = Candidate("b", 0.2, 0.55, {"x": (5, 10), "y": (6, 10)})
    >>> found = choose_policy([other, one], 0.25)
    >>> found.policy, str(found.worse["b"]), choose_policy([one], 0.1)
    ('a', '30% (20%–40%)', None)
    """
    fitting = [one for one in candidates if one.left <= budget]
    if not fitting:
        return None
    best = max(fitting, key=lambda one: (one.kept, -one.left, one.policy))
    differences = {
        one.policy: resample_difference(best.shares, one.shares) for one in fitting if one is not best
    }
    worse = {name: found for name, found in differences.items() if found.low is not None and found.low > 0}
    return Advice(
        policy=best.policy,
        budget=budget,
        left=best.left,
        kept=best.kept,
        sessions=sum(1 for _, whole in best.shares.values() if whole),
        alike={name: found for name, found in differences.items() if name not in worse},
        worse=worse,
        too_large=tuple(one.policy for one in candidates if one.left > budget),
    )
