"""A session file as a document of JupyterLab: every way to it, and what it does there."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Response, expect

from tests.browser.hand import choose_policy, open_tab
from tests.browser.lab import WORKBENCH, Lab, find_file, open_lab, run, settle, wait_until_restored
from tests.browser.product import open_session, read_demo
from tests.browser.screen import Watch, screenshot, wait_until, wait_until_still

CLOSE_ALL = "window.jupyterapp.commands.execute('application:close-all')"


@pytest.fixture
def page(lab_page: Page) -> Page:
    """One tab of JupyterLab for all tests here; each starts with nothing open."""
    return lab_page


def take_policy(document: Locator, name: str) -> None:
    choose_policy(document, name)
    expect(document.get_by_test_id("recipe")).to_contain_text(name)


def choose_block(document: Locator) -> str:
    """Look at the second step's block by keyboard; returns what is told of it."""
    open_tab(document, "blocks")
    lanes = document.get_by_role("grid").first
    for _ in range(2):
        lanes.press("ArrowRight")
    expect(document.get_by_test_id("pin")).to_be_visible()
    block = document.get_by_test_id("block")
    expect(block).to_contain_text("in the file")  # the last line that the server answers
    return block.inner_text()


@pytest.fixture
def quiet(watch: Watch, lab: Lab) -> Any:
    """Nothing is complained of, and nothing is asked of any other host."""
    yield watch
    assert watch.strangers(lab) == []
    assert watch.errors == []


@pytest.mark.parametrize("name", ["clicked.session.jsonl", "clicked.session.json"])
def test_a_double_click_opens_a_session_file(page: Page, lab: Lab, quiet: Watch, name: str) -> None:
    lab.write_session(name)
    open_lab(page, lab)
    find_file(page, name).dblclick()
    document = settle(page)
    expect(document).to_contain_text("Every high water an hour early")
    assert lab.api("kernels") == [], "no kernel is started for it"


def test_jupyterlabs_default_for_jsonl_stays_and_the_inspector_is_under_open_with(
    page: Page, lab: Lab, quiet: Watch
) -> None:
    name = lab.write_session("plain.jsonl")
    open_lab(page, lab)
    factories = page.evaluate(
        """name => {
          const registry = window.jupyterapp.docRegistry;
          const factories = registry.preferredWidgetFactories(name).map(factory => factory.name);
          return [registry.defaultWidgetFactory(name).name, factories,
            registry.getFileTypesForPath(name).map(type => type.name)] }""",
        name,
    )
    assert factories[0] != "Compaction Inspector"
    assert "Compaction Inspector" in factories[1]
    assert len(factories[2]) == len(set(factories[2]))
    find_file(page, name).click(button="right")
    page.get_by_text("Open With").hover()
    page.get_by_role("menuitem", name="Compaction Inspector").click()
    settle(page)


def test_the_context_menu_inspects_session_files_and_is_silent_on_others(
    page: Page, lab: Lab, quiet: Watch
) -> None:
    name = lab.write_session("menu.jsonl")
    other = lab.write_notebook("menu.ipynb", "1")
    open_lab(page, lab)
    find_file(page, other).click(button="right")
    page.get_by_role("menuitem", name="Rename").wait_for()
    expect(page.get_by_role("menuitem", name="Inspect compaction")).to_have_count(0)
    page.keyboard.press("Escape")
    find_file(page, name).click(button="right")
    page.get_by_role("menuitem", name="Inspect compaction").click()
    settle(page)


def test_the_launcher_offers_the_bundled_session_or_a_file(page: Page, lab: Lab, quiet: Watch) -> None:
    open_lab(page, lab)
    page.locator(".jp-LauncherCard", has_text="Compaction Inspector").locator("visible=true").click()
    expect(page.get_by_role("button", name="Choose a file")).to_be_visible()
    page.get_by_role("button", name="The bundled session").click()
    expect(settle(page)).to_contain_text("Every high water an hour early")
    run(page, "compaction-inspector:open-bundled")
    wait_until_still(page)
    assert page.locator(".ci-document").count() == 1, "the one that is open is shown again"


def test_a_file_that_is_no_session_is_told_in_a_sentence_and_can_be_tried_again(
    page: Page, lab: Lab, watch: Watch
) -> None:
    place = lab.notebooks / "broken.session.json"
    place.write_text('{"a":')
    open_lab(page, lab)
    find_file(page, place.name).dblclick()
    failure = page.get_by_test_id("failure")
    expect(failure).to_have_text("broken.session.json is not a session this package can read")
    screenshot(page, "document-broken")
    assert str(lab.notebooks) not in page.locator(".ci-document").inner_text()
    place.write_bytes(read_demo())
    page.get_by_role("button", name="Try again").click()
    settle(page)
    page.evaluate(CLOSE_ALL)
    place.write_text("[]")
    find_file(page, place.name).dblclick()
    page.get_by_role("button", name="Open as text").click()
    page.locator(".jp-FileEditor").wait_for()
    assert watch.strangers(lab) == []
    assert all("422" in error for error in watch.errors), watch.errors


def test_sixty_megabytes_stay_on_the_server(page: Page, lab: Lab, quiet: Watch) -> None:
    place = lab.notebooks / "heavy.session.jsonl"
    size = 0
    with place.open("w") as file:
        for line in read_demo().decode().splitlines():
            size += file.write(fatten(line) + "\n")
    assert size > 60_000_000
    sizes: list[int] = []

    def weigh(response: Response) -> None:
        if "/static/" not in response.url:
            sizes.append(int(response.headers.get("content-length", 0)))

    open_lab(page, lab)
    page.on("response", weigh)
    try:
        find_file(page, place.name).dblclick()
        page.locator(WORKBENCH).wait_for()
    finally:
        # The tab is the next test's too.
        page.remove_listener("response", weigh)
    assert max(sizes) < 500_000
    expect(page.get_by_test_id("work")).to_be_hidden()
    page.evaluate(CLOSE_ALL)
    lab.write_session(place.name)  # small again, but there: JupyterLab asks for what was open lately


