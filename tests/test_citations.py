"""Citations such as (FLUE §6.4): each one leads to a section of a page in `notebooks/specs`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.test_floors import ROOT

FOLDERS = ("inspector", "js/src", "notebooks/guide", "tests", ".github")
WORD = re.compile(r"\b([A-Z][A-Z0-9-]{3,})[\s\"#]+(?=§\d)|§(\d+(?:\.\d+)?)(?:[-–](\d+))?|\(§\).* (CLAUDE)")


def split_sections(page: str) -> dict[str, str]:
    """The text of each section of a page, by its number."""
    _, *parts = re.split(r"^#{2,3} §([\d.]+) .*$", page, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def find_citations(text: str) -> Iterator[tuple[str, str]]:
    """Document and number of each citation. A number without a name belongs to the last name before it."""
    name = ""
    for word, first, last, named in WORD.findall(text):
        name = word or named or name
        head, _, low = first.rpartition(".")
        numbers = range(int(low), int(last or low) + 1) if first else ()
        yield from ((name, f"{head}.{number}".lstrip(".")) for number in numbers)


def test_every_citation_leads_to_a_section() -> None:
    """Or to an item of the numbered list in a section without subsections: §6.4 may be item 4 of §6."""
    pages = {page.stem.upper(): page.read_text("utf-8") for page in ROOT.glob("notebooks/specs/*.md")}
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*")]
    for path in (path for path in paths if path.suffix in (".py", ".ts", ".md")):
        for name, number in find_citations(path.read_text("utf-8")):
            known, (section, _, item) = split_sections(pages.get(name, "")), number.rpartition(".")
            whole = "" if any(n.startswith(f"{section}.") for n in known) else known.get(section, "")
            found = number in known or re.search(rf"^{item}\. ", whole, re.MULTILINE) or name == "ECMA-262"
            assert found, f"{path.name}: {name} §{number}"
