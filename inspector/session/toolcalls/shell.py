"""Find the files that a shell command uses. The command is split like in a shell and never run.

The result is the files it names, each with its position in the command and the operation. Words whose value
only a shell could know (variables, substitutions, globs) are ignored. Everything is one pass from left to
right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .canonical_path import DRIVE, canonical_path, names
from .looks_like_path import SUFFIX, is_package, is_range
from .shell_words import CREATED, DELETED, EDITED, LISTED, RAN, READ, Word, split_command


class Touched(NamedTuple):
    """A file in a command: its place (characters of the command), as written, the directory it is
    relative to (None: the session's), and what happens to it (None: it is only named)."""

    start: int
    end: int
    path: str
    base: str | None
    operation: str | None


PRINTS = names(
    "cat less more head tail nl bat diff xxd strings od cut sort uniq column type get-content gc "
    "select-string"
)
"""Programs that print what is in a file."""
PRINTS_BY_SCRIPT = names("sed awk gawk jq yq")
"""The same, with a script before the files."""
SEARCHES = names("grep egrep fgrep rg ag")
"""Programs that print the lines of a file with a pattern, which is before the files."""
_ALL: dict[str, str] = {
    **dict.fromkeys(sorted(PRINTS), READ),
    **dict.fromkeys(sorted(names("wc file stat md5sum sha256sum cmp source . open readlink")), READ),
    **dict.fromkeys(sorted(names("touch new-item")), CREATED),
    **dict.fromkeys(sorted(names("set-content out-file add-content")), EDITED),
    **dict.fromkeys(sorted(names("rm rmdir unlink shred del erase rd remove-item")), DELETED),
    **dict.fromkeys(sorted(names("ls find tree du fd exa eza dir get-childitem gci")), LISTED),
    **dict.fromkeys(sorted(names("chmod chown truncate gofmt goimports black prettier")), EDITED),
}  # fmt: skip
_AFTER_FIRST = SEARCHES | PRINTS_BY_SCRIPT | {"chmod", "chown"}
_COPIES = {"cp", "mv", "ln", "install", "rsync", "copy", "move", "copy-item", "move-item"}
_DEEP = re.compile(r"-[A-Za-z]*[rR]|--(?:dereference-)?recursive")
_RUNNERS = {
    **dict.fromkeys(("python", "python3"), re.compile(r"-[A-Za-z]*[cm]")),
    **dict.fromkeys(("node", "deno", "bun", "tsx", "ts-node"), re.compile(r"-(?:pe|[ep]$|-eval|-print)")),
    **dict.fromkeys(("bash", "sh", "zsh"), re.compile(r"-[A-Za-z]*c")),
    **dict.fromkeys(("ruby", "perl"), re.compile(r"-[A-Za-z0-9]*[eE]$")),
}
"""Interpreters, each with the option for running a module or code instead of a script."""
_WRAPPERS = {"sudo", "time", "nohup", "command", "exec", "env", "xargs", "nice", "stdbuf", "timeout", "then"}
_WRAPPERS |= {"do", "else", "!", "{", "if", "while", "gtimeout", "uv", "poetry", "npx", "run"}
_VALUED = {
    "head": {"-n", "-c"}, "tail": {"-n", "-c"}, "grep": {"-e", "-A", "-B", "-C", "-m", "--include"},
    "rg": {"-e", "-A", "-B", "-C", "-g", "-t", "-m"}, "sed": {"-e"}, "find": {"-name", "-type", "-path"},
    "touch": {"-d", "-t"}, "mkdir": {"-m"}, "awk": {"-F", "-v"}, "cut": {"-d", "-f"}, "sort": {"-k", "-t"},
    "jq": {"--arg"}, "tree": {"-L", "-I"}, "truncate": {"-s"}, "egrep": {"-e", "-A", "-B", "-C"},
    "ls": {"-I"}, "du": {"-d"},
}  # fmt: skip
_CONTENT = PRINTS | PRINTS_BY_SCRIPT | SEARCHES
_LISTING = {"ls", "find", "tree", "fd", "du"}
_NAME = re.compile(r"^(?:[\w@+.,%~/\\ :-]|[^\x00-\x7f])+$")
_FILE_LIKE = re.compile(r"/|\.[A-Za-z]\w{0,9}$")


_REMOTE = re.compile(r"[\w.@-]{2,}:/")
AT_HEAD = re.compile(r"(?:HEAD|@)?:(?!/)[\w./]")
"""A file as the last commit, or the next one, has it: `HEAD:src/a.py`, `:src/a.py`."""
_COMMIT = re.compile(r"[\w./~^@{}-]{2,}:(?=[\w.])")


def read_command(command: str, base: str | None = None) -> list[Touched]:
    """Return the files that a command names, in order.

    >>> [(t.path, t.operation) for t in read_command("cd src && sed -n '1,9p' a.py > b.txt; rm -f c.py")]
    [('b.txt', 'created'), ('a.py', 'read'), ('c.py', 'deleted')]
    """
    files: list[Touched] = []
    for words, redirected in split_command(command):
        files += [touched for touched in (_touch(word, base, op) for word, op in redirected) if touched]
        words = _unwrap(words)
        if not words:
            continue
        if words[0].text in ("cd", "pushd"):
            if len(words) > 1 and words[1].fixed:
                base = _enter(words[1].text, base)
            continue
        files += _read_words(words, base)
    return files


def directory_after(command: str, base: str | None = None) -> str | None:
    """Return the directory in which a command ends; its output is relative to it. None if it never changes.

    >>> directory_after("cd /srv/app && make -C sub")
    '/srv/app'
    """
    if "cd " not in command:
        return None
    went = None
    for words, _ in split_command(command):
        if len(words) > 1 and words[0].text == "cd" and words[1].fixed:
            went = _enter(words[1].text, went or base)
    return went


_LONGEST = 4096
"""Maximum number of bytes of a path on Linux; macOS allows a quarter (PATH_MAX)."""


def _enter(folder: str, base: str | None) -> str | None:
    """Return the directory after `cd`; the old one if the path would be too long."""
    entered = canonical_path(folder, None, base)
    return entered if len(entered) < _LONGEST else base


def output_of(command: str) -> str:
    """Classify a command's output: "content" of files, a "listing" of them, or its own "report".

    >>> output_of("cd x && cat a.py | head -3"), output_of("ls -la"), output_of("pytest -q")
    ('content', 'listing', 'report')
    """
    names = []
    for words, _ in split_command(command):
        words = _unwrap(words)
        name = words[0].text if words else "cd"
        if name == "git":
            name = "cat" if len(words) > 1 and words[1].text in ("diff", "show", "log", "blame") else "git"
        if name not in ("cd", "echo", "pushd", "true", "wc"):
            names.append(name)
    if names and all(name in _CONTENT or name in _LISTING for name in names):
        return "listing" if names[0] in _LISTING else "content"
    return "report"


def _unwrap(words: list[Word]) -> list[Word]:
    at = 0
    while at < len(words) and (
        words[at].text in _WRAPPERS
        or re.match(r"[A-Za-z_]\w*=", words[at].text)
        or (at and (words[at].text[:1] == "-" or words[at].text[:1].isdigit()))
    ):
        at += 1
    return words[at:]


def _read_words(words: list[Word], base: str | None) -> Iterator[Touched]:
    name = words[0].text.rsplit("/", 1)[-1].lower()
    rest = words[1:]
    if name == "git" and rest:
        yield from _read_git(rest, base)
        return
    flags = {word.text for word in rest if word.text[:1] == "-"}
    arguments = _arguments(name, rest)
    operation = _ALL.get(name)
    if name in _RUNNERS:
        script, arguments = _split_program(_RUNNERS[name], rest)
        yield from _find_touched([word for word in script if _FILE_LIKE.search(word.text)], base, RAN)
        yield from _find_touched([word for word in arguments if _FILE_LIKE.search(word.text)], base, None)
    elif name in _AFTER_FIRST:
        patterned = any(flag[:2] == "-e" or flag in ("-f", "--regexp") for flag in flags)
        arguments = arguments if patterned and name not in ("chmod", "chown") else arguments[1:]
        in_place = any(flag[:2] == "-i" or flag == "--in-place" for flag in flags)
        default = operation or (EDITED if name == "sed" and in_place else READ)
        deep = name in ("rg", "ag") or any(_DEEP.match(flag) for flag in flags)
        for word in arguments:
            folder = word.text.endswith("/") or (deep and not SUFFIX.search(word.text))
            yield from _find_touched([word], base, LISTED if folder and name in SEARCHES else default)
    elif name == "type":  # of Windows; a POSIX shell's `type` describes a name
        yield from _find_touched(
            [word for word in arguments if _FILE_LIKE.search(word.text) or DRIVE.match(word.text)], base, READ
        )
    elif name in _COPIES and len(arguments) > 1:
        source = {"mv": DELETED, "move": DELETED, "move-item": DELETED, "ln": None}.get(name, READ)
        yield from _find_touched(arguments[:-1], base, source)
        yield from _find_touched(arguments[-1:], base, CREATED)
    elif name == "tee":
        yield from _find_touched(arguments, base, EDITED if flags & {"-a", "--append"} else CREATED)
    elif name == "find":
        until = next((at for at, word in enumerate(rest) if word.text[:1] in "-(!\\"), len(rest))
        yield from _find_touched(rest[:until], base, LISTED)
    elif name in ("mkdir", "md"):
        yield from _find_touched(arguments, base, None)
    elif operation is not None:
        writes = (
            operation != EDITED
            or name in ("truncate", "set-content", "out-file", "add-content")
            or bool(flags & {"-w", "--write"})
            or name == "black"
        )
        yield from _find_touched(arguments, base, operation if writes else READ)
    elif name not in ("echo", "printf"):
        yield from _find_touched([word for word in arguments if _named(word)], base, None)


def _read_git(rest: list[Word], base: str | None) -> Iterator[Touched]:
    if rest[0].text == "-C" and len(rest) > 2:
        base, rest = canonical_path(rest[1].text, None, base), rest[2:]
    verb, words = rest[0].text, rest[1:]
    split = next((at for at, word in enumerate(words) if word.text == "--"), None)
    arguments = [word for word in words if word.text[:1] != "-"]
    if verb == "rm":
        yield from _find_touched(arguments, base, DELETED)
    elif verb == "mv" and len(arguments) > 1:
        yield from _find_touched(arguments[:-1], base, DELETED)
        yield from _find_touched(arguments[-1:], base, CREATED)
    elif verb == "add":
        yield from _find_touched(arguments, base, None)
    elif verb in ("diff", "show", "log", "blame", "checkout", "restore"):
        paths = words[split + 1 :] if split is not None else [word for word in arguments if _named(word)]
        operation = EDITED if verb in ("checkout", "restore") else READ
        yield from _find_touched([_without_commit(word) for word in paths], base, operation)


def _without_commit(word: Word) -> Word:
    """`HEAD:src/a.py` without the commit it is read from."""
    commit = _COMMIT.match(word.text)
    if commit is None or word.end - word.start != len(word.text):
        return word
    return word._replace(text=word.text[commit.end() :], start=word.start + commit.end())


def _split_program(inline: re.Pattern[str], words: list[Word]) -> tuple[list[Word], list[Word]]:
    """Split the words after an interpreter into its script, if there is one, and the program's arguments.

    `inline` matches the option whose value, in the same word or the next, is a module or code.
    """
    for at, word in enumerate(words):
        option = inline.match(word.text)
        if option is not None:
            value = 1 if option.end() == len(word.text) else 0
            return [], [word for word in words[at + 1 + value :] if word.text[:1] not in ("-", "")]
        if word.text[:1] not in ("-", ""):
            return [word], [word for word in words[at + 1 :] if word.text[:1] not in ("-", "")]
    return [], []


def _arguments(name: str, words: list[Word]) -> list[Word]:
    """Return the words that are neither options nor values of options."""
    valued = _VALUED.get(name, set())
    operands, skip = [], False
    for word in words:
        if skip:
            skip = False
        elif word.text in valued:
            skip = True
        elif word.text[:1] not in ("-", ""):
            operands.append(word)
    return operands


def _named(word: Word) -> bool:
    text = word.text
    return " " not in text and bool(
        re.search(
            r"/.*\.\w{1,8}$|^[\w.-]*[A-Za-z_-][\w-]*\.(?:py|[jt]sx?|go|rs|md|json|toml|ya?ml|sh)$", text
        )
    )


def _find_touched(words: list[Word], base: str | None, operation: str | None) -> list[Touched]:
    return [touched for touched in (_touch(word, base, operation) for word in words) if touched]


def _touch(word: Word, base: str | None, operation: str | None) -> Touched | None:
    text = word.text.split("::", 1)[0]
    # The dots are Go's notation for "and all below"; a path after a host is on another machine.
    if text.endswith("/...") or is_package(text) or is_range(text) or _REMOTE.match(text):
        return None
    if not word.fixed or not text or len(text) > 400 or text in ("-", ".", "..", "/dev/null", "{}"):
        return None
    if not _NAME.match(text) or "://" in text or text.startswith(("/dev/", "-")) or text.isdigit():
        return None
    return Touched(word.start, word.end, text, base, operation)