def fatten(line: str) -> str:
    """A row of the story with half a megabyte more in each tool's output."""
    row = json.loads(line)
    content = row.get("message", {}).get("content")
    for block in content if isinstance(content, list) else []:
        if block.get("type") == "tool_result":
            block["content"] = f"{block['content']}\n" + "tide tables of the harbour\n" * 20_000
    return json.dumps(row)


def test_a_reload_shows_the_same_plan(page: Page, lab: Lab, quiet: Watch) -> None:
    name = lab.write_session("again.session.jsonl")
    open_lab(page, lab)
    find_file(page, name).dblclick()
    document = settle(page)
    take_policy(document, "keep-recent-turns")
    document.get_by_test_id("cut-handle").press("PageUp")
    settle(page)
    recipe = document.get_by_test_id("recipe").locator("code").inner_text()
    cut = re.search(r"cut='([^']+)'", recipe)
    assert cut is not None
    workspaces = lab.notebooks.parent / "workspaces"
    wait_until(lambda: any(cut[1] in path.read_text() for path in workspaces.iterdir()), page)
    page.goto(page.url.split("?")[0])
    wait_until_restored(page)
    document = settle(page)
    expect(document.get_by_test_id("recipe").locator("code")).to_have_text(recipe)


def test_the_screen_follows_a_file_that_grows(page: Page, lab: Lab, quiet: Watch) -> None:
    name = lab.write_session("growing.session.jsonl", lines=100)
    open_lab(page, lab)
    find_file(page, name).dblclick()
    document = settle(page)
    expect(document.locator(".ci-header")).to_contain_text("4 turns, 27 steps")
    with (lab.notebooks / name).open("ab") as file:
        file.writelines(read_demo().splitlines(keepends=True)[100:300])
    grown = open_session(lab.notebooks / name)
    assert len(grown.turns) > 4
    expect(document.locator(".ci-header")).to_contain_text(f"{len(grown.turns)} turns, ")


def test_a_document_that_the_server_forgot_is_opened_again_as_it_was(
    page: Page, lab: Lab, watch: Watch
) -> None:
    name = lab.write_session("forgotten.session.jsonl")
    open_lab(page, lab)
    find_file(page, name).dblclick()
    document = settle(page)
    watch.requests.clear()  # a document that was open before may have just let go of its own
    take_policy(document, "keep-recent-turns")
    (opened,) = {found[1] for url in watch.requests if (found := re.search(r"documents/([^/?]+)", url))}
    with page.expect_response(lambda response: response.url.split("?")[0].endswith("/inspector/open")):
        lab.ask(f"inspector/documents/{opened}", "DELETE")
    settle(page)
    expect(document.get_by_test_id("recipe")).to_contain_text("keep-recent-turns")
    take_policy(document, "codex")
    expect(document.get_by_test_id("error")).to_be_hidden()
    assert watch.strangers(lab) == []


def test_a_link_opens_its_block(page: Page, lab: Lab, quiet: Watch) -> None:
    name = lab.write_session("linked.jsonl")
    open_lab(page, lab)
    run(page, "compaction-inspector:open", path=name)
    document = settle(page)
    told = choose_block(document)
    page.keyboard.press("y")
    page.wait_for_function("navigator.clipboard.readText().then(text => text.includes('#ci='))")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith(f"{lab.base}/lab/tree/{name}#ci=")
    page.evaluate(CLOSE_ALL)
    page.goto("about:blank")
    page.goto(link.replace("#", "?reset#"))
    wait_until_restored(page)
    document = settle(page)
    expect(document.get_by_test_id("pin")).to_be_visible()
    wait_until(lambda: document.get_by_test_id("block").inner_text() == told, page)


def test_without_the_server_extension_a_document_says_what_is_missing(
    page: Page, lab: Lab, watch: Watch
) -> None:
    """As in JupyterLite, where nobody answers below /inspector; no kernel is started for it."""
    name = lab.write_session("nobody.session.jsonl")
    page.route(
        "**/inspector/**",
        lambda route: route.fulfill(status=404, content_type="text/html", body="<!doctype html>not here"),
    )
    open_lab(page, lab)
    find_file(page, name).dblclick()
    expect(page.get_by_test_id("failure")).to_contain_text("enable its server extension")
    assert lab.api("kernels") == []
    page.evaluate(CLOSE_ALL)
    assert watch.strangers(lab) == []
    assert all("404" in error for error in watch.errors), watch.errors


def test_what_the_settings_say_holds_for_every_session(page: Page, lab: Lab, quiet: Watch) -> None:
    """The last one here: JupyterLab reads them as it loads, so whatever follows has to load it again."""
    name = lab.write_session("settings.session.jsonl")
    save = "async raw => window.jupyterapp.serviceManager.settings.save('compaction-inspector:opener', raw)"
    open_lab(page, lab)
    page.evaluate(save, json.dumps({"policy": "keep-recent-turns", "textSize": 120}))
    try:
        page.evaluate("() => { window.isFreshLab = false }")
        open_lab(page, lab)
        find_file(page, name).dblclick()
        document = settle(page)
        expect(document.get_by_test_id("recipe")).to_contain_text("keep-recent-turns")
        assert document.evaluate("node => node.style.getPropertyValue('--ci-text-scale')") == "1.2"
    finally:
        page.evaluate(save, "{}")
        page.evaluate("() => { window.isFreshLab = false }")
