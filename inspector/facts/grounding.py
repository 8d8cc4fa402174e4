"""What a summary says that nothing it summarises says: paths, ids, numbers, quotes.

In go a summary and the texts it was written from, out come the lines that name what is in none of them. It is
string presence, not truth: a sum that the summary worked out is named too, and a false sentence made of known
names is not. Messages that a user queues while the model works (Claude Code's `queue-operation` rows) count
where the session has their words in `extra["queued"]`. One read by an older version of this package has not:
a quote of such a message is named although it was said, and its sentence says that this may be.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Literal, NamedTuple

from ..redaction.cut import cut_text
from ..session.queries import find_parent, readable_text
from ..session.session import Session
from ..session.toolcalls.path_syntax import is_package, looks_like_path
from ..session.tree import COMPACTION
from ..text import has_words
from .mentions import SearchText, find_runs
from .remaining import TextIndex, stand_live

What = Literal["path", "id", "number", "quote", "user"]
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_ID = re.compile(r"\b(?=[0-9a-f-]*\d)(?=[0-9a-f-]*[a-f])[0-9a-f]{7,64}\b|#\d{2,9}\b")
_QUOTE = re.compile(r'(?<![^\s(:])"(\w[^"\n]{7,400})"|“([^”\n]{8,400})”')
_ORDINAL = re.compile(r"^\s*(?:#+\s*)?\d{1,3}[.)]\s+")
# In a folder any suffix but one that code has behind a dot ("transport/client.Fetch"); alone, a known one.
_FILE = re.compile(r"/[\w-][\w.-]*\.(?:[a-z0-9]\w{0,9}|[A-Z]{1,5})$")
_USER = re.compile(r"\b(?:user|asked|said|wants?|told|requested)\b", re.IGNORECASE)
_CUT = re.compile(r"\[?(?:\.\.\.|…)\]?|\[[^\]\n]{1,200}\]")
_WORD = re.compile(r"\w+")
# Where the number of an issue or a pull request stands without "#": in its address, after its kind, in JSON.
_ISSUE = re.compile(
    r"(?:/(?:pull|pulls|issues|discussions|merge_requests)/|\b(?:PR|MR|pr|issue|Issue|pull request)s? #?|"
    r'\b(?:pr|issue) (?:view|checkout|diff|edit|comment|merge) |\\?"number\\?": ?)(\d{1,9})\b'
)
_COMPACT = "<command-name>/compact</command-name>"
_QUEUED = "queue-operation"
_LONG = 3
"""Words a quote has at least; shorter ones are names in quotation marks."""


class UngroundedLine(NamedTuple):
    """A line of a summary (from 1) and the words in it that nothing before it says.

    `what` is a path, an id, a number, a quote, or "user" for a user's quote that only the model said.
    `unread` tells of a quote that messages were queued there whose words the session does not hold.
    """

    line: int
    text: str
    what: What
    words: str
    unread: bool = False

    @property
    def sentence(self) -> str:
        """The finding in words."""
        words = cut_text(self.words, 120)
        if self.what == "user":
            return f'Line {self.line} gives the user the words "{words}"; only the model said them.'
        maybe = " Messages queued there are not read." if self.unread else ""
        return f"Line {self.line} names the {self.what} {words}; nothing it summarises does.{maybe}"


class Sources:
    """Texts that a summary was written from, ready to be asked; `model` are those that the model wrote.

    `own` is the id of the session, after which its file is named; `unread` whether messages of a user are
    missing.
    """

    def __init__(
        self, texts: Iterable[str], model: Iterable[str] = (), own: str = "", unread: bool = False
    ) -> None:
        self.texts, self.model = list(texts), list(model)
        self.own, self.unread = own, unread
        self.every = [*self.texts, *self.model]
        self._looked_up: dict[str, bool] = {}

    @cached_property
    def quotable(self) -> str:
        """Every word in order, without what stands between them."""
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
        """Whether these words stand in any of them; however often it is asked, they are searched once."""
        if words not in self._looked_up:
            self._looked_up[words] = has_words(self.flat, words)
        return self._looked_up[words]

    def has_path(self, path: str) -> bool:
        """Whether this path, or one that ends with it, or in it from its second part on, was named.

        The file of the session itself always is: a harness tells the model where it stands.
        """
        if self.own and path.rpartition("/")[2].startswith(f"{self.own}."):
            return True
        known = self.index.runs.get(path.rpartition("/")[2], {})
        return any(
            run == path or run.endswith("/" + path) or ("/" in run and path.endswith("/" + run.lstrip("/")))
            for run in known
        )

    def has_ending(self, name: str) -> bool:
        """Whether a file was named whose name ends in this one: `keys.go` of `manual_keys.go`."""
        return "/" not in name and any(known.endswith((f"_{name}", f"-{name}")) for known in self.index.runs)


def _flat(texts: Iterable[str]) -> str:
    return " ".join(" ".join(text.replace("\\n", " ").replace('\\"', '"').split()) for text in texts)


def _words(texts: Iterable[str]) -> str:
    return f" {' '.join(_WORD.findall(_flat(texts).casefold()))} "


def _forms(number: str) -> set[str]:
    """A number as it stands, and without its thousands separators or with a point in their place."""
    return {number, number.replace(",", ""), number.replace(",", ".")}


def check_grounding(summary: str, sources: Sources) -> tuple[UngroundedLine, ...]:
    """What each line of a summary names that is nowhere in its sources.

    >>> sources = Sources(["I fixed src/a.py; 12 passed."])
    >>> check_grounding("Fixed src/b.py, 12 tests pass.", sources)[0].sentence
    'Line 1 names the path src/b.py; nothing it summarises does.'
    """
    found: dict[tuple[int, str], UngroundedLine] = {}
    for number, line in enumerate(summary.split("\n"), 1):
        for what, words in _check_line(_ORDINAL.sub("", line), sources):
            unread = sources.unread and what in ("quote", "user")
            found.setdefault((number, words), UngroundedLine(number, line, what, words, unread))
    return tuple(found.values())


def _check_line(line: str, sources: Sources) -> Iterator[tuple[What, str]]:
    rest = line
    for match in _QUOTE.finditer(line):
        for quote in _CUT.split(match[1] or match[2]):
            words = _words([quote])
            if len(words.split()) < _LONG:
                continue
            if words not in sources.quotable:
                yield "quote", " ".join(quote.split())
            elif _USER.search(line) and words not in sources.others:
                yield "user", " ".join(quote.split())
    for run in dict.fromkeys(find_runs(line)):
        if (
            len(run) > 3
            and _is_file(run)
            and not run.startswith(("http:", "https:"))
            and not _NUMBER.fullmatch(run)
        ):
            rest = rest.replace(run, " ")
            if not (sources.has_path(run) or sources.has_words(run) or sources.has_ending(run)):
                yield "path", run
    for match in _ID.finditer(rest):
        if not sources.has_id(match[0]):
            yield "id", match[0]
    rest = _ID.sub(" ", rest)
    for number in _NUMBER.findall(rest):
        if len(number) > 1 and not _forms(number) & sources.numbers:
            yield "number", number


def _is_file(run: str) -> bool:
    """Whether a run of text names a file: `fmt.Printf`, `m.includes` and `Node.js` do not."""
    if "/" not in run:
        return looks_like_path(run, ())
    return bool(_FILE.search(run)) and not is_package(run) and not (run[0] == "/" and run.count("/") == 1)


class Grounding(NamedTuple):
    """What one recorded summary says without ground. `read` is False where its text is sealed or missing;
    `whole` where what it summarises is not all in the file, which makes nothing without ground."""

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
    out = []
    for i in session.path:
        if session.tree.sort[i] != COMPACTION:
            continue
        entry = session.entries[i]
        text = entry.text
        before = session.at(find_parent(session, entry))
        whole = is_whole(before)
        unfounded = check_grounding(text, gather_sources(before)) if whole else ()
        out.append(Grounding(entry.id, bool(text), unfounded, whole))
    return tuple(out)


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


def gather_sources(session: Session) -> Sources:
    """Collect the texts in the context at a session's leaf, including system prompt and working directory.

    The user's arguments of the compaction command are included, which Claude Code records after it.
    """
    texts = [stand.text for stand in stand_live(session).others]
    texts += [session.cwd or "", session.title or "", *_asked(session), *_queued(session)]
    model: list[str] = []
    for i in session.live.entries.tolist():
        entry = session.entries[i]
        for block in entry.blocks:
            own = entry.role == "assistant" and block.kind in ("text", "reasoning")
            (model if own else texts).append(readable_text(block))
    return Sources(texts, model, session.id, _has_queue(session))


def _following(session: Session) -> Iterator[int]:
    """Yield the positions of the recorded compactions that directly follow a session's leaf."""
    leaf = None if session.leaf is None else session.index.get(session.leaf)
    for i, parent in enumerate(session.tree.parent):
        if session.tree.sort[i] == COMPACTION and parent == leaf:
            yield i


