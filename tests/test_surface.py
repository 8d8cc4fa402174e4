"""The public names: all there, all documented, and cheap until they are asked for."""

from __future__ import annotations

import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path
from types import ModuleType

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


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'squeeze'"):
        inspector.squeeze  # noqa: B018


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = "{'numpy', 'pydantic', 'anywidget', 'tiktoken'}"
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


@pytest.mark.parametrize("name", sorted(inspector._OLD))
def test_a_name_of_0_1_still_leads_to_what_it_was_and_says_where_that_is_now(name: str) -> None:
    room, _, new = inspector._OLD[name].rpartition(".")
    with pytest.warns(DeprecationWarning, match=f"inspector.{name} is inspector.{inspector._OLD[name]} from"):
        value = getattr(inspector, name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert value is getattr(import_module(f"inspector.{room}" if room else "inspector"), new)
