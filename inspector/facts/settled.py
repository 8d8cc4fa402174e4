"""Find settled work: requests that were answered, and changed files that a summary may leave out.

A rule binds all later work. A request asks for something once, and is answered when the user continues with
something else. A changed file is settled if it is deleted, if Git restores it, or if its changes were
committed and pushed in an earlier turn. Only the calls and their outputs prove that.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from functools import cached_property

from ..session.blocks import BlockRef, ToolCall, ToolOutput
from ..session.queries import is_earlier, pair_calls
from ..session.session import Session
from ..session.toolcalls.shell_words import split_command
from ..session.toolcalls.todo_list import find_open_todos, find_todo_calls
from ..session.toolcalls.tool_names import is_shell
from .extract.statements import EACH_TIME, fold, opens_order

_LASTING = re.compile(
    r"\b(?:never|always|whenever|(?:every|any)time|from (?:now|here) on|going forward|by default"
    r"|in (?:the )?future|in general|as a rule|throughout|often|your (?:answers?|repl(?:y|ies)|responses?))\b"
)
"""Words of what holds for all later work, whatever else the sentence says."""
_NOW = re.compile(r"\byet\W*$|\b(?:for now|right now|this time|today|just now)\b")
_LIMITS = re.compile(
    r"\b(?:not|no|only|without|avoid|prefer\w*|unless|except|nothing|none|exactly|at (?:most|least)|than"
    r"|max(?:imum)?|minimum)\b|n't\b"
)
_REPEATS = re.compile(rf"(?x)\b(?:{EACH_TIME}|per|when|if|(?:before|after)\ (?:you|\w+ing)\b)")
_LEAD = re.compile(
    r"^\W*(?:(?:ok(?:ay)?|yes|yeah|no|alright|so|and|but|then|now|please|just|also|first"
    r"|(?:can|could|would|will) you)\b[,\s]*)*"
)
_POINTS = re.compile(
    r"(?!it(?:'s| is) (?:not )?\w+ (?:to|that)\b)(?:(?:make sure|ensure)\ (?:that )?)?"
    r"(?:it|this|that|these|those|they)\b(?:'s| \w+){0,2}?"
    r"(?:'s|\ (?:is|are|must|should|needs?|has|have)\b)"
)
"""A sentence about what was just spoken of: "it needs to have", "this plan must be"."""
_OFFERS = re.compile(
    r"(?:you (?:can|may|could)|feel free"
    r"|let's(?! (?:just )?(?:not|keep|use|stick|prefer|go (?:with|for)|take|pick|choose|stay|agree)\b))\b"
)
_NAMED_THING = re.compile(
    r"[a-z-]+ (?:(?:me|us) )?(?:(?:through|up|down|out|in|to|on|of|at|for|over) )?"
    r"(?:(?:the|this|that|these|those|our|my|an?|it|them|one|two|three|all|each|every|any|both)\b"
    r"|every(?:thing|where)\b|(?:where|what|how|which|why|whether|who)\b|@|\S+[/.]\w)"
)
"""An order and what it is about: "read the log", "fix all tests"; "sort imports" is a rule."""
_AT_HAND = re.compile(
    r"(?:use|take|put|leave|keep) (?:.*\b(?:for (?:this|that|it)(?: one)?|from (?:before|above))\W*$"
    r"|(?:the|this|that|these|those) (?:[\w-]+ )?ones?\b"
    r"|the (?:first|second|third|last|other|former|latter|left|right) \w+\b)"
)
"""An order about a thing that is at hand: "use the red one for this"."""
_PICK = re.compile(
    r"\W*(?:(?:the|option|approach|number) )*(?:[a-d]|\d|first|second|third|last|other"
    r"|former|latter|both|neither|all)"
    r"(?: (?:one|option|of them))?\W*"
)
"""An answer that names an option by its place, and says nothing by itself."""
_ASIDE = re.compile(r"\([^()]*(?:\)|$)")

_PAIRS = (
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("oldText", "newText"),
    ("oldString", "newString"),
)
_PATHS = ("file_path", "path", "filePath")
_FAILED = re.compile(r"(?i)\b(?:error|failed|not found|no match\w*|rejected|denied|refused|doesn't want)\b")
_HEAD = 200
"""Characters of an output in which a failure is reported."""
_COMMITTED = re.compile(r"(?m)^\[[^\]\n]+ [0-9a-f]{7,}\]")
"""The line that Git prints for a commit that it made."""
_STEP = re.compile(r"\b(?:git|rm)\b")


def is_request(form: str) -> bool:
    """Return whether a sentence asks for something once, and is no rule for all later work.

    >>> is_request("let's check the other one first"), is_request("this plan must list the files")
    (True, True)
    >>> is_request("Fix all tests."), is_request("Sort imports."), is_request("Lint after each commit.")
    (True, False, False)
    >>> is_request("Can you drop the old table?")
    True
    >>> is_request("Always run the tests."), is_request("let's not rename it")
    (False, False)
    """
    low = _ASIDE.sub("", fold(form))
    rest = low[_LEAD.match(low).end() :]  # type: ignore[union-attr]
    if _LASTING.search(low):
        return False
    if _NOW.search(low) or _PICK.fullmatch(rest) or _POINTS.match(rest):
        return True
    if _LIMITS.search(low):
        return False
    if _AT_HAND.match(rest) and not _REPEATS.search(low):
        return True
    if _OFFERS.match(rest) and " but " not in rest:
        return True
    return opens_order(rest) and _NAMED_THING.match(rest) is not None and not _REPEATS.search(low)


def is_answered(form: str, refs: Iterable[BlockRef], session: Session) -> bool:
    """Return whether a sentence is a request that was last made before the turn in which a session ends."""
    turns = session.turn_of
    last = turns.get(session.leaf or "", 0)
    return is_request(form) and all(turns.get(ref.entry, 0) < last for ref in refs)


def read_edit(call: ToolCall) -> tuple[str, str, str] | None:
    """Return the path of an edit, the text that it removes and the text that it adds; None for another call.

    >>> read_edit(ToolCall(id="1", name="Edit", input={"path": "a.py", "old_string": "a", "new_string": "b"}))
    ('a.py', 'a', 'b')
    """
    values = call.input if isinstance(call.input, dict) else {}
    path = find_path(call)
    for old, new in _PAIRS:
        if path and isinstance(values.get(old), str) and isinstance(values.get(new), str):
            return path, values[old], values[new]
    return None


def find_path(call: ToolCall) -> str:
    """Return the path that a call is given; "" if it is given none."""
    values = call.input if isinstance(call.input, dict) else {}
    return next((values[key] for key in _PATHS if isinstance(values.get(key), str)), "")


class CallsOfPath:
    """The calls on a session's path, with their outputs. At an earlier point of the path they are the same:
    `at` reads them no second time."""

    def __init__(self, session: Session, whole: CallsOfPath | None = None) -> None:
        self.session, self.whole, self.end = session, whole or self, len(session.trail)

    def at(self, session: Session) -> CallsOfPath:
        """Return the calls at another point in time of the file."""
        return CallsOfPath(session, self.whole if is_earlier(session, self.whole.session) else None)

    @cached_property
    def _answers(self) -> dict[BlockRef, tuple[int, BlockRef]]:
        """The output of each call that has one, with its index on the path."""
        pairs, places = pair_calls(self.session), self.session.path_index.tolist()
        return {call: (places[self.session.index[to.entry]], to) for call, to in pairs.items()}

    def find_output(self, call: BlockRef) -> ToolOutput | None:
        """Return the output of a call, or None if it has none yet."""
        place, answer = self.whole._answers.get(call, (self.end, call))
        output = self.session.block(answer) if place < self.end else None
        return output if isinstance(output, ToolOutput) else None

    def has_worked(self, call: BlockRef) -> bool:
        """Return whether a call has an output that reports no failure."""
        output = self.find_output(call)
        return output is not None and not output.is_error and not _FAILED.search(output.text[:_HEAD])

    @cached_property
    def commands(self) -> list[tuple[tuple[int, int], BlockRef, str]]:
        """The commands of shell calls, each with its place, in the order of the path."""
        if self.whole is not self:
            return self.whole.commands[: bisect_left(self.whole.commands, ((self.end, 0),))]
        result = list[tuple[tuple[int, int], BlockRef, str]]()
        for place, position in enumerate(self.session.path):
            entry = self.session.entries[position]
            for number, block in enumerate(entry.blocks):
                if isinstance(block, ToolCall) and is_shell(block.name):
                    values = block.input if isinstance(block.input, dict) else {}
                    value = values.get("command", values.get("cmd", ""))
                    command = value if isinstance(value, str) else " ".join(map(str, value or ()))
                    result.append(((place, number), BlockRef(entry.id, number), command))
        return result

    @cached_property
    def _todos(self) -> list[tuple[int, BlockRef, ToolCall]]:
        return list(find_todo_calls(self.session))

    def find_open_todos(self) -> frozenset[str] | None:
        """Return the texts of the open to-dos; None if the path has no list of them."""
        calls = ((ref, call) for place, ref, call in self.whole._todos if place < self.end)
        return find_open_todos(self.session, calls, self.find_output)

    @cached_property
    def _steps(self) -> list[tuple[tuple[int, int], BlockRef, list[str]]]:
        """The words of each call of Git or rm that worked, with its place."""
        steps = []
        for place, ref, command in self.commands:
            output = self.find_output(ref) if _STEP.search(command) else None
            if output is None:
                continue
            # A push that fails behind a commit does not undo the commit.
            worked, commit = self.has_worked(ref), _COMMITTED.search(output.text)
            for words, _ in split_command(command):
                texts = [word.text for word in words]
                if texts[:1] in (["git"], ["rm"]) and (worked or (commit and {"add", "commit"} & set(texts))):
                    steps.append((place, ref, texts))
        return steps

    def _place(self, ref: BlockRef) -> tuple[int, int]:
        return int(self.session.path_index[self.session.index[ref.entry]]), ref.block

    def settle(self, form: str, changes: Sequence[BlockRef]) -> bool:
        """Return whether a file is deleted or restored, or its changes were pushed in an earlier turn.

        Args:
            form: The file.
            changes: The blocks that changed it, in the order of the path.
        """
        last, staged, committed = self._place(changes[-1]), False, False
        turns = self.session.turn_of
        end = turns.get(self.session.leaf or "", 0)
        for place, ref, words in self.whole._steps:
            if place < last or self.find_output(ref) is None:
                continue
            what, paths = _read_step(words)
            named = _names_file(paths, form)
            if what == "removes" and named and (place > last or words[0] == "git"):
                return True
            if what == "restores" and named and not committed:
                return True
            staged = staged or (what == "adds" and named)
            committed = committed or (what == "commits" and (staged or named))
            turn = turns.get(self.session.entries[self.session.path[place[0]]].id, 0)
            if what == "pushes" and committed and turn < end:
                return True
        return False


def _read_step(words: Sequence[str]) -> tuple[str, list[str]]:
    """Return what a command does with files, and which: "." is all of them."""
    if words[0] == "rm":
        return "removes", [word for word in words[1:] if word[:1] != "-"]
    rest = list(words[1:])
    while rest[:1] and rest[0] in ("-C", "-c"):
        rest = rest[2:]
    name, arguments = (rest[0], rest[1:]) if rest else ("", [])
    options = {word for word in arguments if word[:1] == "-"}
    paths = [word for word in arguments if word[:1] != "-"]
    if name == "rm":
        return "removes", paths
    if name == "add":
        return "adds", ["."] if options & {"-A", "--all", "-u", "."} else paths
    if name == "commit":
        every = any(re.fullmatch(r"-[a-z]*a[a-z]*|--all", option) for option in options)
        return "commits", ["."] if every else []
    if name == "push":
        return "pushes", []
    if name == "checkout" and options & {"--", "--theirs", "--ours"}:
        return "restores", arguments[arguments.index("--") + 1 :] if "--" in arguments else paths
    if name == "restore" and "--staged" not in options:
        return "restores", paths
    return ("restores", ["."]) if name == "reset" and "--hard" in options else ("", [])


def _names_file(paths: Iterable[str], form: str) -> bool:
    """Whether one of some paths of a command is a file, or a folder that holds it."""
    whole = f"/{form.strip('/')}"
    for path in paths:
        bare = path.removeprefix("./").strip("/")
        if not bare or bare == "." or whole.endswith(f"/{bare}") or f"/{bare}/" in whole:
            return True
        if "*" in bare and fnmatchcase(whole, f"*/{bare}"):
            return True
    return False
