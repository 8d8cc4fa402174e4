"""The reference's pages, written from the package itself: policies, rules, codes, checks, formats, names.

`conf.py` calls `write_reference` before each build; the pages are not committed.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterable, Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import inspector
from inspector.facts.lint.codes import LINT_CODES
from inspector.formats.json_lines import Reader
from inspector.formats.places import PLACES
from inspector.formats.readers import READERS
from inspector.policies.base_rule import Rule
from inspector.policies.policy import Policy
from inspector.policies.registry import POLICIES
from inspector.policies.rules import RULES
from inspector.wire.checks import CHECKS

PACKAGE = Path(inspector.__file__).parent
ROOMS = (
    *("session", "redaction", "tokens", "formats", "policies", "planning"),
    *("wire", "facts", "summaries", "replays", "workbench", "corpus", "jupyter"),
)
TITLE = "inspector: the names that most people need"


def write_reference(folder: Path) -> None:
    """Writes the pages into the folder; unchanged files are not written, so that a build reads them once."""
    pages = {
        "policies.md": "\n".join(_policies()),
        "rules.md": "\n".join(_rules()),
        "lint.md": "\n".join(_lint()),
        "wire.md": "\n".join(_wire()),
        "formats.md": "\n".join(_formats()),
        "inspector.md": "\n".join(_names("inspector", PACKAGE / "__init__.pyi", TITLE)),
        "errors.md": "\n".join(_errors()),
    }
    for room in ROOMS:
        heading = f"inspector.{room}"
        pages[f"room-{room}.md"] = "\n".join(_names(heading, PACKAGE / room / "__init__.pyi", heading))
    pages["index.md"] = "\n".join(_contents())
    folder.mkdir(exist_ok=True)
    for name, text in pages.items():
        path = folder / name
        if not path.exists() or path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")


def _contents() -> Iterator[str]:
    yield "# Reference\n"
    yield "Written from the package itself, at the version of this page.\n"
    first = ("policies", "rules", "lint", "wire", "formats", "inspector", "errors")
    yield "\n".join(("```{toctree}", ":maxdepth: 1", "", *first, *(f"room-{room}" for room in ROOMS), "```"))


def _cell(text: object) -> str:
    return " ".join(str(text).split()).replace("|", "\\|").replace("<", "&lt;")


def _table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    heads = list(heads)
    yield "| " + " | ".join(heads) + " |"
    yield "|" + "---|" * len(heads)
    for row in rows:
        yield "| " + " | ".join(_cell(cell) for cell in row) + " |"
    yield ""


def _prose(text: str | None) -> str:
    """A docstring's text: its examples as code, its indented tables as text."""
    lines = inspect.cleandoc(text or "").split("\n")
    done: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith(">>>"):
            block = []
            while at < len(lines) and lines[at].strip():
                block.append(lines[at])
                at += 1
            done += ["```pycon", *block, "```"]
            continue
        aligned = re.match(r"\w[\w, .]* {2,}\S", line) and (
            at == 0 or not lines[at - 1].strip() or done[-1] == ""
        )
        if line.startswith("    ") or aligned:
            block = []
            while at < len(lines) and lines[at].strip() and not lines[at].startswith(">>>"):
                block.append(lines[at])
                at += 1
            done += ["```text", *textwrap.dedent("\n".join(block)).split("\n"), "```"]
            continue
        done.append(line.replace("<", "&lt;").replace("[", "\\["))
        at += 1
    return "\n".join(done)


def _settings(rule: type[Rule]) -> Iterator[tuple[str, str, str, str]]:
    """Name, default, choices and meaning of each setting of a rule."""
    for name, field in rule.model_fields.items():
        if name not in ("kind", "enabled"):
            choices = [repr(value) for value in get_args(field.annotation) if isinstance(value, str)]
            yield f"`{name}`", f"`{field.default!r}`", ", ".join(choices), field.description or ""


