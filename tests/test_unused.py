"""Nothing in the package is there for the tests alone: what only they call belongs in tests/reference/."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import inspector

# A name, a dotted name, a type: "magic:load", "dict[str, Sheet] | None".
_CODE = re.compile(r"[\w.:|\[\], ]+")
PACKAGE = Path(inspector.__file__).parent
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

# Called by name from outside: by the Jupyter server, the JupyterLab build, and the tests of others' readers.
HOOKS = {
    "__init__._jupyter_labextension_paths",
    "__init__._jupyter_server_extension_points",
    "jupyter.server._load_jupyter_server_extension",
    "hooks.tools.list_tools",
    "testing.check_reader",
    "testing.check_lesson",
    "testing.open_check",
}
# Not called by the package, and why it still stands there. This list only shrinks.
ALLOWED: dict[str, str] = {}


def read_sources() -> dict[str, str]:
    """The text of every module, by its dotted name inside the package."""
    paths = (path for path in PACKAGE.rglob("*.py") if "static" not in path.parts)
    return {
        ".".join(path.relative_to(PACKAGE).with_suffix("").parts): path.read_text("utf-8") for path in paths
    }


def read_facades() -> set[str]:
    """The names that the package and its rooms publish."""
    stubs = (ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("__init__.pyi"))
    imports = (node for stub in stubs for node in stub.body if isinstance(node, ast.ImportFrom))
    return {alias.asname or alias.name for node in imports for alias in node.names}


def docstrings(tree: ast.AST) -> set[ast.AST]:
    """The strings that stand alone: of definitions, and those below a constant that explain it."""
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}


def used_names(tree: ast.AST) -> Iterator[str]:
    """Every name that a piece of code speaks of, but for imports: they use nothing by themselves.

    Of its strings those that could be code: types written ahead, and names of hooks and of attributes.
    """
    prose = docstrings(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            if not _CODE.fullmatch(node.value):
                continue
            try:
                yield from used_names(ast.parse(node.value.replace(":", "."), mode="eval"))
            except (SyntaxError, ValueError):
                continue


def find_unused(sources: Mapping[str, str], public: Iterable[str] = ()) -> list[str]:
    """Functions and classes of modules, as "module.name", that nothing but themselves speaks of."""
    trees = {module: ast.parse(text) for module, text in sources.items()}
    uses = Counter(name for tree in trees.values() for name in used_names(tree))
    names = set(public)
    return [
        f"{module}.{node.name}"
        for module, tree in sorted(trees.items())
        for node in tree.body
        if isinstance(node, DEFINITIONS) and node.name not in names
        if uses[node.name] == Counter(used_names(node))[node.name]
    ]


@cache
def find_unpublished() -> frozenset[str]:
    """What nothing in the package speaks of and nobody is told of."""
    return frozenset(find_unused(read_sources(), read_facades()))


def test_nothing_stands_in_the_package_for_the_tests_alone() -> None:
    assert sorted(find_unpublished() - HOOKS - ALLOWED.keys()) == []


def test_no_allowance_is_left_over() -> None:
    assert sorted(ALLOWED.keys() - find_unpublished()) == []
    assert sorted(HOOKS - find_unpublished()) == []
