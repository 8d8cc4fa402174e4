"""Find paths, ids, numbers and quotations in a summary that are not in the summarised texts.

Takes a summary and the texts it was written from, and returns the lines with words that none of them holds.
It checks string presence, not truth: a computed sum is listed too, and a false sentence made of known names
is not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import groupby
from typing import Literal, NamedTuple

from ..formats.summary_wording import blank_frame
from ..planning.plan import Plan
from ..redaction.cut import cut_text
from ..session.queries import find_parent, readable_text
from ..session.session import Session
from ..session.toolcalls.canonical_path import canonical_path, names
from ..session.toolcalls.looks_like_path import is_package, joins_names, looks_like_path
from ..session.tree import COMPACTION
from ..text import has_words
from .extract.typed import blank_encoded
from .mentions import SearchText, find_runs
from .remaining import TextIndex, stand_live

What = Literal["path", "id", "number", "quote", "user"]
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_ID = re.compile(r"\b(?=[0-9a-f-]*\d)(?=[0-9a-f-]*[a-f])[0-9a-f]{7,64}\b|#\d{2,9}\b")
_QUOTE = re.compile(r'(?<![^\s(:])"(\w[^"\n]{7,400})"|“([^”\n]{8,400})”')
_ORDINAL = re.compile(
    r"^\s*(?:[#>*]+\s*)*(?:(?:[A-Z]{2,}|Summary|Phase|Step|Task|Part|Section|Item|Turn|Round|Stage)\s+)?"
    r"\d{1,3}[.):]\**(?:\s+|$)"
)
"""The number of a heading or of an item: it counts the lines of the summary."""
# In a folder any suffix but one that code has behind a dot ("transport/client.Fetch"); alone, a known one.
_FILE = re.compile(r"/[\w-][\w.-]*\.(?:[a-z0-9]\w{0,9}|[A-Z]{1,5})$")
_USER = re.compile(r"\b(?:user|asked|said|wants?|told|requested)\b", re.IGNORECASE)
_CUT = re.compile(r"\[?(?:\.\.\.|…)\]?|\[[^\]\n]{1,200}\]|(?<=[.!?])\s+(?=[A-Z])")
"""What separates the parts of a quote: an omission, a note in brackets, the end of a sentence."""
_WORD = re.compile(r"\w+")
# Forms of the number of an issue or a pull request without "#": in its address, after its kind, in JSON.
_ISSUE = re.compile(
    r"(?:/(?:pull|pulls|issues|discussions|merge_requests)/|\b(?:PR|MR|pr|issue|Issue|pull request)s? #?|"
    r'\b(?:pr|issue) (?:view|checkout|diff|edit|comment|merge) |\\?"number\\?": ?)(\d{1,9})\b'
)
_COMPACT = "<command-name>/compact</command-name>"
_LONG = 3
"""Words a quote has at least; shorter ones are names in quotation marks."""


class UngroundedLine(NamedTuple):
    """A line of a summary (from 1) and the words in it that nothing before it says.

    `what` is a path, an id, a number, a quote, or "user" for a user's quote that only the model said.
    """

    line: int
    text: str
    what: What
    words: str

    @property
    def sentence(self) -> str:
        """The finding in words."""
        words = cut_text(self.words, 120)
        if self.what == "user":
            return f'Line {self.line} gives the user the words "{words}"; only the model said them.'
        return f"Line {self.line} names the {self.what} {words}; nothing in what it summarises does."


_AMOUNTS = re.compile(r"\d[\w.]*(?:/\d[\w.]*)+")
"""Amounts with a bar between them, which are no path: "0.7h/0.3h"."""


class Sources:
    """Texts that a summary was written from, ready to be asked; `model` are those that the model wrote.

    `own` is the id of the session, after which its file is named.
    """

    def __init__(self, texts: Iterable[str], model: Iterable[str] = (), own: str = "") -> None:
        self.texts, self.model, self.own = list(texts), list(model), own
        self.every = [*self.texts, *self.model]
        self._looked_up: dict[str, bool] = {}

    @cached_property
    def quotable(self) -> str:
        """Every word in order, without the characters between them."""
        return _words(self.every)

    @cached_property
    def others(self) -> str:
        """The same of what the model did not write itself."""
        return _words(self.texts)

    @cached_property
    def flat(self) -> str:
        return _flat(self.every)

    @cached_property
    def index(self) -> TextIndex:
        """The same by the paths in them."""
        index = TextIndex()
        for number, text in enumerate(self.every):
            index.add(number, SearchText(text), (), set(find_runs(text, both=True)))
        return index

    @cached_property
    def numbers(self) -> set[str]:
        return {form for text in self.every for number in _NUMBER.findall(text) for form in _forms(number)}

    @cached_property
    def issues(self) -> frozenset[str]:
        """Numbers of issues and pull requests that are written without "#"."""
        return frozenset(number for text in self.every for number in _ISSUE.findall(text))

    def has_id(self, name: str) -> bool:
        """Whether this commit or issue was named."""
        if name.startswith("#") and name[1:] in self.issues:
            return True
        return name == self.own or self.has_words(name)

    def has_words(self, words: str) -> bool:
        """Whether any source holds these words; the result is cached."""
        if words not in self._looked_up:
            self._looked_up[words] = has_words(self.flat, words)
        return self._looked_up[words]

    def has_path(self, path: str) -> bool:
        """Whether this path, or one that ends with it, or in it from its second part on, was named.

        The file of the session itself always counts as named: a harness gives its path to the model.
        """
        if self.own and path.rpartition("/")[2].startswith(f"{self.own}."):
            return True
        runs = self.index.runs.get(path.rpartition("/")[2], {})
        return any(
            run == path or run.endswith("/" + path) or ("/" in run and path.endswith("/" + run.lstrip("/")))
            for run in runs
        )

    def has_ending(self, name: str) -> bool:
        """Whether a file was named whose name ends in this one: `keys.go` of `manual_keys.go`."""
        return "/" not in name and any(run.endswith((f"_{name}", f"-{name}")) for run in self.index.runs)


def _flat(texts: Iterable[str]) -> str:
    return " ".join(" ".join(text.replace("\\n", " ").replace('\\"', '"').split()) for text in texts)


def _words(texts: Iterable[str]) -> str:
    words = _WORD.findall(_flat(texts).casefold())
    return f" {' '.join(word for word, _ in groupby(words))} "  # who quotes leaves out the second "the"


def _forms(number: str) -> set[str]:
    """A number unchanged, without its thousands separators, and with points instead of them."""
    return {number, number.replace(",", ""), number.replace(",", ".")}


def check_grounding(summary: str, sources: Sources) -> tuple[UngroundedLine, ...]:
    """Find the words in each line of a summary that are in none of its sources.

    >>> sources = Sources(["I fixed src/a.py; 12 passed."])
    >>> check_grounding("Fixed src/b.py, 12 tests pass.", sources)[0].sentence
    'Line 1 names the path src/b.py; nothing in what it summarises does.'
    """
    lines: dict[tuple[int, str], UngroundedLine] = {}
    for number, line in enumerate(summary.split("\n"), 1):
        for what, words in _check_line(_ORDINAL.sub("", line), sources):
            lines.setdefault((number, words), UngroundedLine(number, line, what, words))
    return tuple(lines.values())


def _check_line(line: str, sources: Sources) -> Iterator[tuple[What, str]]:
    rest = line = blank_encoded(line)
    for match in _QUOTE.finditer(line):
        for quote in _CUT.split(match[1] or match[2]):
            words = _words([quote])
            if len(words.split()) < _LONG:
                continue
            if not _has_quote(words, sources.quotable):
                yield "quote", " ".join(quote.split())
            elif _USER.search(line) and not _has_quote(words, sources.others):
                yield "user", " ".join(quote.split())
    for run in dict.fromkeys(find_runs(line)):
        if (
            len(run) > 3
            and _is_file(run)
            and not run.startswith(("http:", "https:"))
            and not (_NUMBER.fullmatch(run) or _AMOUNTS.fullmatch(run))
        ):
            rest, path = rest.replace(run, " "), run.lstrip("@")
            is_named = sources.has_path(path) or sources.has_words(path) or sources.has_ending(path)
            if not (is_named or sources.has_words(f"@{path}")):
                yield "path", run
    for match in _ID.finditer(rest):
        if not sources.has_id(match[0]):
            yield "id", match[0]
    rest = _ID.sub(" ", rest)
    for number in _NUMBER.findall(rest):
        if len(number.lstrip("0")) > 1 and not _forms(number) & sources.numbers:
            yield "number", number


_NEAR = 50
"""How many places are compared with a quote that share a word with it."""
_TURNING = names("no not nor never now can cannot may must t")
"""Words of which a letter more or less can turn a sentence round."""


def _has_quote(words: str, text: str) -> bool:
    """Whether a text has the words of a quote, of which one in four may be a corrected typing error; up to
    half of them if letters only changed places, or one is missing or too many.

    >>> _has_quote(" by file is too much ", " i think by file is to much ")
    True
    >>> _has_quote(" fix the bug ", " pls fix teh bug "), _has_quote(" add the texts ", " add the tests ")
    (True, False)
    """
    if words in text:
        return True
    quote, reach = words.split(), len(words) + 20
    for at, word in enumerate(quote):
        place = -1
        for _ in range(_NEAR):
            place = text.find(f" {word} ", place + 1)
            if place < 0:
                break
            before = text[max(0, place - reach) : place].split()
            other = [*before[len(before) - at :], *text[place : place + reach].split()][: len(quote)]
            if len(other) == len(quote) and _is_corrected(quote, other):
                return True
    return False


def _is_corrected(quote: list[str], other: list[str]) -> bool:
    """Whether a quote differs from other words only by typing errors that it corrects."""
    wrong = [pair for pair in zip(quote, other, strict=True) if pair[0] != pair[1]]
    worse = sum(_count_apart(*pair) > 1 for pair in wrong)
    few = 4 * worse <= len(quote) and 2 * len(wrong) <= len(quote)
    return few and all(_is_typo(*pair) for pair in wrong)


def _is_typo(word: str, other: str) -> bool:
    """Whether two words have the same letters but one or two, as "teh" and "the"."""
    if not (word + other).isalpha() or {word, other} & _TURNING:
        return False
    return _count_apart(word, other) <= min(2, len(word) // 2) and abs(len(word) - len(other)) < 2


def _count_apart(word: str, other: str) -> int:
    """Count the letters that only one of two words has, wherever they stand."""
    left, right = Counter(word), Counter(other)
    return (left - right).total() + (right - left).total()


def _is_file(run: str) -> bool:
    """Whether a run of text names a file: `fmt.Printf`, `m.includes` and `Node.js` do not."""
    if "/" not in run:
        return looks_like_path(run, ())
    named = is_package(run) or joins_names(run)
    return bool(_FILE.search(run)) and not named and not (run[0] == "/" and run.count("/") == 1)


class Grounding(NamedTuple):
    """The ungrounded lines of one recorded summary.

    `read` is False if its text is encrypted or missing. `whole` is False if not all summarised messages are
    in the file; then nothing counts as ungrounded."""

    entry: str
    read: bool
    unfounded: tuple[UngroundedLine, ...]
    whole: bool = True


def ground_recorded(session: Session) -> tuple[Grounding, ...]:
    """Check the summary of every recorded compaction on the path against the context right before it.

    >>> from inspector.demo import open_demo
    >>> [grounding.read for grounding in ground_recorded(open_demo())]
    [True]
    """
    return tuple(ground_entry(session, i) for i in session.path if session.tree.sort[i] == COMPACTION)


def ground_entry(session: Session, i: int) -> Grounding:
    """Check the summary of one recorded compaction, by the index of its entry, as `ground_recorded` does."""
    entry = session.entries[i]
    text = entry.text
    before = session.at(find_parent(session, entry))
    whole = is_whole(before)
    unfounded = check_grounding(blank_frame(text), gather_sources(before, i)) if whole else ()
    return Grounding(entry.id, bool(text), unfounded, whole)


def ground_plan(plan: Plan, text: str) -> tuple[UngroundedLine, ...]:
    """Check a text that is written for a plan against the context that the plan compacts.

    A path is also known if it is the name of a file that no text writes: `cd a && cat b.py`.

    >>> from inspector import make_plan, open_demo
    >>> plan = make_plan(open_demo(), "flue")
    >>> ground_plan(plan, "Edited src/nowhere.py.")[0].words
    'src/nowhere.py'
    """
    cwd = plan.session.cwd
    lines = check_grounding(blank_frame(text), gather_sources(plan.session))
    paths = {canonical_path(item.words, cwd) for item in lines if item.what == "path"}
    if paths:
        paths &= {canonical_path(item.fact.form, cwd) for item in plan.trace if item.fact.kind == "file"}
    return tuple(
        item for item in lines if item.what != "path" or canonical_path(item.words, cwd) not in paths
    )


_LARGE = 100_000


def is_whole(session: Session) -> bool:
    """Whether the file holds the whole context at a session's leaf.

    It does if the context begins with a summary. Otherwise its first entry must not follow or answer a
    record that is missing, and its first reply must not report a request that is far larger than what the
    file holds before it: `_LARGE` tokens or more, with at least one character per token. A system prompt
    and tools are smaller.
    """
    live = session.live.entries.tolist()
    if any(session.tree.sort[i] == COMPACTION for i in live[:1]):
        return True
    root = session.entries[session.path[0]] if session.path else None
    if root is not None and (root.role == "tool" or (root.parent or root.id) not in session.index):
        return False
    size = 0
    for i in live:
        entry = session.entries[i]
        if entry.usage is not None and entry.usage.request:
            return bool(entry.usage.request < _LARGE or size >= entry.usage.request)
        size += sum(len(block.text) for block in entry.blocks)
    return bool(live)


def gather_sources(session: Session, end: int = 0) -> Sources:
    """Collect the texts in the context at a session's leaf, including system prompt and working directory.

    The user's arguments of the compaction command are included, which Claude Code records after it, and what
    people typed in the file before the compaction, though no later row follows it: a message that the
    compaction came before is such a row.

    Args:
        session: The session before the compaction.
        end: The index of the compaction's entry.
    """
    texts = [stand.text for stand in stand_live(session).others]
    texts += [session.cwd or "", session.title or "", *_list_requested(session)]
    model: list[str] = []
    path = set(session.path)
    texts += [
        entry.text
        for i, entry in enumerate(session.entries[:end])
        if i not in path and entry.role == "user" and entry.sidechain is None
    ]
    for i in session.live.entries.tolist():
        entry = session.entries[i]
        for block in entry.blocks:
            own = entry.role == "assistant" and block.kind in ("text", "reasoning")
            (model if own else texts).append(readable_text(block))
    return Sources(texts, model, session.id)


def _list_requested(session: Session) -> Iterator[str]:
    """Yield the commands that requested the compaction after a session's leaf."""
    leaf = None if session.leaf is None else session.index.get(session.leaf)
    for i, parent in enumerate(session.tree.parent):
        following = session.tree.sort[i] == COMPACTION and parent == leaf
        for entry in session.entries[i + 1 :] if following else ():
            if entry.role == "assistant" or session.tree.sort[session.index[entry.id]] == COMPACTION:
                break
            if entry.kind == "message" and _COMPACT in entry.text:
                yield entry.text
