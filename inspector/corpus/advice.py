"""Choose the policy that keeps most facts within a budget of tokens.

The input is the policies of a scan with the facts that each kept in every session. The advice names the best
policy, those that cannot be distinguished from it, and how much more it keeps than the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..policies.paste import HarnessSetting, read_swept, write_setting
from ..text import join_words, plural, printed
from .resample import Interval, Shares, resample_difference

Candidate = tuple[str, float, float, Shares]
"""A policy: its name, the share of the tokens it leaves, the share of facts it keeps, and facts kept by
session."""


class Advice(NamedTuple):
    """The policy that keeps most facts in at most `budget` of the tokens, compared with the others.

    For the policies in `alike`, the 95 % interval of the difference, by session, contains 0. `worse` are the
    other policies within the budget, with the difference.

    >>> alike = {"codex": Interval(0.02, -0.03, 0.07)}
    >>> found = Advice("flue", 0.25, 0.2, 0.85, sessions=12, alike=alike, worse={})
    >>> print(found)
    At ≤ 25% of the tokens, flue keeps the most facts: 85% in 20% of the tokens, over 12 sessions. These
    sessions do not distinguish it from codex.
    """

    policy: str
    budget: float
    left: float
    kept: float
    sessions: int
    alike: dict[str, Interval]
    worse: dict[str, Interval]

    @property
    def setting(self) -> HarnessSetting | None:
        """The harness's own setting, to paste, for the settings of a policy that a sweep made; None if the
        harness has a name for none of them.

        >>> swept = Advice("codex[trigger.tokens=90000]", 0.25, 0.2, 0.85, 12, {}, {})
        >>> swept.setting.text, swept.setting.where
        ('model_auto_compact_token_limit = 90000', 'config.toml')
        """
        return write_setting(*read_swept(self.policy))

    @printed
    def __str__(self) -> str:
        sentence = (
            f"At ≤ {self.budget:.0%} of the tokens, {self.policy} keeps the most facts: {self.kept:.0%} in "
            f"{self.left:.0%} of the tokens, over {plural(self.sessions, 'session')}."
        )
        if self.alike:
            sentence += f" These sessions do not distinguish it from {join_words([*self.alike])}."
        if self.worse:
            nearest = min(self.worse, key=lambda name: self.worse[name].share or 0.0)
            less = self.worse[nearest]
            sure = "" if less.low is None or less.high is None else f" ({less.low:.0%} to {less.high:.0%})"
            sentence += f" It keeps {less.share:.0%}{sure} more than {nearest}, the next best."
        if self.setting is not None:
            sentence += f" As the harness's setting ({self.setting.where}): {self.setting.text}."
        return sentence


def choose_policy(candidates: Sequence[Candidate], budget: float) -> Advice | None:
    """Return the advice for a budget (a share of the tokens); None if no policy fits.

    >>> one = "a", 0.2, 0.85, {"x": (9, 10), "y": (8, 10)}
    >>> other = "b", 0.2, 0.55, {"x": (5, 10), "y": (6, 10)}
    >>> found = choose_policy([other, one], 0.25)
    >>> found.policy, str(found.worse["b"]), choose_policy([one], 0.1)
    ('a', '30% (20%–40%)', None)
    """
    fitting = [candidate for candidate in candidates if candidate[1] <= budget]
    if not fitting:
        return None
    policy, size, share, shares = max(
        fitting, key=lambda candidate: (candidate[2], -candidate[1], candidate[0])
    )
    differences = {
        name: resample_difference(shares, others) for name, _, _, others in fitting if name != policy
    }
    worse = {name: more for name, more in differences.items() if more.low is not None and more.low > 0}
    return Advice(
        policy=policy,
        budget=budget,
        left=size,
        kept=share,
        sessions=sum(1 for _, whole in shares.values() if whole),
        alike={name: more for name, more in differences.items() if name not in worse},
        worse=worse,
    )
