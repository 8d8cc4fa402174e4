"""What a Binder launch does, without a container: a fresh clone, a fresh environment, one notebook run.

With a binder/ folder, repo2docker reads only that folder, and does not install the repository by itself.
It runs the requirements and postBuild in the repository's root, in an environment that has JupyterLab
and Node. Source: repo2docker's documentation of configuration files, and its base environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BASE = ("ipywidgets==8.*", "jupyter_server==2.*", "jupyterlab==4.*", "notebook==7.*")
NOTEBOOK = "notebooks/00-lessons.ipynb"


def run(*command: str, cwd: Path = ROOT, env: dict[str, str] | None = None) -> None:
    """Run one command, and tell what it was and how long it took."""
    print("+", *command, flush=True)
    start = time.monotonic()
    subprocess.run(command, check=True, cwd=cwd, env=env)
    print(f"  {time.monotonic() - start:.1f} s", flush=True)


def main() -> None:
    start = time.monotonic()
    wanted = (ROOT / "binder/runtime.txt").read_text().strip().removeprefix("python-")
    found = f"{sys.version_info.major}.{sys.version_info.minor}"
    if wanted != found:
        print(f"note: runtime.txt asks for Python {wanted}, this is {found}")
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    if status.stdout:
        print("note: what is not committed is not launched")
    with tempfile.TemporaryDirectory() as folder:
        home, repo, venv = Path(folder), Path(folder, "repo"), Path(folder, "venv")
        run("git", "clone", "--quiet", str(ROOT), str(repo))
        run(sys.executable, "-m", "venv", str(venv))
        env = {
            **os.environ,
            "PATH": f"{venv / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "VIRTUAL_ENV": str(venv),
        }
        pip = (str(venv / "bin/python"), "-m", "pip", "install", "--quiet", "--no-cache-dir")
        run(*pip, *BASE, cwd=repo, env=env)
        run(*pip, "-r", "binder/requirements.txt", cwd=repo, env=env)
        run("./binder/postBuild", cwd=repo, env=env)
        run(str(venv / "bin/jupyter"), "execute", NOTEBOOK, cwd=repo, env=env)
    print(f"launched and ran {NOTEBOOK} in {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
