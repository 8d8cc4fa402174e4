"""The wheel holds what it should, and installs and runs where there is no Node."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
import yaml

import inspector
from tests.test_floors import MODULES, imports, room

ROOT = Path(__file__).parents[1]
VERSION = inspector.__version__
WIDGET = ("inspector/static/widget.js", "inspector/static/later.js", "inspector/static/widget.css")
SHARED = f"compaction_inspector-{VERSION}.data/data/"
EXTENSION = "share/jupyter/labextensions/compaction-inspector"
SERVER = "etc/jupyter/jupyter_server_config.d/inspector.json"


def without_node(folder: Path) -> dict[str, str]:
    """This environment with nothing on PATH but what `folder` holds, so neither node nor npm is found."""
    return {**os.environ, "PATH": str(folder), "PYTHONPATH": ""}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a source archive, and a wheel that was built from it: both without Node."""
    assert (ROOT / WIDGET[0]).is_file(), "the front end is not built: run `make build`"
    folder, empty = tmp_path_factory.mktemp("built"), tmp_path_factory.mktemp("empty")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, env=without_node(empty), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (wheel,) = built.glob("*.whl")
    return wheel


def names(wheel: Path) -> set[str]:
    return set(zipfile.ZipFile(wheel).namelist())


def test_the_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    held = names(wheel)
    package = {path.relative_to(ROOT).as_posix() for path in (ROOT / "inspector").rglob("*.py")}
    lessons = {path.relative_to(ROOT).as_posix() for path in (ROOT / "inspector").rglob("*.md")}
    assert len(lessons) >= 2
    assert package | lessons | {"inspector/py.typed", "inspector/demo.jsonl.xz", *WIDGET} <= held
    assert {name.split("/")[0] for name in held} == {
        "inspector",
        f"compaction_inspector-{VERSION}.data",
        f"compaction_inspector-{VERSION}.dist-info",
    }
    assert not [name for name in held if name.startswith("inspector/labextension")]
    assert f"compaction_inspector-{VERSION}.dist-info/licenses/LICENSE" in held


def test_the_wheel_holds_the_jupyterlab_extension_and_switches_the_server_on(wheel: Path) -> None:
    shared = {name.removeprefix(SHARED) for name in names(wheel) if name.startswith(SHARED)}
    built = ROOT / "inspector" / "labextension"
    files = {
        f"{EXTENSION}/{path.relative_to(built).as_posix()}" for path in built.rglob("*") if path.is_file()
    }
    assert shared == files | {f"{EXTENSION}/install.json", SERVER}
    with zipfile.ZipFile(wheel) as packed:
        told = json.loads(packed.read(SHARED + SERVER))
        install = json.loads(packed.read(f"{SHARED}{EXTENSION}/install.json"))
    assert told == {"ServerApp": {"jpserver_extensions": {"inspector": True}}}
    assert install["packageName"] == "compaction-inspector"


def test_the_wheel_is_for_every_platform(wheel: Path) -> None:
    assert wheel.name == f"compaction_inspector-{VERSION}-py3-none-any.whl"


def test_the_wheel_installs_and_imports_without_node(wheel: Path, tmp_path: Path) -> None:
    """In an environment of its own; only its dependencies are borrowed from this one."""
    home = tmp_path / "venv"
    venv.create(home, with_pip=False)
    python = home / ("Scripts" if os.name == "nt" else "bin") / "python"
    environment = without_node(python.parent)
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index"]
    done = subprocess.run([*pip, str(wheel)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    script = (
        "import inspector, importlib.resources as r; from importlib.metadata import version;"
        "print(inspector.__file__, version('compaction-inspector'));"
        "assert (r.files('inspector') / 'static' / 'widget.js').is_file();"
        "assert len(inspector.open_demo().turns) == 21;"
        "assert all(getattr(inspector, name) is not None for name in getattr(inspector, '__all__', ()))"
    )
    borrowed = {
        **environment,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if "site-packages" in path),
    }
    done = subprocess.run([python, "-c", script], cwd=tmp_path, env=borrowed, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    place, version = done.stdout.rsplit(maxsplit=1)
    assert Path(place).is_relative_to(home)
    assert version == VERSION
    told = json.loads((home / EXTENSION / "package.json").read_text("utf-8"))
    assert (home / EXTENSION / told["jupyterlab"]["_build"]["load"]).is_file()
    assert (home / SERVER).is_file()


def test_the_source_archive_holds_no_library_of_node_s(built: Path) -> None:
    (archive,) = built.glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        assert not [name for name in packed.getnames() if "node_modules" in name.split("/")]


def test_the_version_is_told_the_same_everywhere() -> None:
    package = json.loads((ROOT / "js" / "package.json").read_text("utf-8"))
    assert package.get("version", VERSION) == VERSION
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    newest = re.search(r"^## \[(.+?)\] - (unreleased|\d{4}-\d\d-\d\d)$", changes, re.M)
    assert newest is not None
    assert newest[1] == VERSION
    kinds = re.findall(r"^### (\w+)$", changes, re.M)
    assert {*kinds} <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_every_library_that_is_imported_is_asked_for() -> None:
    needed = {room(found.module) for name in MODULES for found in imports(name)} - sys.stdlib_module_names
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    asked = {re.split(r"[^\w.-]", line)[0].lower() for line in project["dependencies"]}
    asked |= {"anthropic", "fsspec", "mcp", "plotly"}  # by an extra, and imported late
    # Imported where they are already: in a Jupyter server, in an IPython session.
    asked |= {"jupyter_server", "jupyter_core", "tornado", "ipython"}
    known = packages_distributions()
    missing = {
        top for top in needed - {"inspector"} if not {name.lower() for name in known.get(top, ())} & asked
    }
    assert missing == set()


WORKFLOWS = {
    path.stem: yaml.safe_load(path.read_text("utf-8")) for path in (ROOT / ".github/workflows").iterdir()
}
JOBS = [
    pytest.param(job, id=f"{name}, {part}")
    for name, flow in WORKFLOWS.items()
    for part, job in flow["jobs"].items()
]


@pytest.mark.parametrize("job", JOBS)
def test_an_action_is_pinned_by_its_major_version_and_a_target_is_one_of_the_makefile(
    job: dict[str, Any],
) -> None:
    used = [step["uses"] for step in job.get("steps", ()) if "uses" in step]
    own = {
        f"./{path.parent.relative_to(ROOT).as_posix()}" for path in ROOT.glob(".github/actions/*/action.yml")
    }
    others = [name for name in used if name not in own]
    assert [name for name in others if not re.fullmatch(r"[\w-]+/[\w-]+@(release/)?v\d+", name)] == []
    if "uses" in job:
        assert (ROOT / job["uses"]).is_file()
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.M))
    asked = {
        found for step in job.get("steps", ()) for found in re.findall(r"\bmake (\w+)", step.get("run", ""))
    }
    assert asked <= targets


def test_only_what_publishes_may_write_and_only_after_everything_was_tried() -> None:
    for flow in WORKFLOWS.values():
        assert flow["permissions"] == {"contents": "read"}
    may = {
        (name, part): set(job["permissions"])
        for name, flow in WORKFLOWS.items()
        for part, job in flow["jobs"].items()
        if "permissions" in job
    }
    assert may == {("release", "publish"): {"id-token"}, ("docs", "publish"): {"pages", "id-token"}}
    assert set(WORKFLOWS["release"]["jobs"]["publish"]["needs"]) == {"tests", "wheels"}
    assert "secrets." not in str(WORKFLOWS)
