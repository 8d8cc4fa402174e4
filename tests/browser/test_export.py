"""The exported page from file:// with the network off; notebooks as plain HTML."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import Locator, Page, expect

from inspector.workbench.queries import answer_query
from tests.browser.conftest import OpenOffline, OpenWorkbench
from tests.browser.hand import shown_place
from tests.browser.product import WorkbenchModel, export_html, open_demo, open_session
from tests.browser.screen import screenshot, wait_until_still
from tests.browser.traffic import Traffic
from tests.shared import SHARED

REAL = SHARED / "sessions" / "claude-code--entireio-cli" / "cc-3auto-compactions-893l.jsonl"


@pytest.fixture(scope="module")
def model() -> WorkbenchModel:
    """The real session where it is beside this checkout, else the bundled one."""
    session = open_session(REAL) if REAL.exists() else open_demo()
    model = WorkbenchModel(session, "flue")
    model.answer({"versus": {"policy": "keep-recent-turns"}})
    return model


@pytest.fixture(scope="module")
def exported(model: WorkbenchModel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    done = export_html(model, tmp_path_factory.mktemp("page") / "page.html")
    assert done.size < 1_500_000
    return done.path


def after(page: Page) -> str:
    return page.get_by_test_id("gauge-after").inner_text()


def test_the_page_opens_offline_and_the_cut_is_dragged(
    exported: Path, show: OpenOffline, model: WorkbenchModel
) -> None:
    page, told = show(exported)
    handle = page.get_by_test_id("cut-handle")
    handle.wait_for()
    place_before, shown = shown_place(page), after(page)
    grip, lanes = handle.bounding_box(), page.get_by_test_id("lanes").bounding_box()
    assert grip is not None
    assert lanes is not None
    page.mouse.move(grip["x"] + grip["width"] / 2, grip["y"] + grip["height"] / 2)
    page.mouse.down()
    page.mouse.move(lanes["x"] + lanes["width"] * 0.25, lanes["y"] + 20, steps=12)
    page.mouse.up()
    assert 0 < shown_place(page) < place_before
    expect(page.locator(".ci[aria-busy]")).to_have_count(0)
    assert after(page) != shown
    # What the page says of this cut is what Python says of it.
    name = model.plan.cuts.ids[shown_place(page)]
    model.answer({"cut": name})
    expect(page.get_by_test_id("recipe")).to_contain_text(f"cut='{name}'")
    left = f"{model.plan.after / 1000:.1f}".removesuffix(".0")
    expect(page.get_by_test_id("cut-handle")).to_have_attribute(
        "aria-valuetext", re.compile(rf"\b{left}k after")
    )
    for note in model.plan.notes:
        expect(page.locator(".ci")).to_contain_text(note)
    model.answer({"cut": ""})
    wait_until_still(page)
    assert told == []


def test_W2_25_findings_their_stories_and_both_summaries_are_on_the_page(
    exported_page: Path, show: OpenOffline
) -> None:
    page, told = show(exported_page)
    expect(page.get_by_test_id("cause")).to_contain_text("The summary does not mention this.")
    page.get_by_test_id("finding").filter(has_text="offsets.py").first.click()
    expect(page.get_by_test_id("evidence").nth(1).locator("mark")).to_have_text("offsets")
    fix = page.get_by_test_id("story-fix").first
    expect(fix.get_by_role("button")).to_have_text("Copy")
    expect(fix).to_contain_text("+1,")
    page.get_by_test_id("finding").filter(has_text="Look at the almanac").first.click()
    expect(page.get_by_test_id("story-title")).to_contain_text("never touch data/almanac.json")
    page.get_by_test_id("tab-summary").click()
    expect(page.get_by_test_id("side").first).to_contain_text("Missing: 2 rules and 2 files.")
    page.get_by_test_id("tab-context").click()
    expect(page.get_by_test_id("context-total")).to_have_text("18,629")
    assert told == []


def test_a_page_has_the_marks_and_the_legend_of_the_widget(
    exported_page: Path, show: OpenOffline, page: Page, open_workbench: OpenWorkbench
) -> None:
    open_workbench(policy="auto")
    exported, told = show(exported_page)
    for screen in (page, exported):
        signs = screen.get_by_test_id("overview-key").locator("span")
        expect(signs).to_have_text(
            ["◆ compaction", "◇ cleared", "↺ needed again", "$ cache rebuilt", "┄ after a summary"]
        )
        expect(screen.get_by_test_id("again-marks")).to_be_visible()
    assert told == []


def test_what_a_page_cannot_tell_is_said_once_and_offers_nothing_that_cannot_work(
    exported_page: Path, show: OpenOffline
) -> None:
    page, told = show(exported_page)
    page.get_by_test_id("look").get_by_role("button", name="plan").click()
    page.get_by_test_id("tab-compactions").click()
    plan = page.get_by_test_id("compaction").and_(page.locator("[data-look=plan]"))
    expect(plan.locator("[data-name=files]")).to_have_text(re.compile(r"^\d+$"))
    page.get_by_test_id("cut-handle").focus()
    page.keyboard.press("ArrowLeft")
    expect(plan.locator("[data-name=files]")).to_have_text("–")
    expect(plan).to_have_attribute("title", re.compile("kernel"))
    # Nothing more comes, and nothing is shown of the cut before.
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    page.get_by_test_id("tab-findings").click()
    expect(page.get_by_role("tabpanel", name="Findings")).to_contain_text("kernel")
    expect(page.get_by_test_id("finding")).to_have_count(0)
    expect(page.locator("[aria-busy=true]")).to_have_count(0)
    page.get_by_test_id("tab-facts").click()
    expect(page.get_by_test_id("facts-note")).to_contain_text("kernel")
    expect(page.get_by_test_id("facts").get_by_role("button", name="try again")).to_have_count(0)
    page.get_by_test_id("tab-compactions").click()
    alert = page.locator(".ci-error")
    page.locator("[data-look='cleared:1']").first.click()
    expect(alert).to_contain_text("one moment")
    page.get_by_test_id("compactions-losses").click()
    expect(alert).to_be_hidden()
    assert told == []


def test_an_opened_tab_follows_the_cut_and_the_end_is_no_recorded_summary(
    exported_page: Path, show: OpenOffline
) -> None:
    page, told = show(exported_page)
    handle, summary = page.get_by_test_id("cut-handle"), page.locator("[data-panel=summary]")
    page.get_by_test_id("tab-summary").click()
    expect(page.get_by_test_id("side").first).to_be_visible()
    handle.focus()
    page.keyboard.press("PageUp")
    expect(summary).to_contain_text("kernel")
    expect(page.get_by_test_id("side")).to_have_count(0)
    page.get_by_role("button", name="Reset to the policy's cut").click()
    page.get_by_test_id("tab-facts").click()
    page.get_by_test_id("facts-list").get_by_role("button").first.click()
    page.get_by_test_id("look").get_by_role("button", name="plan").click()
    page.get_by_test_id("tab-findings").click()
    page.get_by_test_id("finding").filter(has_text="offsets.py").first.click()
    page.get_by_test_id("tab-facts").click()
    expect(page.get_by_test_id("facts").get_by_test_id("story")).to_be_visible()
    handle.focus()
    page.keyboard.press("PageUp")
    expect(page.get_by_test_id("facts").get_by_test_id("story")).to_have_count(0)
    # The recorded compaction cuts at the end; a cut by hand there has a summary that is not written yet.
    handle.focus()
    page.keyboard.press("End")
    expect(page.get_by_test_id("sentence")).to_contain_text("not written yet")
    page.get_by_test_id("tab-findings").click()
    expect(page.locator("[data-panel=findings]")).to_contain_text("kernel")
    expect(page.get_by_test_id("losses")).to_have_count(0)
    assert told == []


@pytest.mark.parametrize("look", ["recorded:1", "plan"])
def test_a_page_has_the_fact_columns_and_the_recorded_side_whatever_was_shown(
    tmp_path: Path, exported_page: Path, show: OpenOffline, look: str
) -> None:
    model = WorkbenchModel(open_demo(), "auto")
    model.answer({})
    look_of_page = model.inputs["look"]
    model.answer({"look": look})
    query = {"id": 1, "place": model.shown.place, "pair": "before"}
    facts = answer_query(model, {"type": "context_facts", **query})
    path = exported_page if look == look_of_page else export_html(model, tmp_path / "page.html").path
    assert path.stat().st_size < 600_000
    page, told = show(path)
    page.get_by_test_id("tab-context").click()
    for name, side in (("only-in-a", "onlyLeft"), ("only-in-b", "onlyRight"), ("in-both", "both")):
        column = page.get_by_test_id(f"facts-{name}")
        expect(column.get_by_role("heading")).to_contain_text(f"{facts[side]['count']}")
        expect(column.get_by_role("listitem")).to_have_count(min(6, len(facts[side]["facts"])))
    # Every side that the switch offers has its findings.
    for side in ("plan", "recorded"):
        page.get_by_test_id("look").get_by_role("button", name=side).click()
        page.get_by_test_id("tab-findings").click()
        panel = page.locator("[data-panel=findings]")
        expect(panel.get_by_test_id("finding").first).to_be_visible()
        expect(panel).not_to_contain_text("not in this page")
    assert told == []


def test_the_facts_of_a_page_are_those_of_the_workbench_and_are_filtered_on_the_page(
    exported_page: Path, show: OpenOffline
) -> None:
    model = WorkbenchModel(open_demo(), "auto")
    model.answer({})

    def count(**filters: str) -> int:
        query = {"type": "facts", "id": 1, "place": model.plan.place or 0, **filters}
        return int(answer_query(model, query)["total"])

    page, told = show(exported_page)
    page.get_by_test_id("tab-facts").click()
    counter, field = page.get_by_test_id("facts-count"), page.get_by_test_id("facts-search")
    expect(counter).to_contain_text(f"{count():,} facts")
    field.fill("OFFSETS")
    expect(counter).to_have_text(re.compile(rf"^{count(query='OFFSETS')} fact"))
    page.get_by_test_id("facts-file").click()
    files = count(query="OFFSETS", kind="file")
    expect(counter).to_have_text(re.compile(rf"^{files} fact"))
    rows = page.get_by_test_id("fact")
    expect(rows).to_have_count(files)
    # A fact that is a finding has its story; of any other the page says where its outcomes are.
    rows.filter(has_text="calendar/offsets.py").first.click()
    expect(page.locator("[data-panel=facts]").get_by_test_id("story-title")).to_contain_text("offsets.py")
    page.get_by_test_id("facts-Kind").click()
    field.fill("")
    page.get_by_test_id("facts-symbol").click()
    rows.first.click()
    expect(page.locator("[data-panel=facts]")).to_contain_text("the row of this fact shows its outcome")
    page.get_by_test_id("cut-handle").press("Home")
    expect(page.get_by_test_id("facts-note")).to_contain_text("only for the cut that it was exported with")
    assert told == []


WORKS = "button:visible:enabled, [role=option]:visible, a:visible, input:visible:enabled"
NAMES = """nodes => nodes.map(node => node.ariaDisabled === 'true' ? '' :
  (node.dataset.testid || '') + ' ' + (node.ariaLabel || node.textContent || '').slice(0, 60))"""
FEW = 60  # controls of a tab that are pressed


def read_names(controls: Locator) -> list[str]:
    """Return the names of the controls once the page is still."""
    wait_until_still(controls.page, 50)
    names: list[str] = controls.evaluate_all(NAMES)
    return names


# Another element may cover it, such as a menu that the press before opened.
IS_REACHABLE = """node => {
  node.scrollIntoView({ block: 'center' });
  const { left, top, width, height } = node.getBoundingClientRect();
  return node.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}"""


def test_W2_25_nothing_that_is_visible_on_the_page_needs_a_kernel(
    exported_page: Path, show: OpenOffline
) -> None:
    """Every control of every tab is pressed. The page is opened anew where the next one is gone from it."""
    page, told = show(exported_page)
    inside = page.locator(".ci")
    handle = page.get_by_test_id("cut-handle")
    handle.wait_for()
    tabs = [tab.get_attribute("data-testid") or "" for tab in page.locator("[role=tab]:visible").all()]
    names = ("compactions", "findings", "facts", "blocks", "context", "summary", "rules")
    assert tabs == [f"tab-{name}" for name in names]
    controls = inside.locator(WORKS)
    pressed: set[str] = set()
    for tab in tabs:

        def reopen(tab: str = tab) -> list[str]:
            page.reload()
            handle.wait_for()
            page.get_by_test_id(tab).click()
            expect(inside.locator(":text('Asking')")).to_have_count(0)
            return read_names(controls)

        first = names = reopen()
        for words in first[:FEW]:
            if not words or words in pressed or words.startswith("tab-"):
                continue
            pressed.add(words)
            if words not in names or page.locator("dialog[open], [role=dialog]:visible").count():
                names = reopen()
            if not controls.nth(names.index(words)).evaluate(IS_REACHABLE):
                names = reopen()
            before = inside.inner_text()
            controls.nth(names.index(words)).click()
            names = read_names(controls)
            after = inside.inner_text()
            said = [line for line in after.splitlines() if line not in before and "kernel" in line]
            assert all("the others need a kernel" in line for line in said), (tab, words, said)
    assert len(pressed) > 30
    assert [line for line in told if not line.endswith("page.html")] == []


def test_W2_25_what_is_searched_for_is_found_in_the_texts_of_the_page(
    exported_page: Path, show: OpenOffline
) -> None:
    model = WorkbenchModel(open_demo())
    model.answer({})
    page, told = show(exported_page)
    field = page.get_by_test_id("search")
    field.fill("Zone.CACHE [")
    expect(page.get_by_test_id("found-note")).to_contain_text(
        "does not occur in the blocks and facts of this context"
    )
    # What the page finds is what a plain look through the moment's texts finds.
    words = "offsets.py"
    moment = model.plan.session
    live = moment.live
    texts = [block.text for entry in live.entries.tolist() for block in moment.entries[entry].blocks]
    expected = sum(words in text.lower() for text in texts)
    assert expected > 12
    field.fill(words.upper())
    listed = page.get_by_test_id("found").get_by_role("group", name="blocks").get_by_role("option")
    expect(listed.first.locator("mark").first).to_have_text(words)
    expect(page.get_by_test_id("found-note")).to_contain_text(f"{expected} blocks in all")
    listed.first.click()
    expect(page.get_by_test_id("tab-blocks")).to_have_attribute("aria-selected", "true")
    expect(page.get_by_test_id("block")).to_contain_text("turn")
    # Enter goes to the first place; words that no fact has are found in blocks alone.
    page.get_by_test_id("tab-findings").click()
    field.fill("raise ValueError")
    expect(listed.first.locator("mark").first).to_have_text("raise ValueError")
    field.press("Enter")
    expect(page.get_by_test_id("tab-blocks")).to_have_attribute("aria-selected", "true")
    assert told == []


WIDER = """nodes => nodes
  .map(node => [node.textContent, node.scrollWidth - node.clientWidth])
  .filter(([, more]) => more > 1)"""


def test_names_in_the_lists_of_a_page_do_not_run_into_their_notes(
    exported_page: Path, show: OpenOffline
) -> None:
    page, _ = show(exported_page)
    page.set_viewport_size({"width": 1100, "height": 900})
    page.get_by_test_id("tab-context").click()
    names = page.get_by_label("Essential facts").locator("li > *")
    expect(names.first).to_be_visible()
    assert names.evaluate_all(WIDER) == []


def test_a_link_opens_the_page_at_a_block(exported: Path, show: OpenOffline, model: WorkbenchModel) -> None:
    live = model.moment.live
    row = int(live.start[model.plan.place or 0])
    entry = model.moment.entries[live.entries[live.position[row]]].id
    page, told = show(exported, f"#ci={entry}/{live.block[row]}")
    expect(page.get_by_test_id("block")).to_contain_text("turn")
    assert told == []


def test_without_scripts_the_page_shows_the_picture(exported: Path, show: OpenOffline) -> None:
    page, _ = show(exported, java_script_enabled=False, viewport={"width": 560, "height": 900})
    expect(page.locator("h1")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.locator("svg")).to_be_visible()
    expect(page.locator("svg text").first).to_be_visible()


def test_nbconvert_gives_a_picture_that_needs_no_network(
    show: OpenOffline, tmp_path: Path, traffic: Traffic
) -> None:
    """Executed without keeping widget state, which only a network could draw."""
    code = "from inspector import Workbench, open_demo\nWorkbench(open_demo())"
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    nbformat.write(new_notebook(cells=[new_code_cell(code)], metadata=kernel), tmp_path / "note.ipynb")
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--execute", str(tmp_path / "note.ipynb")]
    command.append("--ExecutePreprocessor.store_widget_state=False")
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    page, _ = show(tmp_path / "note.html")
    image = page.locator("img[src^='data:image/svg']")
    expect(image).to_be_visible()
    assert image.evaluate("node => node.complete && node.naturalWidth") == 960
    expect(page.locator("summary")).to_contain_text("As recorded: 158.3k → 18.6k tokens")
    screenshot(page, "nbconvert")
    page.locator("summary").click()
    expect(page.locator("table")).to_contain_text("tool output")
    # nbconvert's own template asks for two libraries, ours or not; neither is there, and neither is needed.
    assert {url.split("/")[2] for url in traffic.take_strangers()} <= {"cdnjs.cloudflare.com"}


def test_a_cut_moved_by_hand_is_the_same_plan_live_and_on_a_page(
    page: Page, open_workbench: OpenWorkbench, exported_page: Path, show: OpenOffline
) -> None:
    """As recorded has its own cut: another one is the harness's, and both say so."""
    offline, told = show(exported_page)
    workbench = open_workbench(policy="auto")
    seen = []
    for one in (page, offline):
        picker = one.get_by_test_id("policy-picker")
        expect(picker).to_contain_text("As recorded")
        expect(picker).not_to_contain_text("cut moved")
        one.get_by_test_id("cut-handle").focus()
        one.keyboard.press("PageUp")
        expect(picker).to_contain_text("cut moved")
        rules = one.get_by_test_id("tab-rules")
        rules.click()
        heading = one.locator(".ci-ruling h3", has_text="Rules of")
        seen.append(
            [
                picker.inner_text(),
                one.get_by_test_id("gauge-after").inner_text(),
                heading.inner_text(),
                one.get_by_test_id("recipe").inner_text(),
            ]
        )
    assert seen[0] == seen[1]
    assert workbench.plan.policy.title in seen[0][0]
    assert told == []


