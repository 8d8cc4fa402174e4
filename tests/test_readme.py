"""Every block of Python in the README runs as printed: in order, in one namespace, in a folder of its own.

The first block writes the session that the others open. The key in the environment is that of a provider on
loopback, so what the page sends arrives there.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import inspector
from inspector.policies.registry import list_policies
from tests.loopback import Loopback

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


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


@pytest.fixture
def ran(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    provider_key: None,
    serve: Callable[..., Loopback],
) -> dict[str, object]:
    """What every expression of the page comes to, once all of it has run."""
    provider = serve()
    monkeypatch.setenv("ANTHROPIC_BASE_URL", provider.url)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "readme"}
    values: dict[str, object] = {}
    for number, block in enumerate(BLOCKS, 1):
        values |= run(block, f"README.md, Python block {number}", names)
    assert provider.asked, "the page has a model asked, and nothing was"
    return values


def test_every_block_runs_as_printed(ran: dict[str, object]) -> None:
    """And what the page prints beside an expression is what comes of it, up to an ellipsis."""
    printed = re.findall(r"^(\w[\w.]*) +# (\w+\(.*\))$", "\n".join(BLOCKS), re.MULTILINE)
    assert len(printed) == 2
    for expression, text in printed:
        pattern = re.escape(text).replace("…", ".*")
        assert re.fullmatch(pattern, repr(ran[expression])), (expression, repr(ran[expression]))


def test_every_name_in_the_text_is_a_public_one() -> None:
    """`inspector.name`, and what a block or a line of How it is built imports or calls first."""
    named = set(re.findall(r"\binspector\.([a-z]\w*)\b(?!`?\.|/)", README))
    rooms = {path.stem for path in (ROOT / "inspector").iterdir()}
    groups = {"readers", "rules", "policies"}  # entry points
    assert named - rooms - groups <= set(inspector.__all__)


def test_old_names_are_gone_from_what_people_read() -> None:
    pages = [ROOT / "README.md", *(ROOT / "notebooks").glob("*.ipynb"), *(ROOT / "notebooks").glob("*.md")]
    for page in pages:
        text = page.read_text("utf-8")
        for old, new in inspector._RENAMED.items():
            call = rf"(?:\binspector\.|from inspector import [^\n]*\b|`){old}\b(?=[`(,\s\\\[.])"
            assert not re.search(call, text), f"{page.name}: {old} is {new} now"


def test_S0_83_no_memory_system_is_promised_and_nothing_is_remembered_unless_a_file_holds_it() -> None:
    limits = README.partition("## Limits")[2]
    assert re.search(r"No memory system comes with it", limits)
    assert not re.search(r"\b(built-in|bundled) memory\b", README, re.IGNORECASE)
    assert inspector.open_demo().provided == ()
    session = inspector.open_demo()
    ledger = inspector.count_tokens(session)
    for policy in list_policies():
        plan = inspector.make_plan(session, ledger, policy)
        assert inspector.build_context(session, plan).provided == (), policy.name
    kinds = {rule.kind for policy in list_policies() for rule in policy.rules}
    assert not any("memory" in kind for kind in kinds)
