"""What an extra of the package asks for, without the package: `python tests/requirements.py EXTRA`, by line.

So that it can be installed while the front end, which the package's own installation waits for, is built.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path


def list_requirements(extra: str) -> list[str]:
    """The requirements of the package, of an extra, and of the extras that it names."""
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    found, extras = list(project["dependencies"]), [extra]
    for name in extras:
        for line in project["optional-dependencies"][name]:
            own = re.fullmatch(rf"{re.escape(project['name'])}\[(.+)\]", line)
            if own is None:
                found.append(line)
            else:
                extras += [one for one in re.split(r"\s*,\s*", own[1]) if one not in extras]
    return list(dict.fromkeys(found))


if __name__ == "__main__":
    print(*list_requirements(sys.argv[1]), sep="\n")