@pytest.mark.parametrize(
    ("query", "group"), [("offsets.py", "facts"), ("never touch data/almanac", "facts"), ("turn 3", "turns")]
)
def test_the_search_of_a_page_finds_the_facts_and_turns_that_the_live_one_finds(
    page: Page, open_workbench: OpenWorkbench, exported_page: Path, show: OpenOffline, query: str, group: str
) -> None:
    offline, told = show(exported_page)
    open_workbench(policy="auto")
    # The facts are found once the list is asked for; the story of a finding may stand before it.
    page.get_by_test_id("tab-facts").click()
    expect(page.locator("[data-panel=facts]").get_by_test_id("fact").first).to_be_attached()
    found = []
    for one in (page, offline):
        one.get_by_test_id("search").fill(query)
        box = one.get_by_test_id("found")
        expect(box.get_by_role("group", name=group).get_by_role("option").first).to_be_visible()
        wait_until_still(one)
        found.append(sorted(box.get_by_role("group", name=group).get_by_role("option").all_inner_texts()))
    assert found[0] == found[1] != []
    # What only a kernel searches is said.
    expect(offline.get_by_test_id("found-note")).to_contain_text("this context, not the whole session")
    expect(page.get_by_test_id("found-note")).not_to_contain_text("not the whole session")
    assert told == []
