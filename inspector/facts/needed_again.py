"""Decide whether a fact was needed again: calls that show a file, and commands with the same answer.

Takes blocks and the forms of facts, and returns a bool. Doubtful cases do not count: a count, a name in a
listing. The words and limits were chosen by us.
"""

from __future__ import annotations

import re

from ..session.blocks import Block, ToolCall
from ..session.toolcalls.shell import AT_HEAD, PRINTS, PRINTS_BY_SCRIPT, SEARCHES
from ..session.toolcalls.shell_words import split_command

_COMMANDS = ("command", "cmd", "script")
_NO_LINES = re.compile(r"-[A-Za-z]*[clq][A-Za-z]*$|--(?:count|files-with(?:out)?-match(?:es)?|quiet|files)\b")
_FIGURES = re.compile(r"\d+")
_NUMBERED = re.compile(r"^\s*\d+\s*[→|:\t]")

# The last words of every failing run of a tool: that it failed, and the kind or package.
_VERDICT = re.compile(
    r"(?i)^(?:exit code \d+|(?:error: )?(?:script \S+ )?exited with .{0,20}"
    r"|(?:command|operation|request) (?:was )?(?:aborted|cancel.*|timed out.*)"
    r"|FAIL(?:ED)?(?:[ \t]+\S+)?(?: \[[^\]]*\])?(?:[ \t]+[\d.]+m?s)?|npm (?:err!|error)\b.*"
    r"|found \d+ errors?\.?|make(?:\[\d+\])?: \*\*\*.*|\[[^\]]{1,40}\] error task failed)$"
)
# A decision of the user or the harness is not an error of the work.
_REFUSED = re.compile(
    r"(?i)doesn't want to (?:proceed|take)|tool use was rejected|request interrupted|permission to use"
    r"|requires? (?:approval|permission)|has been denied|cancelled by (?:the )?user"
    r"|sibling tool call errored|file has not been read yet"
)
_NO_START = re.compile(
    r"(?i)\bcommand not found\b|\bnot recognized as (?:an? |the )|\bexecutable file not found\b|^exec: "
    r"|\b(?:unknown|unrecognized|invalid|unexpected) (?:sub-?command|command|option|argument|flag|switch)\b"
    r"|\bno such (?:sub-?command|command|option)\b|\bmissing script\b|\bscript not found\b"
    r"|\bpermission denied\b"
)
_FEW_LINES = 12
"""Lines of an output that says why a command did not start; usage hints follow the reason."""


def shows_file(call: Block, path: str) -> bool:
    """Whether a call asks for what is in a file, not only for its size, its name or its history.

    >>> call = ToolCall(id="c1", name="Bash", input={"command": "wc -l a.py; grep -n def src/b.py"})
    >>> shows_file(call, "a.py"), shows_file(call, "src/b.py")
    (False, True)
    """
    if not isinstance(call, ToolCall):
        return False
    args = call.input if isinstance(call.input, dict) else {}
    command_arg = next((args[name] for name in _COMMANDS if args.get(name)), None)
    if command_arg is None:
        # Claude Code's Grep lists only the names of files by default.
        return bool(
            args.get("output_mode", "files_with_matches" if call.name == "Grep" else "content") == "content"
        )
    command = " ".join(map(str, command_arg)) if isinstance(command_arg, list) else str(command_arg)
    tail = path.replace("\\", "/").rstrip("/").rpartition("/")[2]
    shown, last = False, ""
    for words, redirected in split_command(command):
        texts = [word.text for word in words]
        last = texts[0] if texts else last
        named = any(_ends(word.text, tail) for word in words[1:]) or any(
            _ends(w.text, tail) for w, _ in redirected
        )
        shown = shown or (named and _shows(texts))
    return shown and last != "wc"


def _ends(word: str, tail: str) -> bool:
    return word.replace("\\", "/").rstrip("/").rpartition("/")[2] == tail


def _shows(words: list[str]) -> bool:
    """Whether a simple command prints lines of the files it is given."""
    names = {word.rpartition("/")[2].lower() for word in words}
    if names & SEARCHES:
        return not any(_NO_LINES.match(word) for word in words[1:])
    if "git" in names:
        # Changes of a file, or its content in another commit, are not the file.
        return "blame" in names or ("show" in names and any(AT_HEAD.match(word) for word in words))
    return bool(names & (PRINTS | PRINTS_BY_SCRIPT))


def is_verdict(form: str) -> bool:
    """Whether an error says no more than that something failed, or what a user or a harness decided.

    >>> is_verdict('error: script "lint:fix" exited with code 1'), is_verdict("KeyError: 'a'")
    (True, False)
    """
    line = " ".join(form.split())
    return bool(_VERDICT.match(line) or _REFUSED.search(line))


def has_not_started(output: Block) -> bool:
    """Return whether a short output begins or ends with the reason why its command could not start.

    >>> from inspector.session.blocks import Text, ToolOutput
    >>> has_not_started(ToolOutput(call_id="1", parts=(Text(text="zsh: command not found: pnpm"),)))
    True
    """
    lines = [line for line in output.text.splitlines() if line.strip()]
    ends = (lines[0], lines[-1]) if 0 < len(lines) <= _FEW_LINES else ()
    return any(len(line) <= 200 and _NO_START.search(line) for line in ends)


def strip_number(line: str) -> str:
    """Return a line without the number that a tool puts before it, and without blanks around it."""
    return _NUMBERED.sub("", line).strip()


def same_answer(before: str | None, after: str | None) -> bool:
    """Whether two answers say the same thing, ignoring figures. Two empty answers do not.

    >>> same_answer("12 passed in 3 s", "12 passed in 4 s"), same_answer("", "")
    (True, False)
    """
    if before is None or after is None or not before.strip():
        return False
    return _FIGURES.sub("0", before) == _FIGURES.sub("0", after)
