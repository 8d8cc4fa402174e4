"""How the workbench looks to people who see colours differently, and in grey.

The pixels are those of Chromium's own simulation (Machado, Oliveira and Fernandes 2009, at full severity;
achromatopsia as luminance alone). Distances are Euclidean in Oklab (Ottosson 2020), where 0.02 is about the
least that people tell apart side by side. Pictures of each are kept in tests/browser/shots/look-*.png.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

import pytest
from playwright.sync_api import BrowserContext, Page

from tests.browser.bare import WidgetServer, open_bare_page, set_theme, show_widget
from tests.browser.product import Workbench, open_demo
from tests.browser.screen import screenshot

DEFICIENCIES = ("protanopia", "deuteranopia", "tritanopia", "achromatopsia")
SECTIONS = ("compacted", "user", "assistant", "reasoning", "tool_call", "tool_output")
"""The sections whose bars stand side by side; system, tools and provided are greys at the bar's beginning."""
FATES = ("verbatim", "truncated", "pointer", "summarised", "dropped", "cleared")
APART = 0.06  # of sections, under each colour blindness: three times that least
PATTERNS_APART = 20  # of 255: mean difference of two fates' chips in grey, pixel by pixel
SIDE = 16
MIDDLE = SIDE * SIDE // 2 + SIDE // 2

SWATCHES = """([sections, fates]) => {
  const sheet = document.createElement("div");
  sheet.id = "swatches";
  sheet.style.cssText = "position: fixed; left: 0; top: 0; z-index: 99999; display: flex";
  sheet.style.background = "var(--ci-ground)";
  const root = document.querySelector(".ci");
  for (const section of sections) {
    const node = document.createElement("i");
    node.style.cssText = `width: 16px; height: 16px; background: var(--ci-s-${section})`;
    sheet.append(node);
  }
  for (const fate of fates) {
    const node = document.createElement("i");
    node.className = `ci-chip ci-is-${fate}`;
    node.style.cssText = "--hue: var(--ci-s-tool_output); width: 16px; height: 16px; margin: 0; flex: none";
    sheet.append(node);
  }
  root.append(sheet);
}"""
PIXELS = """async picture => {
  const image = new Image();
  image.src = `data:image/png;base64,${picture}`;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height);
  const context = canvas.getContext("2d");
  context.drawImage(image, 0, 0);
  return [image.width, [...context.getImageData(0, 0, image.width, image.height).data]];
}"""


class Colour(NamedTuple):
    red: float
    green: float
    blue: float


@pytest.fixture(scope="module")
def page(window: BrowserContext, widgets: WidgetServer) -> Iterator[Page]:
    """One workbench for all of them, which nobody touches."""
    page = window.new_page()
    page.set_viewport_size({"width": 1280, "height": 1700})
    open_bare_page(page, widgets)
    workbench = Workbench(open_demo())
    show_widget(page, workbench.model_id)
    page.get_by_test_id("cut-handle").wait_for()
    yield page
    page.close()
    workbench.close()


def see_as(page: Page, deficiency: str) -> None:
    devtools = page.context.new_cdp_session(page)
    devtools.send("Emulation.setEmulatedVisionDeficiency", {"type": deficiency})


def read_swatches(page: Page) -> list[list[Colour]]:
    """The pixels of each swatch on the screen, as they are seen."""
    page.evaluate(SWATCHES, [SECTIONS, FATES])
    picture = page.locator("#swatches").screenshot()
    page.evaluate("() => document.querySelector('#swatches').remove()")
    width, numbers = page.evaluate(PIXELS, base64.b64encode(picture).decode())
    assert width == SIDE * (len(SECTIONS) + len(FATES))
    return [
        [
            Colour(*numbers[4 * (y * width + x) : 4 * (y * width + x) + 3])
            for y in range(SIDE)
            for x in range(SIDE * at, SIDE * (at + 1))
        ]
        for at in range(len(SECTIONS) + len(FATES))
    ]


def to_oklab(colour: Colour) -> tuple[float, float, float]:
    """Ottosson, "A perceptual color space for image processing" (2020): sRGB of 0..255 to Oklab.

    >>> [round(part, 2) for part in to_oklab(Colour(255, 255, 255))]
    [1.0, 0.0, 0.0]
    """
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (part / 255 for part in colour)
    )
    long, middle, brief = (
        (weights[0] * red + weights[1] * green + weights[2] * blue) ** (1 / 3)
        for weights in (
            (0.4122214708, 0.5363325363, 0.0514459929),
            (0.2119034982, 0.6806995451, 0.1073969566),
            (0.0883024619, 0.2817188376, 0.6299787005),
        )
    )
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * brief,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * brief,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * brief,
    )


def distance(one: Colour, other: Colour) -> float:
    return float(sum((a - b) ** 2 for a, b in zip(to_oklab(one), to_oklab(other), strict=True)) ** 0.5)


def test_white_is_one_and_grey_has_no_hue() -> None:
    assert to_oklab(Colour(255, 255, 255)) == pytest.approx((1, 0, 0), abs=1e-3)
    assert to_oklab(Colour(128, 128, 128))[1:] == pytest.approx((0, 0), abs=1e-3)
    assert distance(Colour(255, 0, 0), Colour(0, 255, 0)) == pytest.approx(0.52, abs=0.01)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("deficiency", ["none", *DEFICIENCIES[:3]])
def test_sections_are_told_apart_by_any_eye(page: Page, deficiency: str, dark: bool) -> None:
    set_theme(page, dark)
    see_as(page, deficiency)
    seen = dict(zip(SECTIONS, (pixels[MIDDLE] for pixels in read_swatches(page)), strict=False))
    apart = {pair: distance(seen[pair[0]], seen[pair[1]]) for pair in combinations(SECTIONS, 2)}
    near = {pair: round(gap, 3) for pair, gap in apart.items() if gap < APART}
    assert near == {}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_fates_are_told_apart_in_grey(page: Page, dark: bool) -> None:
    set_theme(page, dark)
    see_as(page, "achromatopsia")
    chips = dict(zip(FATES, read_swatches(page)[len(SECTIONS) :], strict=True))
    assert all(max(pixel) - min(pixel) <= 2 for chip in chips.values() for pixel in chip), "all is grey"
    near = {}
    for one, other in combinations(FATES, 2):
        gaps = [abs(a.green - b.green) for a, b in zip(chips[one], chips[other], strict=True)]
        if sum(gaps) / len(gaps) < PATTERNS_APART:
            near[one, other] = round(sum(gaps) / len(gaps), 1)
    assert near == {}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_pictures_of_every_eye_are_kept(page: Page, dark: bool) -> None:
    set_theme(page, dark)
    sizes = set()
    for deficiency in ("none", *DEFICIENCIES):
        see_as(page, deficiency)
        path = screenshot(page, f"look-{'dark' if dark else 'light'}-{deficiency}", ".ci")
        sizes.add(path.read_bytes())
    assert len(sizes) == len(DEFICIENCIES) + 1, "the simulation changes what is seen"
