"""Findings of a check with stable codes, the table of codes, and the selection of codes.

A code is never given to another check, even if it is no longer used.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ...errors import EditError, expect_items
from ...faults import Fault
from ...mixins import Framed, Printable, ask
from ...session.entries import Boundary, count_recorded
from ...text import html_table, plural, printable, printed
from ..kind_words import NOUNS
from ..wording import write

if TYPE_CHECKING:
    from ...planning.plan import Plan
    from ...session.blocks import BlockRef
    from ...session.session import Session
    from ..facts import Fact
    from ..outcome_finder import Evidence
    from ..traced import Fix, TracedFact

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
REPORTS = ("text", "json", "github", "sarif")
"""How a report can be written (`report.py`)."""


class Check(NamedTuple):
    """One thing that is looked for: its code and name, and what it means.

    `sample` is a finding of it: the values of its sentence in `wording`, or the whole sentence.
    """

    code: str
    name: str
    severity: Severity
    sentence: str
    sample: dict[str, str] | str

    @property
    def example(self) -> str:
        """A finding of it as it may read."""
        return self.sample if isinstance(self.sample, str) else write(self.code, **self.sample).sentence


_PUSH, _CAP = "“Never push to main.”", "“Spend at most $500.”"
_YOU, _WHERE = "You said", "The summary"
# fmt: off
_CHANGED = write("changed", "value", who=_YOU, value="$500", when=" (turn 3)", where=_WHERE, instead="$600")
_ALLOWED = write("contradicted", "permitted", who=_YOU, said="Never push to main.", when=" (turn 1)",
    where=_WHERE, found="Pushing to main is fine.")
_EXCEPTED = write("partial", "exception", who=_YOU, said="Never push to main.", when=" (turn 1)",
    where=_WHERE, found="unless it is urgent")
_CHECKS = (
    Check("CI001", "edited file absent", "error",
        "A file that was edited, and not restored, deleted or pushed since, is named nowhere any more.",
        {"kind": "file", "form": "src/auth.py", "did": "edited", "when": "in turn 12"}),
    Check("CI002", "user's rule absent", "error",
        "A rule of the user is not stated any more.",
        {"form": _PUSH, "when": "in turn 1"}),
    Check("CI003", "open to-do absent", "warning",
        "An open item of the last to-do list, or a to-do that the user named, is said nowhere any more.",
        {"form": "“Add the changelog entry.”", "when": "in turn 9"}),
    Check("CI004", "last error absent", "warning",
        "The last error of a test, build or check that has not passed since is said nowhere any more.",
        {"form": "TypeError: missing argument", "when": "in turn 8"}),
    Check("CI005", "last result absent", "warning",
        "The test, build or check that failed last is not mentioned, and neither is its failure.",
        {"form": "pytest -q", "when": "in turn 8"}),
    Check("CI006", "created file absent", "error",
        "A file that was created is named nowhere any more.",
        {"kind": "file", "form": "src/tokens.py", "did": "created", "when": "in turn 5"}),
    Check("CI007", "ambiguous file name", "warning",
        "Only the name of a changed file is left, and another file has the same name.",
        {"words": "util.py", "form": "src/left/util.py", "other": "src/right/util.py"}),
    Check("CI008", "ungrounded summary line", "warning",
        "A line of a summary, recorded or written for a plan, names something that is nowhere in what it "
        "summarises.",
        "Line 7 names the path src/ghost.py; nothing in what it summarises does."),
    Check("CI009", "needed again", "warning",
        "Something that a recorded compaction removed was needed again and paid for once more.",
        "The file src/auth.py was read again in turn 9 after it was lost: 1,331 tokens, $0.0071."),
    Check("CI010", "decision absent", "note",
        "A decision of the model, with its reason, is not stated any more. Checked only on request.",
        {"form": "“We keep SQLite because it needs no server.”", "when": "in turn 2"}),
    Check("CI011", "summary unreadable", "note",
        "A recorded summary is encrypted or missing, so its contents are unknown.",
        "The summary of compaction e40 cannot be read; its losses are unknown."),
    Check("CI012", "nothing compacted", "error",
        "The policy fires and changes nothing, so the context stays too large.",
        "flue changes nothing at e40: There are no messages before this place, so there is nothing to "
        "compact."),
    Check("CI013", "context refused", "error",
        "A provider would refuse the context that is left, or the first request after a recorded compaction.",
        "inspect-trim leaves what a provider refuses: nothing in the previous message made the call 'c1'."),
    Check("CI014", "user's choice absent", "warning",
        "A choice of the user, in answer to a question or on their own, is not stated any more.",
        {"form": "“Let's go with SQLite.”", "when": "in turn 2"}),
    Check("CI015", "superseded value carried on", "warning",
        "A summary says a value that the user had replaced by a later one.",
        {"kind": NOUNS["number"], "form": "cap = 481", "when": "in turn 9", "value": "710"}),
    Check("CI016", "value changed", "error",
        "A summary gives another value for something that the user stated.",
        {"kind": NOUNS["constraint"], "form": _CAP, "sentence": _CHANGED.sentence}),
    Check("CI017", "rule contradicted", "error",
        "A summary allows, cancels or negates what the user asked for or stated.",
        {"kind": NOUNS["constraint"], "form": _PUSH, "sentence": _ALLOWED.sentence}),
    Check("CI018", "last request absent", "warning",
        "A sentence of the user's last message, such as an open question, is not stated any more.",
        {"kind": NOUNS["statement"], "form": "“Should the prologue go?”", "when": "in turn 9"}),
    Check("CI019", "earlier attempt absent", "warning",
        "A sentence of the user's about an earlier attempt is not stated any more.",
        {"kind": NOUNS["statement"], "form": "“I tried StatFs; it lies.”", "when": "in turn 4"}),
    Check("CI020", "address or id absent", "warning",
        "A sentence of the user's that gives an address or an id, or only these, is not stated any more.",
        {"kind": NOUNS["statement"], "form": "“See https://tracker.example/DES-118.”", "when": "in turn 5"}),
    Check("CI021", "exception added", "warning",
        "A summary adds an exception to a rule of the user's.",
        {"kind": NOUNS["constraint"], "form": _PUSH, "sentence": _EXCEPTED.sentence}),
)
# fmt: on
ASKED_FOR = frozenset({"CI010"})
"""Checks that run only if a rule names them: too many of their findings are preserved in other words."""
LINT_CODES: dict[str, Check] = {check.code: check for check in _CHECKS}
"""Every check by its code. A loss concerns what was readable before; CI012 applies to policies only."""
NOT_COMPACTED = "no compaction is recorded; a policy (policy=, --policy NAME) is checked on any session"
_PLACES = re.compile(r"\S*\d\S*")
"""A word of a sentence that may change while a session grows: a line, a turn, an id, a size."""


@dataclass(frozen=True, eq=False, repr=False)
class LintFinding(Printable):
    """A finding.

    `refs` are the blocks it concerns, the most relevant last; `fact` and `traced` are what is absent. `entry`
    is the recorded compaction, "" for a plan; `tier` is the evidence for the loss; `when` says in what turn
    the fact came, "" if that is unknown, and `at` is the block of that turn. `is_known` says that an
    earlier report has it (`LintReport.mark_known`).

    >>> finding = LintFinding("CI006", "error", "The file src/tokens.py, created in turn 5, is absent.")
    >>> finding, finding.name
    (CI006 error: The file src/tokens.py, created in turn 5, is absent., 'created file absent')
    """

    code: str
    severity: Severity
    sentence: str
    refs: tuple[BlockRef, ...] = ()
    traced: TracedFact | None = None
    tier: Evidence = "recorded"
    entry: str = ""
    plan: Plan | None = field(default=None)
    when: str = ""
    at: BlockRef | None = None
    is_known: bool = False

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the code and the fact, or of the sentence without numbers and ids if there is no fact.

        It stays the same when a session grows or its lines move.
        """
        fact = self.fact
        what = _PLACES.sub("", self.sentence) if fact is None else f"{fact.kind}\n{fact.form}"
        return sha256(f"{self.code}\n{what}".encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def fact(self) -> Fact | None:
        """The absent fact; None if the finding is not about a fact."""
        return None if self.traced is None else self.traced.fact

    @cached_property
    def fix(self) -> Fix | None:
        """The first of the fact's `fixes`, planned on first access; None without fixes."""
        fixes = () if self.traced is None or self.plan is None else self.traced.fixes(self.plan)
        return fixes[0] if fixes else None

    @property
    def name(self) -> str:
        """The name of its check."""
        return LINT_CODES[self.code].name

    @printed
    def __repr__(self) -> str:
        return f"{self.code} {self.severity}: {self.sentence}"


@dataclass(frozen=True, eq=False, repr=False)
class LintReport(Framed, Sequence[LintFinding]):
    """The findings of a check, compaction by compaction, errors first. `looked` names what was checked.

    `faults` lists what could not be checked because of an unexpected exception (`Fault`); such a report is
    incomplete. `unchecked` is the reason if there was nothing to check. `session` is the checked session.
    `unwritten` counts the essential facts that only the unwritten summary can keep: its placeholder
    may have them, but proves nothing.

    >>> from inspector import lint, read_session
    >>> session = read_session([{"role": "user", "content": "Never touch the vendor folder."},
    ...                         {"role": "assistant", "content": "All right."},
    ...                         {"role": "user", "content": "Go on."}])
    >>> rules = [{"kind": "keep-recent-turns", "turns": 1}, {"kind": "drop-older"}]
    >>> report = lint(session, {"name": "mine", "rules": rules})
    >>> report.ok
    False
    >>> report
    LintReport(mine, at m3: 1 error)
      CI002 error: The rule “Never touch the vendor folder.”, said by the user in turn 1, is absent.
    """

    findings: tuple[LintFinding, ...]
    looked: str
    faults: tuple[Fault, ...] = ()
    unchecked: str = ""
    session: Session | None = None
    unwritten: int = 0

    def __getitem__(self, index: Any) -> Any:
        return self.findings[index]

    def __len__(self) -> int:
        return len(self.findings)

    @property
    def ok(self) -> bool:
        """Whether no finding is an error, apart from known ones."""
        return not any(finding.severity == "error" and not finding.is_known for finding in self.findings)

    @property
    def exit_code(self) -> int:
        """The exit code of the command `lint`: 1 for an error, 2 if not everything could be checked, else
        0."""
        return 1 if not self.ok else 2 if self.faults else 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about the check: that nothing was checked, what an unwritten summary has to name, and how
        many rows could not be read."""
        unread = 0
        if self.session is not None:
            unread = len(self.session.corrupt) + sum(not note.known for note in self.session.notes)
        rows = plural(unread, "row of the file was", "rows of the file were")
        sentences = [f"nothing was checked: {self.unchecked}"] if self.unchecked else []
        if self.unwritten:
            facts = plural(self.unwritten, "fact")
            them = "it" if self.unwritten == 1 else "them"
            sentences.append(
                f"the summary is not written yet: {facts} would be missing unless it names {them}"
            )
        return (*sentences, *([f"{rows} not read"] if unread else []))

    def mark_known(self, fingerprints: Iterable[str]) -> LintReport:
        """Return the report with the findings of these fingerprints marked as known, so that they no longer
        count as errors. A fingerprint that occurs once marks one finding: the same loss in a later compaction
        is new.

        >>> from inspector import lint, open_demo
        >>> report = lint(open_demo(), rules="CI001")
        >>> report.ok, report.mark_known({finding.fingerprint for finding in report}).ok
        (False, True)
        """
        remaining = Counter(fingerprints)
        marked = []
        for item in self.findings:
            is_known = remaining[item.fingerprint] > 0
            remaining[item.fingerprint] -= is_known
            marked.append(replace(item, is_known=is_known))
        return replace(self, findings=tuple(marked))

    def to_sarif(self, file: str = "session") -> str:
        """Return the report as SARIF 2.1.0; `file` is the path that its results name.

        Raises `EditError` for a report that `lint` did not make.
        """
        if self.session is None:
            raise EditError("report", self.looked, "it has no session, so its results have no places")
        (text,) = ask("sarif", self, self.session, file)
        return str(text)

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings by code."""
        return dict(sorted(Counter(finding.code for finding in self.findings).items()))

    @property
    def severities(self) -> dict[str, int]:
        """The number of findings by severity, including zeros."""
        tally = Counter[str](finding.severity for finding in self.findings)
        return {severity: tally[severity] for severity in SEVERITIES}

    def select(self, *rules: str) -> LintReport:
        """Return the findings whose code the rules choose (see `choose`)."""
        chosen = choose(rules)
        return replace(self, findings=tuple(f for f in self.findings if f.code in chosen))

    def to_columns(self) -> dict[str, list[Any]]:
        """Return a row per finding."""
        return {
            "code": [finding.code for finding in self.findings],
            "severity": [finding.severity for finding in self.findings],
            "tier": [finding.tier for finding in self.findings],
            "entry": [finding.entry for finding in self.findings],
            "kind": ["" if finding.fact is None else finding.fact.kind for finding in self.findings],
            "form": ["" if finding.fact is None else finding.fact.form for finding in self.findings],
            "ref": [str(finding.refs[-1]) if finding.refs else "" for finding in self.findings],
            "sentence": [finding.sentence for finding in self.findings],
        }

    @property
    def summary(self) -> str:
        """The number of findings by severity, of known ones and faults if there are any, and the notes."""
        counts = ", ".join(f"{n:,} {name}{'s' * (n != 1)}" for name, n in self.severities.items() if n)
        faults = f"; incomplete: {plural(len(self.faults), 'fault')}" if self.faults else ""
        old = sum(finding.is_known for finding in self.findings)
        more = [f"{old:,} known"] if old else []
        if counts or not self.unchecked:
            more.insert(0, counts or "nothing found")
        return "; ".join((*more, *(note.rstrip(".") for note in self.notes))) + faults

    @printed
    def __repr__(self) -> str:
        head = f"LintReport({printable(self.looked)}: {self.summary})"
        return "\n".join([head, *(f"  {finding!r}" for finding in self.findings)])

    def _repr_html_(self) -> str:
        """Return a table of the findings for a notebook."""
        rows = [(item.code, item.severity, item.name, item.sentence) for item in self.findings]
        head = repr(self).splitlines()[0]
        return html_table(("code", "severity", "check", "what was found"), rows, around=(head, ""))


def choose(rules: str | Iterable[str] | None) -> frozenset[str]:
    """Return the codes that rules choose.

    A rule is a code or the beginning of one, or several separated by commas; "-" before one excludes it.
    None, or rules that only exclude, start from all codes except `ASKED_FOR`. Raises `EditError` for an
    unknown code.

    >>> sorted(choose("CI001,CI00,-CI008"))[-2:], len(choose("-CI007")) == len(LINT_CODES) - 2
    (['CI007', 'CI009'], True)
    >>> "CI010" in choose(None), "CI010" in choose("ALL")
    (False, True)
    """
    texts = [rules] if isinstance(rules, str) else () if rules is None else rules
    texts = expect_items("lint", "rules", texts, str)
    named = [word.strip() for words in texts for word in words.split(",") if word.strip()]
    chosen: set[str] = (
        set() if any(not word.startswith("-") for word in named) else LINT_CODES.keys() - ASKED_FOR
    )
    # Exclusions apply last, whatever their position.
    for word in sorted(named, key=lambda word: word.startswith("-")):
        begun = word.removeprefix("-").upper()
        codes = {code for code in LINT_CODES if code.startswith(begun) or begun == "ALL"}
        if not codes or not begun:
            raise EditError("rule", word, f"no such check; known: {', '.join(LINT_CODES)}")
        chosen = chosen - codes if word.startswith("-") else chosen | codes
    return frozenset(chosen)


def report_uncompacted(session: Session, rules: str | Iterable[str] | None = None) -> LintReport | None:
    """Return the empty report of a session that records no compaction, as `lint` does; else None.

    Raises `EditError` for an unknown rule.

    >>> from inspector import Session
    >>> report_uncompacted(Session(format="demo"))
    LintReport(0 recorded compactions: nothing was checked: no compaction is recorded; ...)
    """
    choose(rules)
    if session.boundaries:
        return None
    return LintReport((), tell_looked(()), unchecked=NOT_COMPACTED, session=session)


def tell_looked(boundaries: Iterable[Boundary]) -> str:
    """Format what `lint` checked without a policy."""
    return count_recorded(boundaries, "recorded compaction")
