"""Which rules of the user the model broke: a file it changed, or a command it ran, although told not to.

In go a session and its facts, out comes a `BrokenRule` for each act that a typed rule forbids by name. What
cannot be told by names is left out: a rule with a condition, or about things that no call names; a rule after
whose words the user named the file or command again; a call that failed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from ..errors import expect
from ..redaction.cut import cut_text
from ..session.blocks import BlockRef, ToolOutput
from ..session.queries import pair_calls
from ..session.session import Session
from ..session.toolcalls.call_paths import names
from ..session.toolcalls.core_command import name_command, split_core
from ..text import brief
from .extract.collect import BY, KINDS, OPERATIONS
from .facts import Fact, Facts, Said
from .polarity import Leaning, read_leaning

_CONDITION = re.compile(
    r"(?i)\b(?:if|when|whenever|while|unless|until|till|before|after|without|except|only|yet|for now|so far"
    r"|instead|once|again|needs?|have to|unnecessar\w+|needlessly|too)\b|\?"
)
_FORBIDS = {
    **dict.fromkeys(
        ("touch", "edit", "change", "modify", "alter", "write", "overwrite", "rewrite", "update"),
        ("created", "edited", "deleted"),
    ),
    **dict.fromkeys(("delete", "remove"), ("deleted",)),
    "create": ("created",),
}
"""Which operations on a file a verb forbids."""
_RUNS = names("run execute call start invoke launch")
_GIT = ("push", "commit", "rebase", "merge", "stash", "amend")
_QUOTED = re.compile(r"`([^`\n]{2,80})`")
_WORD = re.compile(r"\w+")


class BrokenRule(NamedTuple):
    """One act that a rule forbids.

    rule    the fact, a constraint
    said    where the user said it, before the act
    act     the call that did what it forbids
    what    the act in words: "edited data/almanac.json", "ran git push --force"

    >>> from inspector import read_session
    >>> push = {"type": "tool_use", "id": "1", "name": "Bash", "input": {"command": "git push"}}
    >>> done = [{"type": "tool_result", "tool_use_id": "1", "content": "ok"}]
    >>> told, again = {"role": "user", "content": "Never push."}, {"role": "user", "content": done}
    >>> session = read_session([told, {"role": "assistant", "content": [push]}, again])
    >>> broken: BrokenRule = find_broken_rules(session)[0]
    >>> broken.sentence
    'The model ran git push in m2/0, against "Never push." (m1/0).'
    """

    rule: Fact
    said: Said
    act: BlockRef
    what: str

    @property
    def sentence(self) -> str:
        """What happened, against which words."""
        form = cut_text(" ".join(self.rule.form.split()), 120)
        return f'The model {self.what} in {brief(self.act)}, against "{form}" ({brief(self.said.ref)}).'


def find_broken_rules(session: Session, facts: Facts | None = None) -> tuple[BrokenRule, ...]:
    """Every act on the path that a rule typed before it forbids, in the order of the acts.

    `facts` are the session's own where none are given. A rule is one whose sentence refuses to touch, change,
    create or delete a file that it names, or to run a command that it names in backquotes or as git's own
    word ("never push"). Precision comes first: see the top of this module for what is left out.

    >>> from inspector import read_session
    >>> def say(text):
    ...     return {"role": "user", "content": text}
    >>> edit = {"type": "tool_use", "id": "1", "name": "Edit", "input": {"file_path": "data/almanac.json"}}
    >>> done = [{"type": "tool_result", "tool_use_id": "1", "content": "ok"}]
    >>> rows = [say("Never touch data/almanac.json."), {"role": "assistant", "content": [edit]}, say(done)]
    >>> [broken.what for broken in find_broken_rules(read_session(rows))]
    ['edited data/almanac.json']
    """
    expect("find_broken_rules", session=(session, Session))
    facts = session.facts if facts is None else facts
    expect("find_broken_rules", facts=(facts, Facts))
    acts = _Acts(session, facts)
    found: dict[tuple[BlockRef, str], BrokenRule] = {}
    for rule in facts.by_kind("constraint"):
        for said in rule.said:
            if said.by != "user" or said.ref.entry not in acts.place:
                continue
            words = session.block(said.ref).text[said.start : said.end]
            if _CONDITION.search(words):
                continue
            leaning = read_leaning(words)
            for broken in (*_files(acts, rule, said, leaning), *_commands(acts, rule, said, words, leaning)):
                found.setdefault((broken.act, rule.form), broken)
    return tuple(sorted(found.values(), key=lambda one: (acts.place[one.act.entry], one.act.block)))


class _Acts:
    """What the model did on the path, by columns of the facts."""

    def __init__(self, session: Session, facts: Facts) -> None:
        self.session, self.facts, self.keys = session, facts, tuple(facts)
        path = list(session.path)
        self.place = {session.entries[i].id: at for at, i in enumerate(path)}
        self.position = np.full(len(session.entries), -1, np.int64)
        self.position[path] = np.arange(len(path))
        self.at = self.position[facts.entry]
        self.user, self.model = facts.by == BY.index("user"), facts.by == BY.index("model")
        self.kind = facts.kind[facts.fact]
        self.answers = pair_calls(session)

    def ref(self, row: int) -> BlockRef:
        """The block of an occurrence."""
        return BlockRef(self.session.entries[int(self.facts.entry[row])].id, int(self.facts.block[row]))

    def went_well(self, ref: BlockRef) -> bool:
        """Whether a call was answered, and not by an error."""
        answer = self.answers.get(ref)
        if answer is None:
            return False
        output = self.session.block(answer)
        return not (isinstance(output, ToolOutput) and output.is_error)

    def named_again(self, fact: int, start: int) -> int:
        """Where the user names a fact again after a place on the path, or its end."""
        later = self.at[self.user & (self.facts.fact == fact) & (self.at > start)]
        return int(later.min()) if len(later) else len(self.place)

    def spoken_again(self, word: str, start: int) -> int:
        """Where the user says a word again after a place on the path, or its end."""
        stated = np.isin(self.kind, [KINDS.index(kind) for kind in ("statement", "constraint", "choice")])
        rows = np.flatnonzero(self.user & stated & (self.at > start))
        pattern = re.compile(rf"(?i)\b{re.escape(word)}")
        for row in sorted(rows.tolist(), key=lambda row: int(self.at[row])):
            ref = self.ref(row)
            text = self.session.block(ref).text[int(self.facts.start[row]) : int(self.facts.end[row])]
            if pattern.search(text):
                return int(self.at[row])
        return len(self.place)


def _files(acts: _Acts, rule: Fact, occurrence: Said, leaning: Leaning) -> Iterator[BrokenRule]:
    forbidden = {done for verb, every in _FORBIDS.items() if verb in leaning.refused for done in every}
    if not forbidden:
        return
    facts, start = acts.facts, acts.place[occurrence.ref.entry]
    entry = acts.session.index[occurrence.ref.entry]
    here = (facts.entry == entry) & (facts.block == occurrence.ref.block) & (acts.kind == KINDS.index("file"))
    here &= (facts.start >= occurrence.start) & (facts.end <= occurrence.end)
    for fact in dict.fromkeys(facts.fact[here].tolist()):
        form = acts.keys[fact][1]
        tail = form.replace("\\", "/").rstrip("/").rpartition("/")[2]
        if not _is_refused(tail, leaning):
            continue
        end = acts.named_again(fact, start)
        codes = [OPERATIONS.index(done) for done in sorted(forbidden)]
        done = (facts.fact == fact) & acts.model & np.isin(facts.operation, codes)
        for row in np.flatnonzero(done & (acts.at > start) & (acts.at < end)).tolist():
            if acts.went_well(ref := acts.ref(row)):
                what = OPERATIONS[int(facts.operation[row])]
                yield BrokenRule(rule, occurrence, ref, f"{what} {cut_text(form, 120)}")


def _is_refused(words: str, leaning: Leaning) -> bool:
    """Whether a sentence refuses what these words name, each of the longer ones."""
    plain = [w if w.endswith("ss") else w.rstrip("s") for w in _WORD.findall(words.casefold()) if len(w) > 2]
    return bool(plain) and all(word in leaning.refused for word in plain)


def _commands(
    acts: _Acts, rule: Fact, occurrence: Said, words: str, leaning: Leaning
) -> Iterator[BrokenRule]:
    commands: list[tuple[str, frozenset[str]]] = []
    if leaning.refused & _RUNS:
        quoted = (" ".join(words.split()) for words in _QUOTED.findall(words))
        commands += [(name, frozenset()) for name in quoted if _is_refused(name, leaning)]
    else:
        commands += [
            (f"git {verb}", leaning.refused - {verb, "git", "anything"})
            for verb in _GIT
            if verb in leaning.refused
        ]
    facts, start = acts.facts, acts.place[occurrence.ref.entry]
    for name, rest in commands:
        end = acts.spoken_again(name.split()[-1], start)
        ran = (acts.kind == KINDS.index("command")) & acts.model & (acts.at > start) & (acts.at < end)
        for row in np.flatnonzero(ran).tolist():
            form = acts.keys[int(facts.fact[row])][1]
            if _runs(form, name, rest) and acts.went_well(ref := acts.ref(row)):
                yield BrokenRule(rule, occurrence, ref, f"ran {cut_text(form, 120)}")


def _runs(command: str, name: str, rest: frozenset[str]) -> bool:
    """Whether one of the commands of a core is called so, and holds the other words.

    >>> _runs("git add a.py && git push --force", "git push", frozenset({"force"}))
    True
    >>> _runs("git push", "git push", frozenset({"main"}))
    False
    >>> _runs("git log --grep push", "git push", frozenset())
    False
    """
    for clause in split_core(command):
        said = {word.strip("-\"'").casefold() for word in clause.split()}
        if rest <= said and (name_command(clause) == name or f"{clause} ".startswith(f"{name} ")):
            return True
    return False
