from tests.browser.test_lanes import *
def test_dbg(page, open_workbench, tmp_path):
    workbench = open_workbench(write_session(tmp_path / "lanes.jsonl"), "keep-recent-turns")
    brush, handle = page.get_by_test_id("brush"), page.get_by_test_id("cut-handle")
    page.get_by_role("button", name="Zoom in").click()
    page.wait_for_timeout(150)
    print(said(brush))
    grip, lanes = handle.bounding_box(), page.get_by_test_id("lanes").bounding_box()
    print(grip, lanes)
    y = grip["y"] + grip["height"] / 2
    page.mouse.move(grip["x"] + 6, y)
    page.mouse.down()
    page.mouse.move(lanes["x"] + 90, y, steps=6)
    for _ in range(6):
        page.wait_for_timeout(200)
        print(said(brush), handle.get_attribute("aria-valuetext"), handle.bounding_box())
    page.screenshot(path="/tmp/shots/dbg.png")
    page.mouse.up()
