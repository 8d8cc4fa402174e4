"""Find the core of a shell command: the program, without how its output is cut, stored or awaited.

`cd /app && go test ./... 2>&1 | tail -5` becomes `go test ./...`, which is how users refer to it later. The
command is split like in a shell and never run. The list of programs that only change folders, print or filter
is our own.
"""

from __future__ import annotations

import re

from .canonical_path import names
from .positions import fold
from .shell_words import Word, split_command

_SETTINGS = names("cd pushd popd echo printf true : sleep clear set export unset wait")
_FILTERS = names(
    "tail head grep egrep fgrep rg wc sort uniq cut tr cat less more tee sed awk nl column fold jq xargs"
)
_CONTROL = names("for while until if case function select { ( [[ do then else")
_SPECIAL = re.compile(r"[|;&<>\n#]|^\s*(?:time|timeout|cd)\s")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
_SUBCOMMAND = re.compile(r"[A-Za-z][\w:-]*$")
# Programs whose name says little without the next word, and the words after which one more is needed.
_WITH_SUBCOMMAND = names(
    "git go gh glab npm pnpm yarn bun npx bunx uv uvx poetry pipx pip pip3 cargo docker docker-compose "
    "podman kubectl helm terraform make mise just task brew apt apt-get bundle rake composer dotnet gradle "
    "./gradlew mvn aws gcloud az nx turbo rtk flutter dart swift deno jj hg svn systemctl"
)
_TWICE = names("run exec tool stack pr issue repo api compose image container workspace mod x remote stash")


def core_command(command: str) -> str:
    """Return the form of a command: its core on one line, at most 400 characters; if empty, the command.

    >>> core_command("cd /app && CI=1 go test ./... 2>&1 | tail -5; echo done")
    'CI=1 go test ./...'
    >>> core_command("npm run lint && npm test > /tmp/out.txt"), core_command("ls -la")
    ('npm run lint && npm test', 'ls -la')
    """
    clauses = _split(command) if _SPECIAL.search(command) else []
    return fold("".join(clauses)) or fold(command)


def split_core(form: str) -> tuple[str, ...]:
    """Return the commands of a core, in order.

    >>> split_core("npm run lint && npm test")
    ('npm run lint', 'npm test')
    """
    pieces = [] if "<<" in form else _split(form)
    return tuple(fold(piece) for piece in pieces[::2]) or (form,)


def name_command(clause: str) -> str:
    """Return the short name of a command, its program and subcommand; empty if that is too general.

    >>> name_command("CI=1 go test ./..."), name_command("npm run build -- -w"), name_command("grep -rn x .")
    ('go test', 'npm run build', '')
    """
    words = [word for word in clause.split() if not _ASSIGNED.match(word)]
    if len(words) < 2 or words[0] not in _WITH_SUBCOMMAND:
        return ""
    name_words = [words[0]]
    for word in words[1:4]:
        if not _SUBCOMMAND.match(word):
            break
        name_words.append(word)
        if word not in _TWICE:
            break
    return " ".join(name_words) if len(name_words) > 1 else ""


def drop_options(clause: str) -> str:
    """Return a command without its final options; empty if it has none, or only the program would remain.

    >>> drop_options("pytest tests/test_a.py -q -x"), drop_options("ls -la"), drop_options("make test")
    ('pytest tests/test_a.py', '', '')
    """
    words = clause.split(" ")
    while len(words) > 1 and words[-1][:1] == "-":
        words.pop()
    bare = " ".join(words)
    return bare if len(words) > 1 and bare != clause else ""


def _split(command: str) -> list[str]:
    """Return the significant pipelines of a command and the operators between them, alternately."""
    out: list[str] = []
    pipeline: list[tuple[int, int, list[Word]]] = []
    joined, last = "", 0
    for words, _ in split_command(command):
        if not words:
            continue
        if words[0].text in _CONTROL:
            return [command] if not out else [*out, joined or "; ", command[words[0].start :]]
        start, end = _outer(command, words[0])[0], _outer(command, words[-1])[1]
        between = command[last:start]
        if pipeline and "|" in between.replace("||", ""):
            pipeline.append((start, end, words))
        else:
            _close(command, out, pipeline, joined)
            joined = (
                "" if not pipeline else " && " if "&&" in between else " || " if "||" in between else "; "
            )
            pipeline = [(start, end, words)]
        last = end
        if "<<" in command[end : end + 200].split("\n", 1)[0]:
            # The body of a here-document is the program.
            _close(command, out, [(start, len(command), words)], joined)
            return out
    _close(command, out, pipeline, joined)
    return out


def _close(command: str, out: list[str], pipeline: list[tuple[int, int, list[Word]]], joined: str) -> None:
    """Append a pipeline to the others, unless it is only a setting."""
    pieces = [(start, end, _unwrap(words)) for start, end, words in pipeline]
    pieces = [piece for piece in pieces if piece[2]]
    while len(pieces) > 1 and pieces[-1][2][0].text in _FILTERS:
        pieces.pop()
    if not pieces or (len(pieces) == 1 and pieces[0][2][0].text in _SETTINGS):
        return
    texts = [command[_outer(command, words[0])[0] : end] for _, end, words in pieces]
    if out:
        out.append(joined or "; ")
    out.append(" | ".join(texts))


def _unwrap(words: list[Word]) -> list[Word]:
    """Return a command without `time`, `timeout 60` and variables that are only set."""
    while words and words[0].text in ("time", "timeout", "gtimeout"):
        waits = words[0].text != "time"
        words = words[1:]
        while waits and words and (words[0].text[:1] == "-" or words[0].text[:1].isdigit()):
            words = words[1:]
    return [] if all(_ASSIGNED.match(word.text) for word in words) else words


def _outer(command: str, word: Word) -> tuple[int, int]:
    """Return the span of a word including its quotes."""
    before, after = command[word.start - 1 : word.start], command[word.end : word.end + 1]
    quoted = word.start > 0 and before == after and before in ("'", '"')
    return (word.start - 1, word.end + 1) if quoted else (word.start, word.end)
