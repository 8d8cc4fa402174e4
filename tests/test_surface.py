"""The public names: all there, all documented, and cheap until they are asked for."""

from __future__ import annotations

import subprocess
import sys

import pytest

import inspector


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
