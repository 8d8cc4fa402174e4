"""Every block of Python in the README and in the guide runs as printed on the demo.

The blocks of the README run in order in one namespace, those of the guide's pages in another, in the order of
its table of contents. The pages on published descriptions are read alone, so each has a namespace of its own.
They run in a folder of their own, with a home of its own. The key in the environment is that
of a provider on loopback, so what the pages send arrives there.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

import inspector
from inspector.policies.registry import list_policies
from tests.loopback import Loopback

ROOT = Path(__file__).parents[1]
GUIDE = ROOT / "notebooks" / "guide"
README = ROOT / "README.md"
PAGES = [
    GUIDE / f"{name}.md" for name in re.findall(r"^[a-z-]+$", (GUIDE / "index.md").read_text("utf-8"), re.M)
]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PRINTED = re.compile(r"^```python\n(.*?)^```\n\s*^```text\n(.*?)^```$", re.DOTALL | re.MULTILINE)
"""A block that prints something, and what the page prints below it."""
SHOWN = re.compile(r"^(\w[\w.]*) +# (\w+\(.*\))$", re.MULTILINE)


def find_blocks(pages: list[Path]) -> list[tuple[str, str]]:
    """Where each block of Python stands, and the block."""
    return [
        (f"{page.name}, Python block {number}", block)
        for page in pages
        for number, block in enumerate(BLOCK.findall(page.read_text("utf-8")), 1)
    ]


def run(block: str, where: str, names: dict[str, object]) -> list[tuple[str, object]]:
    """Runs a block; each expression that stands alone, as a notebook would show it, with its value."""
    shown = []
    for node in ast.parse(block, where).body:
        if isinstance(node, ast.Expr):
            code = compile(ast.Expression(node.value), where, "eval")
            shown.append((ast.unparse(node), eval(code, names)))
        else:
            exec(compile(ast.Module([node], []), where, "exec"), names)
    return shown


def begin_page(where: str, names: dict[str, object]) -> dict[str, object]:
    """The namespace in which a block runs: none is left by other pages on a page that is read alone."""
    alone = where.startswith("seeds-") and where.endswith(" block 1")
    return {"__name__": "guide"} if alone else names


@pytest.fixture
def provider(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider_key: None, serve: Callable[..., Loopback]
) -> Loopback:
    """A provider on loopback; the test stands in an empty folder, which is its home too."""
    provider = serve()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return provider


def test_every_block_of_the_readme_runs_as_printed(provider: Loopback) -> None:
    """And what the page prints beside an expression is what comes of it, up to an ellipsis."""
    names: dict[str, object] = {"__name__": "readme"}
    values = dict(pair for where, block in find_blocks([README]) for pair in run(block, where, names))
    printed = SHOWN.findall("\n".join(block for _, block in find_blocks([README])))
    assert [expression for expression, _ in printed] == ["wb.plan"]
    for expression, text in printed:
        assert re.fullmatch(re.escape(text).replace("…", ".*"), repr(values[expression]))
    assert list(inspector.sessions()) == list(names["mine"]) == []  # type: ignore[call-overload]
    assert not provider.asked


def test_every_block_of_the_guide_runs_as_printed(
    provider: Loopback, capsys: pytest.CaptureFixture[str]
) -> None:
    """And a block of text right below one holds what it prints."""
    names: dict[str, object] = {"__name__": "guide"}
    blocks = find_blocks(PAGES)
    assert len(blocks) > 10
    below = dict(pair for page in PAGES for pair in PRINTED.findall(page.read_text("utf-8")))
    assert below, "a page shows what its blocks print"
    values: dict[str, object] = {}
    for where, block in blocks:
        capsys.readouterr()
        names = begin_page(where, names)
        values |= dict(run(block, where, names))
        if block in below:
            assert capsys.readouterr().out == below[block], where
    printed = SHOWN.findall("\n".join(block for _, block in blocks))
    assert [expression for expression, _ in printed] == ["session"]
    for expression, text in printed:
        assert re.fullmatch(re.escape(text).replace("…", ".*"), repr(values[expression]))
    assert provider.asked, "the guide has a model asked, and nothing was"


def test_every_name_in_the_text_is_a_public_one() -> None:
    """`inspector.name`, and what a block or a line of How it is built imports or calls first."""
    text = "\n".join(page.read_text("utf-8") for page in [README, *PAGES])
    named = set(re.findall(r"\binspector\.([a-z]\w*)\b(?!`?\.|/)", text))
    rooms = {path.stem for path in (ROOT / "inspector").iterdir()}
    groups = {"readers", "rules", "policies"}  # entry points
    assert named - rooms - groups <= set(inspector.__all__)


def test_every_link_between_the_pages_leads_somewhere() -> None:
    """Those of the README as a repository's page shows them; the guide's are checked by `make docs` too."""
    for page in [README, *PAGES]:
        text = page.read_text("utf-8")
        for target in re.findall(r"\]\(([^)#:]+)\)|srcset=\"([^\"]+)\"|src=\"([^\"]+)\"", text):
            path = page.parent / "".join(target)
            assert path.is_file() or "reference" in path.parts, f"{page.name}: {''.join(target)}"


def test_the_guide_holds_every_page_there_is() -> None:
    assert {page.name for page in PAGES} == {page.name for page in GUIDE.glob("*.md")} - {"index.md"}


def test_S0_83_no_memory_system_is_promised_and_nothing_is_remembered_unless_a_file_holds_it() -> None:
    assert re.search(r"No memory system comes with it", (GUIDE / "limits.md").read_text("utf-8"))
    for page in [README, *PAGES]:
        assert not re.search(r"\b(built-in|bundled) memory\b", page.read_text("utf-8"), re.IGNORECASE)
    assert inspector.open_demo().provided == ()
    session = inspector.open_demo()
    ledger = inspector.count_tokens(session)
    for policy in list_policies():
        plan = inspector.make_plan(session, ledger, policy)
        assert inspector.build_context(session, plan).provided == (), policy.name
    kinds = {rule.kind for policy in list_policies() for rule in policy.rules}
    assert not any("memory" in kind for kind in kinds)


def test_the_readme_s_commands_are_there_after_each_other_in_a_fresh_checkout() -> None:
    """A target of the Makefile, or what one of them has put into `.venv`: nothing is on a newcomer's path."""
    commands = re.findall(r"^    (\S.*?)(?: {2,}#.*)?$", README.read_text("utf-8"), re.MULTILINE)
    makefile = (ROOT / "Makefile").read_text("utf-8")
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    assert [command.split()[0] for command in commands] == ["make", ".venv/bin/compaction-inspector"]
    for command in commands:
        program, verb, *_ = command.split()
        if program == "make":
            assert re.search(rf"^{verb}:", makefile, re.MULTILINE)
        else:
            assert program.removeprefix(".venv/bin/") in scripts
