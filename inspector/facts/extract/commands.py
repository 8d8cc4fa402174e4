"""Commands that words quote: in backquotes, in a fenced block of shell, after "run".

Commands that tools ran are read from their arguments (`session.toolcalls`); this module reads prose.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from ...session.toolcalls.canonical_path import LONGEST, names
from .code_points import code_points, find_letters
from .typed import Hit

_PROGRAMS = names(
    "npm npx yarn pnpm bun bunx node deno tsc tsx eslint prettier vitest jest biome python python3 pip pip3 "
    "pipx uv uvx poetry pytest ruff mypy tox black make cmake cargo rustc go gofmt golangci-lint git gh glab "
    "docker docker-compose podman kubectl helm terraform curl wget cd ls cat head tail grep rg sed awk find "
    "rm mv cp mkdir touch chmod ln tar unzip mise just brew apt apt-get ssh scp rsync ./gradlew gradle mvn "
    "java javac dotnet bundle rake ruby rails php composer swift xcodebuild psql sqlite3 redis-cli "
    "aws gcloud az sudo bash sh zsh export source systemctl journalctl jq pre-commit claude codex"
)
_KEYWORDS = names("for while if then else elif fi do done case esac function in echo true false { } ( )")
_NAME = re.compile(r"(?:[A-Z_][A-Z0-9_]*=\S* )*(?:\./|~/|/|\.venv/)?[A-Za-z][\w.+-]*(?:/[\w.+-]+)*$")
_INLINE = re.compile(r"`([^`\n]{1,300})`")
_FENCED = re.compile(r"```(?:bash|sh|shell|console|zsh)[ \t]*\n")
_RUN = re.compile(r"(?i)\b(?:run|runs|running|execute|executing|re-run|rerun|invoke|type) $")
_UNQUOTED = re.compile(
    r"\b[Rr]un(?:ning)?:? (?=(?:npx|npm|pnpm|yarn|bun|bunx|pip|pip3|uv|pytest|cargo|docker|kubectl|git|gh"
    r"|python3?|node|golangci-lint|mise) )([^\n`\"'();]{4,200})"
)
_ENDS = re.compile(
    r"(?: (?:to|and|or|in|on|for|before|after|then|with|from|if|when|so|which|again|first|it|as|the) "
    r"|[,.:] |[.,:]$| - | — ).*"
)
_HEREDOC = re.compile(r"<<-?\s*['\"]?([A-Za-z_]\w{0,40})")
_COMMENT = re.compile(r"[ \t]+# [^\n]*$")
_TYPED = re.compile(r"<bash-input>([^<]{1,2000})</bash-input>")


def find_commands(text: str, programs: Collection[str] = ()) -> Iterator[Hit]:
    """Commands in words; `programs` are names known to be run besides the well-known ones."""
    until = 0
    codes = code_points(text)
    for fence in _FENCED.finditer(text) if len(find_letters(codes, "```")) else ():
        if fence.start() < until:
            continue
        close = text.find("```", fence.end())
        broken = text.find("\x1f", fence.end(), close if close >= 0 else len(text))
        until = broken if broken >= 0 else len(text) if close < 0 else close
        yield from _fenced(text, fence.end(), until)
    for match in _INLINE.finditer(text) if "`" in text else ():
        first, _, rest = match[1].strip().partition(" ")
        if not rest or "${" in rest or first in _KEYWORDS:
            continue
        named = _NAME.match(first) and _RUN.search(text, max(0, match.start() - 12), match.start())
        if named or first in _PROGRAMS or first in programs:
            yield from _hit(match[1], match.start(1))
    until = 0
    for at in find_letters(codes, "un").tolist():  # "run" or "Run"
        if at > until and (bare := _UNQUOTED.match(text, at - 1)) is not None:
            until = bare.end()
            yield from _hit(_ENDS.sub("", bare[1]), bare.start(1))
    for match in _TYPED.finditer(text) if "<bash-input>" in text else ():
        yield from _hit(match[1], match.start(1))


def _fenced(text: str, start: int, end: int) -> Iterator[Hit]:
    """Yield the commands of a block, one per line; a line continues after a backslash and inside quotes."""
    prompted = text.startswith("$ ", start) or text.find("\n$ ", start, end) >= 0
    at = start
    while at < end:
        stop = text.find("\n", at, end)
        stop = end if stop < 0 else stop
        for _ in range(40):
            line = text[at:stop]
            if stop >= end or not (line.endswith("\\") or line.count('"') % 2 or line.count("'") % 2):
                break
            after = text.find("\n", stop + 1, end)
            stop = end if after < 0 else after
        document = _HEREDOC.search(text, at, stop)
        if document:
            close = re.compile(rf"\n\s*{document[1]}(?=\n|$)").search(text, stop, end)
            stop = close.end() if close else stop
        line = _COMMENT.sub("", text[at:stop])
        bare = line.lstrip(" \t")
        name = bare[2:] if bare.startswith("$ ") else "" if prompted else bare
        first = name.split(None, 1)[0] if name.strip() else ""
        if _NAME.match(first) and first not in _KEYWORDS:
            yield from _hit(line, at)
        at = stop + 1


def _hit(line: str, start: int) -> Iterator[Hit]:
    lead = len(line) - len(line.lstrip(" \t\n"))
    lead += 2 * line.startswith("$ ", lead)
    form = " ".join(line[lead : lead + 4 * LONGEST].replace("\\\n", " ").split())[:LONGEST].rstrip()
    if len(form) > 1:
        yield start + lead, start + len(line.rstrip()), form
