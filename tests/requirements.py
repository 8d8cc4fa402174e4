"""Print the requirements of the package and of extras, one a line: `python tests/requirements.py EXTRA ...`.

They can be installed while the front end is built; installing the package itself needs the built front end.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path


def list_requirements(*names: str) -> list[str]:
    """Return the requirements of the package, of these extras, and of the extras that they name."""
    text = (Path(__file__).parents[1] / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    requirements, extras = list(project["dependencies"]), list(names)
    for name in extras:
        for line in project["optional-dependencies"][name]:
            own = re.fullmatch(rf"{re.escape(project['name'])}\[(.+)\]", line)
            if own is None:
                requirements.append(line)
            else:
                extras += [one for one in re.split(r"\s*,\s*", own[1]) if one not in extras]
    return list(dict.fromkeys(requirements))


if __name__ == "__main__":
    print(*list_requirements(*sys.argv[1:]), sep="\n")