def _policies() -> Iterator[str]:
    board = json.loads((PACKAGE.parent / "notebooks" / "leaderboard.json").read_text("utf-8"))
    yield "# Every policy\n"
    yield (
        "As shipped: source, trigger, rules with their settings ([every rule](rules.md) has its own), and"
        f" what is lost at the {board['compactions']} moments of [the benchmark](../benchmark.md)"
        f" ({board['date']}, {board['commit']}), with a deterministic placeholder if a model would be"
        " asked.\n"
    )
    measured = {row["policy"]: row for row in board["policies"]}
    for policy in POLICIES:
        yield from _policy(policy)
        yield f"{_loss(measured[policy.name])}\n" if policy.name in measured else ""


def _loss(row: dict[str, Any]) -> str:
    """Return the shares that a policy loses on the benchmark, with their intervals."""
    lost, user, remaining = (
        "{:.0%} ({:.0%}–{:.0%})".format(*shares)
        for shares in (_rest(row["kept"]), _rest(row["user"]), row["left"])
    )
    return (
        f"**Lost on the benchmark.** {lost} of the facts, {user} of those that the user said first; "
        f"{remaining} of the tokens are left."
    )


def _rest(share: list[float]) -> tuple[float, float, float]:
    """Return the rest of a share and of its interval."""
    return 1 - share[0], 1 - share[2], 1 - share[1]


def _policy(policy: Policy) -> Iterator[str]:
    yield f"({policy.name})="
    yield f"## {policy.title}\n"
    yield f"`{policy.name}`. Source: {_prose(policy.source)}\n"
    yield f"**Trigger.** {_cell(policy.trigger.sentence)}\n" if policy.trigger.sentence else ""
    rows = []
    for rule in policy.rules:
        default = type(rule)()
        own = [
            f"`{name}` = `{getattr(rule, name)!r}`"
            for name in type(rule).model_fields
            if name not in ("kind", "enabled") and getattr(rule, name) != getattr(default, name)
        ]
        rows.append(
            (
                f"[{rule.kind}](#rule-{rule.kind})",
                rule.sentence or rule.title,
                ", ".join(own) or "as published",
            )
        )
    yield from _table(("rule", "what it says", "settings that differ from the rule's own"), rows)


def _rules() -> Iterator[str]:
    yield "# Every rule\n"
    yield "A setting is named `<rule>.<setting>` in `wb.settings`, in a plan's recipe and in `Edits`.\n"
    for rule in RULES:
        kind = rule.model_fields["kind"].default
        used = [
            f"[{policy.name}](#{policy.name})"
            for policy in POLICIES
            if any(rule.kind == kind for rule in policy.rules)
        ]
        yield f"(rule-{kind})="
        yield f"## {kind}\n"
        yield _prose(rule.__doc__) + "\n"
        settings = list(_settings(rule))
        if settings:
            yield from _table(("setting", "default", "choices", "meaning"), settings)
        yield f"In {', '.join(used)}.\n" if used else "In no published policy; *Add a rule* adds it.\n"


def _lint() -> Iterator[str]:
    yield "# Every lint code\n"
    rows = [
        (code.code, code.name, code.severity, code.sentence, code.example) for code in LINT_CODES.values()
    ]
    yield from _table(("code", "name", "severity", "finding", "as it may read"), rows)


def _wire() -> Iterator[str]:
    yield "# Every check of a request\n"
    yield "What `check_request` and `check_context` look for: the rules of Anthropic's Messages API.\n"
    rows = [
        (f"`{check.__name__.removeprefix('find_')}`", (check.__doc__ or "").strip().split("\n\n")[0])
        for check in CHECKS
    ]
    yield from _table(("check", "what it refuses"), rows)


