"""Why a fact is where it is, as a value: what became of it, when, on whose word, and what for.

One sentence stands for each thing; `Explanation.paragraph` puts them in a row. `explain.py` finds them.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from ..redaction.cut import cut_text
from ..session.blocks import BlockRef

CauseCode = Literal[
    "gone before",
    "summary is silent",
    "summary unreadable",
    "only changed files",
    "no list of files",
    "list missed it",
    "never changed",
    "said once",
    "output cleared",
    "subject still named",
    "taken by a rule",
    "cut",
    "placeholder",
    "carried on",
    "replaced",
]
"""What a cause is; a code never changes its meaning."""


class NearWords(NamedTuple):
    """A sentence of what is left that comes nearest to a fact: `sentence`, the `words` in it that are the
    fact's, and what they are of it (`how`: its name without the ending, its folder, its subject …)."""

    sentence: str
    words: str
    how: str


class Cause(NamedTuple):
    """One reason: its code, its sentence, and the block or summary that shows it."""

    code: CauseCode
    sentence: str
    ref: BlockRef | None = None


class Explanation(NamedTuple):
    """What became of a fact and why.

    `what` is its outcome, `when` the compaction or plan that decided it, `word` on whose word that is known
    (the `outcome` and `tier` of a `TracedFact`).
    `first` and `last` say where it was named before; `outcome` is the same in a sentence, `because` are the
    causes, the strongest first, and `nearest` what comes nearest to it in what is left.
    """

    what: str
    when: str
    word: str
    first: str
    last: str
    outcome: str
    because: tuple[Cause, ...] = ()
    nearest: tuple[NearWords, ...] = ()

    @property
    def paragraph(self) -> str:
        """The explanation in sentences, on one line."""
        nearest = [
            f'The nearest words there: "{cut_text(near.sentence, 200)}" ({near.how} {near.words}).'
            for near in self.nearest[:1]
        ]
        causes = [cause.sentence for cause in self.because]
        return " ".join(filter(None, [self.first, self.last, self.outcome, *causes, *nearest]))
