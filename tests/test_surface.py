"""The public names: all there, all documented, and cheap until they are asked for."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from doctest import SKIP, DocTestParser
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import get_origin

import pytest

import inspector

PACKAGE = Path(inspector.__file__).parent
ROOMS = [
    ".".join(("inspector", *stub.parent.relative_to(PACKAGE).parts))
    for stub in sorted(PACKAGE.rglob("*/__init__.pyi"))
]


@pytest.mark.parametrize("name", inspector.__all__)
def test_every_public_name_can_be_had_and_says_what_it_is(name: str) -> None:
    value = getattr(inspector, name)
    assert name in dir(inspector)
    if callable(value):
        assert value.__doc__
        assert not value.__doc__.startswith(f"{name}(")


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = "{'numpy', 'pydantic', 'anywidget', 'tiktoken', 'IPython', 'anthropic', 'dask', 'plotly'}"
    code = f"import sys, inspector; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("room", ROOMS)
def test_every_name_of_a_room_can_be_had_and_is_no_module(room: str) -> None:
    facade = import_module(room)
    assert facade.__doc__ and facade.__all__
    for name in facade.__all__:
        value = getattr(facade, name)
        assert not isinstance(value, ModuleType), f"{room}.{name}"
        assert name in dir(facade)


def read_facades() -> Iterator[tuple[str, str, str]]:
    """Every facade with each name it publishes and the module that the name comes from."""
    for facade in ("inspector", *ROOMS):
        stub = PACKAGE.joinpath(*facade.split(".")[1:], "__init__.pyi")
        for node in ast.parse(stub.read_text("utf-8")).body:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    yield facade, alias.asname or alias.name, f"{facade}.{node.module}"


def shows_itself(name: str, docstring: str | None) -> bool:
    """Whether an example that is run uses the name, or shows it in what comes of it."""
    examples = DocTestParser().get_examples(docstring or "")
    run = [one for one in examples if not one.options.get(SKIP)]
    return any(re.search(rf"\b{name}\b", one.source + one.want) for one in run)


def test_every_public_callable_has_an_example_of_its_use() -> None:
    names = list(read_facades())
    for facade in ("inspector", *ROOMS):
        published = {name for name in import_module(facade).__all__ if not name.startswith("__")}
        assert published == {name for here, name, _ in names if here == facade}
    without = []
    for facade, name, module in names:
        value = getattr(import_module(facade), name)
        # A type that is made of others has no docstring of its own: its module says what it is.
        docstring = (import_module(module) if get_origin(value) else value).__doc__
        if callable(value) and not shows_itself(name, docstring):
            without.append(f"{facade}.{name}")
    assert without == []


@pytest.mark.parametrize("name", sorted(inspector._OLD))
def test_a_name_of_0_1_still_leads_to_what_it_was_and_says_where_that_is_now(name: str) -> None:
    room, _, new = inspector._OLD[name].rpartition(".")
    with pytest.warns(DeprecationWarning, match=f"inspector.{name} is inspector.{inspector._OLD[name]} from"):
        value = getattr(inspector, name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert value is getattr(import_module(f"inspector.{room}" if room else "inspector"), new)
