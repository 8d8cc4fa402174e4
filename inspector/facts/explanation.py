"""The outcome of a fact and its causes, as values: the evidence, the causes and the sentences.

`evidence.py` and `explain.py` find them; `Explanation.paragraph` joins the sentences.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, NamedTuple

from ..redaction.cut import cut_line
from ..session.blocks import BlockRef
from ..text import plural
from .wording import WrittenSentence

CauseCode = Literal[
    "summary is silent",
    "no list of files",
    "list missed it",
    "never changed",
    "said once",
    "output cleared",
    "taken by a rule",
    "cut",
    "placeholder",
]
"""The kinds of causes; a code never changes its meaning."""


class Cause(NamedTuple):
    """One reason.

    Attributes:
        code: The kind of cause.
        sentence: The reason in a sentence.
        ref: The block or summary that shows it.
        params: The values in the sentence, by name.
    """

    code: CauseCode
    sentence: str
    ref: BlockRef | None = None
    params: Mapping[str, str] = {}


class WordSpan(NamedTuple):
    """A span of a passage's text."""

    start: int
    end: int


class Passage(NamedTuple):
    """Words in their surroundings.

    Attributes:
        ref: The block, or the summary.
        turn: The turn of the block, from 1; 0 outside the turns.
        speaker: The speaker of the block, or "summary", "notice", "pointer".
        text: The words with their surroundings.
        core: The words themselves.
        operation: What was done there to a file or a command; "" if it is only named.
        same: The words that both passages have.
        differs: The value or words that differ.
    """

    ref: BlockRef
    turn: int
    speaker: str
    text: str
    core: WordSpan
    operation: str = ""
    same: tuple[WordSpan, ...] = ()
    differs: tuple[WordSpan, ...] = ()

    def cut(self, spans: Iterable[WordSpan]) -> list[str]:
        """Return the words of some spans."""
        return [self.text[start:end] for start, end in spans]

    @property
    def words(self) -> str:
        """The words themselves, on one line."""
        return " ".join(self.text[self.core.start : self.core.end].split())


class Evidence(NamedTuple):
    """Both sides of an outcome.

    Attributes:
        said: The words that were said; None if no message says them.
        found: The closest words of what is left; None if nothing comes close, or if nothing can be read.
        reason: The reason for the outcome, as in `FactComparison.reason`.
        shared, wanted: How many of the fact's words the closest sentence has, and how many there are.
        searched: The searched texts, if nothing of the fact was found; else "".
    """

    said: Passage | None
    found: Passage | None
    reason: str
    shared: int = 0
    wanted: int = 0
    searched: str = ""


class Explanation(NamedTuple):
    """The outcome of a fact and its causes.

    Attributes:
        what: Its outcome.
        when: The compaction or plan that decided it.
        word: The evidence: the `tier` of a `TracedFact`.
        first, last: The first and last places that named it before.
        wording: The outcome in a sentence, with its code and parameters.
        because: The causes, the strongest first.
        evidence: The words that were said, and the closest words of what is left.
    """

    what: str
    when: str
    word: str
    first: str
    last: str
    wording: WrittenSentence
    because: tuple[Cause, ...]
    evidence: Evidence

    @property
    def outcome(self) -> str:
        """The outcome in a sentence."""
        return self.wording.sentence

    @property
    def searched(self) -> str:
        """What was searched for a fact of which nothing was found, and how close the closest sentence is."""
        evidence = self.evidence
        if not evidence.searched:
            return ""
        if evidence.found is None:
            return f"{evidence.searched} Nothing comes close."
        shared = f"{evidence.shared} of {plural(evidence.wanted, 'word')}"
        return f"{evidence.searched} The closest sentence has {shared}."

    @property
    def paragraph(self) -> str:
        """The explanation in sentences, on one line."""
        if self.wording.code == "not said":
            return self.first  # which names the nearest lines
        causes = [cause.sentence for cause in self.because]
        passage, closest = self.evidence.found, self.searched
        if closest and passage is not None:
            words = cut_line(passage.words, 200)
            closest = f"{closest[:-1]}: “{words}”" + ("" if words.endswith((".", "!", "?")) else ".")
        return " ".join(filter(None, [self.first, self.last, self.outcome, *causes, closest]))
