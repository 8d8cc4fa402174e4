"""`python -m tests.concept_pictures`: draws every picture, and tells the page what it shows."""

from __future__ import annotations

from . import DRAWN, PAGE, THEMES, draw, find_place, read_label, tell
from .demo import Demo


def main() -> None:
    """Draw them, and print how many there are."""
    demo, page = Demo(), PAGE.read_text("utf-8")
    for name in DRAWN:
        for theme in THEMES:
            picture = draw(name, demo, theme)
            find_place(name, theme).write_text(picture, "utf-8")
        page = tell(page, name, read_label(picture))
    PAGE.write_text(page, "utf-8")
    print(
        f"wrote {len(DRAWN) * len(THEMES)} pictures into notebooks/images, and their words into {PAGE.name}"
    )


if __name__ == "__main__":
    main()
