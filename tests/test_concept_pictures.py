"""The pictures of the concepts are those of the demo session, and every figure in them is counted here again.

What is read off a picture stands beside what the raw rows of the session's file say, what another door of the
package says, or what its own parts add up to.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations, groupby, pairwise
from typing import Any

import numpy as np
import pytest

from inspector import (
    BlockRef,
    Workbench,
    build_context,
    compare_policies,
    count_tokens,
    make_plan,
    open_demo,
)
from inspector.demo import LOST_PATH, read_demo
from inspector.text import join_words
from inspector.tokens import find_counter
from tests.concept_pictures import DRAWN, PAGE, THEMES, draw, find_place, read_label, tell
from tests.concept_pictures.canvas import MEAN, WIDTH
from tests.concept_pictures.demo import POLICY, REPLAYED, TURN, Demo
from tests.concept_pictures.shown import SVG, Shown
from tests.concept_pictures.turns import LEFT, RIGHT
from tests.demo_session.recorder import FACTOR


@pytest.fixture(scope="module")
def demo() -> Demo:
    return Demo()


@pytest.fixture(scope="module")
def rows() -> list[dict[str, Any]]:
    """The raw rows of the conversation, without those of a sub-agent; compactions are among them."""
    every = [json.loads(line) for line in read_demo().splitlines()]
    kinds = ("user", "assistant", "system")
    return [row for row in every if row["type"] in kinds and row.get("isSidechain") is not True]


def read_blocks(row: dict[str, Any]) -> list[dict[str, Any]]:
    content = row["message"]["content"] if "message" in row else []
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def find_prompts(rows: list[dict[str, Any]]) -> list[int]:
    """Where a person types: a user's row with a text that no harness wrote."""
    typed = [
        not row.get("isMeta")
        and not row.get("isCompactSummary")
        and row["type"] == "user"
        and any(block["type"] == "text" for block in read_blocks(row))
        for row in rows
    ]
    return [at for at, types in enumerate(typed) if types]


def find_boundary(rows: list[dict[str, Any]], kind: str) -> int:
    return next(at for at, row in enumerate(rows) if row.get("subtype") == f"{kind}_boundary")


