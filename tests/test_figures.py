"""What README and guide state in figures is what the committed tables say."""

from __future__ import annotations

from tests.figures import FIGURES, PLACE, fill_page, find_pages


def test_every_page_states_the_figures_of_the_committed_tables() -> None:
    stale = [path.name for path in find_pages() if fill_page(text := path.read_text("utf-8")) != text]
    assert not stale, "run `make figures`"


def test_every_figure_stands_on_a_page_and_every_place_is_closed() -> None:
    pages = [path.read_text("utf-8") for path in find_pages()]
    assert {name for page in pages for _, name, *_ in PLACE.findall(page)} == set(FIGURES)
    assert sum(page.count("<!-- figure: ") for page in pages) == sum(
        len(PLACE.findall(page)) for page in pages
    )