def _formats() -> Iterator[str]:
    yield "# Every format\n"
    yield "<!-- table -->\n"
    places: dict[str, list[str]] = {}
    for place in PLACES:
        where = "/".join(part for part in (f"~/{place.base}", place.folder) if part)
        places.setdefault(place.harness, []).append(where)
    rows = []
    for reader in READERS:
        about = (inspect.getdoc(_find_module(reader)) or "").split("\n\n")[0]
        content = re.sub(r"^Read (and write )?", "", about)
        content = content[:1].upper() + content[1:]
        rows.append((f"`{reader.name}`", reader.title, content, "yes" if reader.start else ""))
    yield from _table(("format", "harness", "content of a file", "followed while it grows"), rows)
    yield "Where `sessions()` looks:\n"
    yield from _table(
        ("harness", "places"),
        [(name, ", ".join(f"`{place}`" for place in dict.fromkeys(where))) for name, where in places.items()],
    )


def _find_module(reader: Reader) -> ModuleType | None:
    """Return the module of a format: the one that judges its files. Readers share the code that reads lines
    and documents."""
    sniff: Any = reader.sniff
    while isinstance(sniff, partial):
        sniff = sniff.keywords.get("judge", sniff.func)
    return inspect.getmodule(sniff)


def _errors() -> Iterator[str]:
    errors = import_module("inspector.errors")
    yield "# Errors\n"
    yield "Each is an `InspectorError` and says in a sentence what was wrong and what to do next.\n"
    for name, thing in vars(errors).items():
        if inspect.isclass(thing) and issubclass(thing, Exception) and thing.__module__ == errors.__name__:
            yield from _class(f"inspector.errors.{name}", thing, members=False)


def _names(module: str, stub: Path, title: str) -> Iterator[str]:
    """The public names of a room, in the order of its table of contents."""
    yield f"# {title}\n"
    yield _prose(inspect.getdoc(import_module(module))) + "\n"
    comments = {
        number: line[2:]
        for number, line in enumerate(stub.read_text("utf-8").split("\n"), 1)
        if line.startswith("# ")
    }
    for node in ast.parse(stub.read_text("utf-8")).body:
        if not isinstance(node, ast.ImportFrom):
            continue
        comment = comments.get(node.lineno - 1)
        if comment and not comment.endswith("."):
            yield f"## {comment[0].upper()}{comment[1:]}\n"
        for alias in node.names:
            if module != "inspector" and alias.name in inspector.__all__:
                yield f"- {{py:obj}}`inspector.{alias.name}` is at the top of the package.\n"
            else:
                yield from _name(f"{module}.{alias.name}", getattr(import_module(module), alias.name))


def _name(name: str, thing: Any) -> Iterator[str]:
    if inspect.isclass(thing):
        yield from _class(name, thing)
    elif callable(thing):
        yield from _directive("function", f"{name}{_signature(thing)}", _prose(inspect.getdoc(thing)))
    else:
        text = f"A value: `{_cell(type(thing).__name__)}`."
        yield from _directive("data", name, text)


def _signature(thing: Any) -> str:
    try:
        text = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return "()"
    text = re.sub(r"<[^<>]*>", "…", text.replace("'", ""))
    return text if len(text) < 400 else "(…)"


def _directive(kind: str, signature: str, text: str, depth: int = 0) -> Iterator[str]:
    fence = ":" * (6 - depth)
    yield f"{fence}{{py:{kind}}} {signature}"
    yield text
    yield f"{fence}\n"


def _class(name: str, thing: type, members: bool = True) -> Iterator[str]:
    lines = [_prose(thing.__doc__)]
    for attribute, value in vars(thing).items() if members else ():
        if attribute.startswith("_"):
            continue
        inner = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        is_property = isinstance(inner, property) or type(inner).__name__ == "cached_property"
        about = inspect.getdoc(inner)
        if not about or not (is_property or inspect.isfunction(inner)) or about.startswith("Alias for field"):
            continue
        if is_property:
            lines += _directive("property", attribute, _prose(about), 1)
        else:
            signature = re.sub(r"\((self|cls)(, )?", "(", _signature(inner))
            lines += _directive("method", f"{attribute}{signature}", _prose(about), 1)
    yield from _directive("class", name, "\n".join(lines))