def _asked(session: Session) -> Iterator[str]:
    """Yield the commands that requested the compaction after a session's leaf."""
    for i in _following(session):
        for entry in session.entries[i + 1 :]:
            if entry.role == "assistant" or session.tree.sort[session.index[entry.id]] == COMPACTION:
                break
            if entry.kind == "message" and _COMPACT in entry.text:
                yield entry.text


def _queued(session: Session) -> Iterator[str]:
    """What was queued between the compaction before a session's leaf and the next."""
    queued = session.extra.get("queued")
    for item in queued if isinstance(queued, list) else ():
        if isinstance(item, dict) and isinstance(text := item.get("text"), str):
            line = item.get("line")
            if not isinstance(line, int) or _is_there(session, line):
                yield text


def _has_queue(session: Session) -> bool:
    """Whether the file holds queued messages there whose words were not read."""
    if "queued" in session.extra:
        return False
    return any(_is_there(session, note.source.line) for note in session.notes if note.type == _QUEUED)


def _is_there(session: Session, line: int) -> bool:
    """Whether a line of the file lies between the compaction before a session's leaf and the next."""
    past = [i for i in session.path if session.tree.sort[i] == COMPACTION][-1:]
    first = max((source.line for i in past for source in session.entries[i].sources), default=0)
    ends = (source.line for i in _following(session) for source in session.entries[i].sources)
    return first < line < min(ends, default=line + 1)
