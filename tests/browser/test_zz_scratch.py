from tests.browser.test_screen_rules import *
def test_words(page, workbench):
    for tab in TABS:
        workbench.tab = tab
        wait_for_python(page); page.wait_for_timeout(600)
        for x in sorted(set(forbidden(page))): print("WORD", tab, repr(x))
    workbench.tab="rules"; page.get_by_test_id("all-settings").click()
    for x in sorted(set(forbidden(page))): print("WORD settings", repr(x))