def join_entries(rows: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The blocks of each entry: of a row of the user's, or of the rows of one reply."""
    said = [row for row in rows if row["type"] != "system"]
    groups = groupby(said, lambda row: row["message"].get("id") or row["uuid"])
    return [[block for row in group for block in read_blocks(row)] for _, group in groups]


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", DRAWN)
def test_the_stored_picture_is_what_the_script_draws(name: str, theme: str, demo: Demo) -> None:
    stored = find_place(name, theme).read_text("utf-8")
    assert stored == draw(name, demo, theme), "the demo session is counted otherwise: `make concepts`"


def test_every_concept_of_the_page_has_its_picture() -> None:
    """Between its paragraph and the next, light and dark, and what the page says of it is what it shows."""
    page = PAGE.read_text("utf-8")
    parts = re.split(r"^\*\*(?=[A-Z])", page, flags=re.MULTILINE)[1:]
    for name, part in zip(DRAWN, parts, strict=True):
        light, dark = (find_place(name, theme).name for theme in THEMES)
        assert part.count("<picture>") == 1
        assert f'srcset="../images/{dark}"' in part
        assert f'src="../images/{light}"' in part
        words = read_label(find_place(name, "light").read_text("utf-8"))
        assert len(words) > 80
        assert not re.search(r'["<>&]', words)
        assert f'alt="{words}"' in part
        assert tell(page, name, words) == page


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_can_be_read(name: str) -> None:
    """Light and dark: letters of 12 pixels, no text beyond the edge or on another, and nothing is fetched."""
    light, dark = (Shown(name, theme) for theme in THEMES)
    assert light.texts == dark.texts
    for shown in (light, dark):
        assert not re.search(
            r"https?:|href|url\((?!#)|@import|<script|<image", shown.source.replace(SVG[1:-1], "")
        )
        left, top, width, height = map(float, shown.root.attrib["viewBox"].split())
        assert (left, top, width) == (0, 0, WIDTH)
        assert 80 <= height <= 220
        assert shown.root.get("role") == "img"
        assert float(shown.root.attrib["font-size"]) >= 12
        places = []
        for text in shown.root.iter(f"{SVG}text"):
            assert text.get("font-size") is None
            long = len(text.text or "") * MEAN * (1.04 if text.get("font-weight") else 0.97)
            begin = float(text.attrib["x"]) - long * {"end": 1, "middle": 0.5}.get(
                text.get("text-anchor", ""), 0
            )
            y = float(text.attrib["y"])
            assert begin >= -1 and begin + long <= WIDTH + 1, text.text
            assert 10 <= y <= height - 4
            places.append((begin, begin + long, y, text.text))
        for (a, b, y, one), (c, d, z, other) in combinations(places, 2):
            assert b <= c or d <= a or abs(y - z) >= 11, f"{one} / {other}"


def test_the_context_is_that_of_the_workbench_and_the_parts_of_the_file_add_up(demo: Demo) -> None:
    shown = Shown("context")
    before, window = shown.figures("# tokens of a window of #")
    assert before == Workbench(open_demo()).plan.before == sum(shown.key)
    assert window == 200_000
    inside, summary, since, agents = (
        *shown.figures("in that context: #"),
        *shown.figures("its summary: #; said since: #;"),
        *shown.figures("sub-agent, in a context of its own: #"),
    )
    assert sum(shown.key[1:]) == inside == demo.ledger.count_context(demo.moment)
    (whole,) = shown.figures(r"\n# tokens\n")
    assert whole == inside + summary + since + agents
    # Told by another counter, the file's parts are as large to each other.
    plain = count_tokens(open_demo())
    assert whole / inside == pytest.approx(plain.total / plain.count_context(demo.moment), rel=0.002)
    assert before == pytest.approx(read_reported(), rel=0.01)
    bars = [width for width, _ in shown.bars(24)]
    outline = next(box for box in shown.root.findall(f"{SVG}rect") if box.get("fill") == "none")
    assert sum(bars) / float(outline.attrib["width"]) == pytest.approx(before / window, abs=0.002)
    assert [n / sum(shown.key) for n in shown.key] == pytest.approx([w / sum(bars) for w in bars], abs=1e-4)
    assert sum(width for width, _ in shown.bars(92)) / sum(bars[1:]) == pytest.approx(
        whole / inside, abs=1e-3
    )


def read_reported() -> int:
    """What the compaction's row says that stood there."""
    rows = (json.loads(line) for line in read_demo().splitlines() if b"preTokens" in line)
    return int(
        next(row for row in rows if row["subtype"] == "compact_boundary")["compactMetadata"]["preTokens"]
    )


def test_the_turn_is_that_of_the_raw_rows(demo: Demo, rows: list[dict[str, Any]]) -> None:
    shown, prompts = Shown("block"), find_prompts(rows)
    number, turns, tokens = shown.figures("a turn: # of #, # tokens")
    assert turns == len(prompts)
    entries = join_entries(rows[prompts[number - 1] : prompts[number]])
    names = {"thinking": "reasoning", "tool_use": "call", "tool_result": "output"}
    kinds = [names.get(block["type"], block["type"]) for entry in entries for block in entry]
    assert [text for text in shown.texts if text in {"text", *names.values()}] == kinds
    assert shown.figures("at once; # here") == [len(entries)]
    assert shown.figures("its tokens; # here") == [len(kinds)]
    assert tokens == sum(shown.key) == demo.ledger.turn_tokens(demo.session)[number - 1]
    widths = np.array([width for width, _ in shown.bars(56)])
    assert widths / widths.sum() == pytest.approx(np.array(shown.key) / tokens, abs=1e-4)


def test_the_verdicts_on_the_places_follow_from_the_raw_rows(demo: Demo, rows: list[dict[str, Any]]) -> None:
    """A call keeps its output, and a reply that is still worked on stays whole; something stands before."""
    shown = Shown("cut")
    before = rows[: find_boundary(rows, "compact")]
    entries = join_entries(before)
    legal = []
    asked = {b["id"]: at for at, entry in enumerate(entries) for b in entry if b["type"] == "tool_use"}
    pairs = [
        (asked[b["tool_use_id"]], at)
        for at, entry in enumerate(entries)
        for b in entry
        if b["type"] == "tool_result"
    ]
    opened = len(join_entries(before[: find_prompts(before)[-1] + 1]))
    for place in range(len(entries) + 1):
        parted = any(call < place <= output for call, output in pairs)
        legal.append(place > 0 and not parted and not opened < place < len(entries))
    assert shown.figures("legal: # of # places") == [sum(legal), len(legal)]
    marks = [path.attrib["d"] for path in shown.root.findall(f"{SVG}path")]
    triangles = [float(path[1:].split()[0]) for path in marks if path.endswith("l5 9h-10Z")][:-1]
    crosses = [float(path[1:].split()[0]) + 4 for path in marks if path.endswith("l-8 8")]
    first = len(join_entries(before[: find_prompts(before)[TURN]])) - 1
    drawn = [x in triangles for x in sorted(triangles + crosses)]
    assert drawn == legal[first : first + len(drawn)]
    assert len(drawn) == 7
    # The turn that the cut stands before: what is older and what is kept are all of the context.
    older, kept = (*shown.figures("older: #"), *shown.figures("kept: # tokens"))
    assert older + kept == demo.ledger.count_context(demo.moment)
    assert older == sum(demo.ledger.turn_tokens(demo.session)[:TURN])
    sentence = demo.cuts[first + 1 + drawn[1:].index(False)].sentence
    assert sentence in " ".join(shown.texts)


def test_what_the_rules_claim_is_what_stands_in_the_context_after(demo: Demo) -> None:
    """Beside the pieces of the context that the plan builds, and the sum of both."""
    shown, session, ledger = Shown("policy"), demo.moment, demo.ledger
    plan = make_plan(session, ledger, POLICY)
    context = build_context(session, plan)
    (fixed,), (kept, turn), (gone, written) = (
        shown.figures("# stay: they are not in the file"),
        shown.figures("# stay: the cut stands in turn #"),
        shown.figures("# go: a summary of # comes"),
    )
    withheld = plan.after - fixed - sum(piece.tokens for piece in context.pieces)
    assert 0 <= withheld <= plan.outside.parts["withheld"].tokens
    assert kept == sum(piece.tokens for piece in context.pieces if not piece.summary) + withheld
    assert written == sum(piece.tokens for piece in context.pieces if piece.summary)
    assert kept + gone == ledger.count_context(session) + plan.outside.parts["withheld"].tokens
    before, fires = shown.figures("# now; it fires above #")
    assert (before, fires) == (plan.before, 200_000 - 16_384)
    assert fixed + kept + gone == before
    assert [f"{number}  {rule.title}" for number, rule in enumerate(plan.policy.rules, 1)] == [
        text for text in shown.texts if re.match(r"\d  ", text)
    ]
    # What Flue publishes as its defaults: `reserveTokens` and `keepRecentTokens`.
    assert (
        f"· {plan.policy.title}\ncompact when the context leaves less than 16,384 tokens free" in shown.words
    )
    assert "about the last 20,000 tokens" in shown.words
    assert plan.cut is not None
    entry = session.path.index(session.index[plan.cut.entry])
    assert next(t.number for t in session.turns if t.first <= entry <= t.last) + 1 == turn
    drawn = [sum(width for width, _ in shown.bars(y)) for y in (21.0, 61.0, 101.0, 141.0, 181.0)]
    assert [w / drawn[0] * before for w in drawn] == pytest.approx([before, fixed, kept, 0, gone], abs=10)


def test_the_sections_of_the_plan_add_up_to_both_totals(demo: Demo) -> None:
    shown, plan = Shown("plan"), demo.plan
    pairs = [tuple(int(n.replace(",", "")) for n in text.split(" → ")) for text in shown.texts if "→" in text]
    before, after = (sum(column) for column in zip(*pairs, strict=True))
    assert shown.figures("before\n# tokens\nafter\n# tokens\n# fewer") == [before, after, before - after]
    assert (before, after) == (plan.before, plan.after)
    counted = [n for n in demo.ledger.by_section(demo.moment).values() if n]
    assert [n for n, _ in pairs if n][1:] == counted
    context = build_context(demo.moment, plan)
    assert sum(n for _, n in pairs[1:]) == sum(piece.tokens for piece in context.pieces)
    for y, column in ((22.0, 0), (78.0, 1)):
        drawn = [width * before / WIDTH for width, _ in shown.bars(y)]
        assert drawn == pytest.approx([pair[column] for pair in pairs if pair[column]], abs=2)


def test_the_line_of_the_context_follows_what_the_provider_reported(rows: list[dict[str, Any]]) -> None:
    """At the end of every turn, where nothing was said since the reply, it is what the raw row reports."""
    shown = Shown("recorded")
    line = shown.line("#2763ba")
    assert [line[0][0], line[-1][0]] == [LEFT, RIGHT]
    before, after = shown.figures("compaction: # → #")
    (window,) = shown.figures("window #")
    plan = Workbench(open_demo()).plan
    assert (before, after, window) == (plan.before, plan.after, 200_000)
    drawn = [(136.0 - y) / 106.0 * window for _, y in line]
    assert max(drawn) == pytest.approx(before, abs=110)
    # Until the next reply the line is counted; what that reply reports of the compaction is the figure.
    assert min(drawn[90:]) == pytest.approx(after, rel=0.06)
    assert before == pytest.approx(read_reported(), rel=0.01)
    prompts = find_prompts(rows)
    at = -1
    for end in [*prompts[1:], len(rows)]:
        usage = next(row for row in reversed(rows[:end]) if row["type"] == "assistant")["message"]["usage"]
        sent = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
        tokens = sum(usage[name] for name in sent)
        found = (i for i in range(at + 1, len(drawn)) if drawn[i] == pytest.approx(tokens, abs=110))
        at = next(found, len(drawn))
        assert at < len(drawn), f"{tokens:,} tokens are nowhere on the line"
    assert at == len(drawn) - 1
    cleared = rows[find_boundary(rows, "microcompact")]["microcompactMetadata"]["compactedToolIds"]
    assert shown.figures("# outputs cleared") == [len(cleared)]
    boundary = find_boundary(rows, "compact")
    turn = sum(at < boundary for at in prompts)
    assert shown.figures("a stretch: turns # to #") == [1, turn]
    assert shown.figures("the next: turns # to #") == [turn, len(prompts)]


@pytest.mark.parametrize("name", ["recorded", "fact", "replay"])
def test_the_turns_below_a_picture_are_as_long_as_those_of_the_raw_rows(
    name: str, rows: list[dict[str, Any]]
) -> None:
    """A turn is as many steps as it has replies, and one for its prompt; a summary is a step of its own."""
    shown, prompts = Shown(name), find_prompts(rows)
    paths = [path.attrib["d"] for path in shown.root.findall(f"{SVG}path")]
    ticks = [float(path[1:].split()[0]) for path in paths if path.endswith("v5")]
    labels = [
        (text.text, float(text.attrib["x"]))
        for text in shown.root.iter(f"{SVG}text")
        if re.fullmatch(r"(turn )?\d{1,2}", text.text or "")
    ]
    assert [words for words, _ in labels] == ["turn 1", *map(str, range(2, len(prompts) + 1))]
    steps = []
    for first, end in pairwise([*prompts, len(rows)]):
        said = rows[first:end]
        replies = {row["message"]["id"] for row in said if row["type"] == "assistant"}
        steps.append(1 + len(replies) + sum(row.get("isCompactSummary") is True for row in said))
    step = (RIGHT - LEFT) / (sum(steps) - 1)
    assert np.diff(ticks) / step == pytest.approx(steps[:-1], abs=0.05)
    for (_, x), begin, count in zip(labels, ticks, steps, strict=True):
        assert begin - 9 <= x <= begin + count * step + 9


def test_the_dots_are_the_blocks_that_name_the_file_in_the_raw_rows(
    demo: Demo, rows: list[dict[str, Any]]
) -> None:
    shown = Shown("fact")
    boundary = find_boundary(rows, "compact")
    name = LOST_PATH.removeprefix("src/tidepool/")
    named = [
        (at, block)
        for at, row in enumerate(rows)
        if row["type"] != "system"
        for block in read_blocks(row)
        if name in json.dumps(block)
    ]
    dots = [float(dot.attrib["cx"]) for dot in shown.root.findall(f"{SVG}circle")]
    legend, dots = dots[-3:], dots[:-3]
    assert len(dots) == len(named)
    assert legend == sorted(legend)
    kinds = Counter(block["type"] for _, block in named)
    assert shown.figures("tool output: #\ntool call: #\nassistant: #") == [
        kinds["tool_result"],
        kinds["tool_use"],
        kinds["text"],
    ]
    before = sum(at < boundary for at, _ in named)
    assert shown.figures("named in # blocks") == [before]
    gone = next(
        float(p.attrib["d"][1:].split()[0])
        for p in shown.root.findall(f"{SVG}path")
        if p.attrib["d"].endswith("l5 5l-5 5l-5 -5Z")
    )
    assert sum(x < gone for x in dots) == before
    summary = next(row for row in rows if row.get("isCompactSummary"))
    assert "offsets.py" not in json.dumps(summary)
    # The call that reads it again, and what it gives back, by a count of the texts.
    call = next(block for at, block in named if at > boundary and block["type"] == "tool_use")
    output = next(
        b
        for row in rows
        if row["type"] == "user"
        for b in read_blocks(row)
        if b.get("tool_use_id") == call["id"]
    )
    texts = [
        call["name"] + json.dumps(call["input"]),
        output["content"] if isinstance(output["content"], str) else output["content"][0]["text"],
    ]
    (tokens,) = shown.figures("read again: # tokens")
    blocks = [
        BlockRef(entry.id, i)
        for entry in demo.session.entries
        for i, made in enumerate(entry.blocks)
        if call["id"] in (getattr(made, "id", ""), getattr(made, "call_id", ""))
    ]
    assert len(blocks) == 2
    # Of what it gives back the lines that were edited in between had not been shown before.
    whole = sum(demo.tokens(ref) for ref in blocks)
    # The recorder's provider counts so many tokens for each of o200k_base.
    assert whole == pytest.approx(FACTOR * sum(find_counter("o200k_base").count(texts)), rel=0.02)
    assert whole > tokens > 0.7 * whole


def test_the_replay_compacts_where_the_comparison_says(demo: Demo, rows: list[dict[str, Any]]) -> None:
    shown = Shown("replay")
    run = compare_policies(open_demo(), [REPLAYED])[REPLAYED]
    figures = [int(text.replace(",", "")) for text in shown.texts if re.fullmatch(r"\d{2,3},\d{3}", text)]
    assert figures[0] == demo.recorded.before
    assert figures[1:] == [one.before for one in run.adopted]
    assert max(figures[1:]) == run.peak
    turns = join_words([str(one.turn + 1) for one in run.adopted])
    assert shown.words.endswith(f"◆ in turns {turns}")
    assert shown.figures("as recorded: ◆ in turn #") == [
        sum(at < find_boundary(rows, "compact") for at in find_prompts(rows))
    ]
    (fires,) = shown.figures("fires above #")
    assert fires == 0.5 * shown.figures("window #")[0] == 100_000
    assert all(n > fires for n in figures[1:])
    recorded, replayed = shown.line("#7d8791"), shown.line("#2763ba")
    drops = [i for i in range(1, len(replayed)) if replayed[i][1] - replayed[i - 1][1] > 15]
    assert drops == [one.step for one in run.adopted]
    assert replayed[: drops[0]] == recorded[: drops[0]]
    # Until then both are what the provider reported, so the first figure stands on the recorded line.
    assert (140.0 - recorded[drops[0] - 1][1]) / 110.0 * 200_000 == pytest.approx(figures[1], abs=110)
