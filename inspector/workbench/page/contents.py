"""Precompute the answers to all queries of a page that has no Python kernel.

The input is a model and the same session without secrets; the result is JSON and bytes: the scene, the plan
of the model's policy at every valid cut, the summary at each cut, and the texts of the blocks. Numbers are
from the original session, texts from the cleaned one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import msgspec
from msgspec.structs import replace as replace_fields

from ...errors import InspectorError
from ...faults import Faults
from ...planning.diff.pieces import find_pieces
from ...planning.fates import REMAINS, SideFates
from ...planning.plan import Plan
from ...planning.planner import make_plan
from ...policies.policy import Edits, Policy
from ...policies.registry import list_policies
from ...redaction.cut import cut_text
from ...redaction.redact import Redactor
from ...session.session import Session
from ...text import plural, printable, utf16_length
from ...tokens.history import trace_history
from ...tokens.ledger import Ledger
from ..model import WorkbenchModel
from ..opening import AUTO, Choice, choose
from ..payloads.base_payload import Payload, to_json
from ..payloads.block import BODY_CHARS, describe_body, describe_rows, describe_summary
from ..payloads.compactions import list_compactions
from ..payloads.compared_facts import describe_context_facts
from ..payloads.context import describe_context
from ..payloads.fact_list import list_facts
from ..payloads.findings import describe_losses, list_findings
from ..payloads.marks import describe_regret
from ..payloads.policies import YOURS, find_results, list_choices
from ..payloads.recorded import draw_recorded
from ..payloads.replay import draw_run
from ..payloads.scene import draw_plan, draw_scene
from ..payloads.story import tell_story
from ..payloads.summaries import compare_summaries
from .excerpts import redact_answer

MOST_PLANS = 4_000
"""Cuts whose plans are made for one page; each takes about 2 ms."""
MOST_LINES = 400_000
MOST_STORIES = 40
MOST_FACTS = 24
"""Essential facts that a column of the comparison lists; its head counts all."""
MOST_LISTED = 2_000
"""Facts of the list on a page; with 800 they take some 25 kB."""
MOST_PIECE = 600
"""Characters of a piece of the next request."""
FAR = "The notes of this plan and the effects of its rules at another cut need a kernel."
QUERIES: dict[str, Callable[[WorkbenchModel, dict[str, Any]], Payload]] = {
    "summaries": compare_summaries,
    "findings": list_findings,
    "losses": describe_losses,
    "context_facts": describe_context_facts,
    "compactions": list_compactions,
}
"""Queries that a page answers as a workbench does, with redacted texts."""
CUT = "@cut@"
"""Placeholder for the cut's name."""

BLANKS = re.compile(r"[ \t\n\r\f\v]+")


def _refer(preview: str, text: str) -> str | int:
    """Encode a preview by its length if the text begins with it, ignoring blanks; negative if it is cut off.

    >>> _refer("Fix the…", "Fix\\n the clock."), _refer("Fix", "Fix"), _refer("Mend", "Fix")
    (-7, 3, 'Mend')
    """
    begins = " ".join(BLANKS.split(text))
    if preview and begins.startswith(preview):
        return utf16_length(preview)
    cut = preview.removesuffix("…")
    return -utf16_length(cut) if cut and cut != preview and begins.startswith(cut) else preview


MISSING = "@missing@"
"""Replaces, in a column, a field or an item that a value does not have."""


def _columns(values: Sequence[Any]) -> Any:
    """Merge values of the same shape into one tree of columns.

    ["=", value] is the same in all, ["|", …] has one value for each, ["[", …] has a column for each item of
    a list, and a dict has a column for each field. Plans at neighbouring cuts differ in few of their fields.

    >>> _columns([{"after": 7, "rules": [1, 2]}, {"after": 7, "rules": [1], "note": "new"}])
    {'after': ['=', 7], 'rules': ['[', ['=', 1], ['|', 2, '@missing@']], 'note': ['|', '@missing@', 'new']}
    """
    first = values[0]
    columns: Any = ["|", *values]
    parts: list[Any] = []
    if all(isinstance(value, dict) for value in values):
        columns = _fields(values)
        parts = list(columns.values())
    elif all(isinstance(value, list) for value in values):
        parts = [_columns(items) for items in zip_longest(*values, fillvalue=MISSING)]
        columns = ["[", *parts]
    elif any(value != first or type(value) is not type(first) for value in values):
        return columns
    return ["=", first] if all(isinstance(part, list) and part[0] == "=" for part in parts) else columns


def _fields(values: Sequence[dict[str, Any]]) -> dict[str, Any]:
    names = dict.fromkeys(name for value in values for name in value)
    return {name: _columns([value.get(name, MISSING) for value in values]) for name in names}


class Buffers:
    """Byte strings without duplicates; each has a number."""

    def __init__(self) -> None:
        self.places: list[tuple[int, int]] = []
        self._parts: list[bytes] = []
        self._numbers: dict[bytes, int] = {}
        self._size = 0

    def add(self, data: bytes) -> int:
        if data not in self._numbers:
            self._numbers[data] = len(self.places)
            self.places.append((self._size, len(data)))
            padded = data + b"\0" * (-len(data) % 4)
            self._parts.append(padded)
            self._size += len(padded)
        return self._numbers[data]

    def data_at(self, number: int) -> bytes:
        """The bytes of a number."""
        return self._parts[number][: self.places[number][1]]

    @property
    def data(self) -> bytes:
        return b"".join(self._parts)


@dataclass
class Answers:
    """The content of a page. It is computed at once; `pack` converts it to JSON of a limited length.

    A section that raises unexpectedly is left out and recorded in `faults`.
    """

    model: WorkbenchModel
    redactor: Redactor
    clean: Session

    def __post_init__(self) -> None:
        model, redactor = self.model, self.redactor
        self.buffers, self.faults = Buffers(), Faults()
        self.ledger: Ledger = replace(model.ledger, session=self.clean)
        at = model.inputs["at"]
        self.model_moment = model.moment
        self.moment = self.clean.at(self.redactor.clean(at)) if at else self.clean
        self.lines: dict[str, int] = {}
        self.spent = 0
        # Most cuts have the same outcome for a block.
        self.told_apart: dict[tuple[int, str], list[int | str]] = {}
        self.shared: dict[tuple[str, bytes], dict[str, Any]] = {}
        first = self._clean_plan()
        # Every part is redacted, and the combined payload once more.
        tidy = redactor.clean_tree
        self.rows = [tidy(to_json(row)) for row in describe_rows(first, 0, len(first.table.tokens))]
        self.bodies = [tidy(to_json(describe_body(first, row))) for row in range(len(first.table.tokens))]
        scene, data = draw_scene(first, trace_history(self.clean, self.ledger), redactor.clean(model.file))
        self.scene = to_json(scene)
        self.scene_data = self.buffers.add(data)
        self.plan = self._answer_plan(first)
        plan_payload, number = self._draw(model.plan, model.choice)
        self.shown = redactor.clean_tree(plan_payload), number
        self.recorded: dict[str, Any] = {"sentence": "The recorded compaction could not be shown."}
        with self.faults.isolate("recorded compaction"):
            self.recorded = self._draw_recorded()
        self.side: list[Any] | None = None
        with self.faults.isolate("context after the recorded compaction"):
            self.side = self._draw_side()
        self.other: list[Any] | None = None
        with self.faults.isolate("plan compared with"):
            self.other = self._draw_other()
        self.run: list[Any] | None = None
        with self.faults.isolate("replay"):
            self.run = self._draw_run()
        self.query_answers = self._answer_queries()

    def pack(self, cap: int) -> dict[str, Any]:
        """Return the content as JSON. Texts of blocks are cut to `cap` characters; 0 leaves them out."""
        bodies = [_shorten(body, cap) for body in self.bodies] if cap else []
        texts = [str(body[0]) for body in bodies] or [""] * len(self.rows)
        return {
            "wanted": self.redactor.clean_tree({**self.model.inputs, "policy": self.model.plan.policy.name}),
            "scene": self.scene,
            "sceneData": self.scene_data,
            "plan": self.plan,
            "recorded": self.recorded,
            "side": self.side,
            "other": self.other,
            "run": self.run,
            "told": self.query_answers,
            "tab": self.model.tab,
            "rows": [
                [row["label"], _refer(row["preview"], text)]
                for row, text in zip(self.rows, texts, strict=True)
            ],
            "bodies": bodies,
            "lines": [self.redactor.clean(line) for line in self.lines],
            "buffers": self.buffers.places,
        }

    def count_cut(self, cap: int) -> int:
        """How many texts of blocks are shorter on the page than in a workbench under `cap`."""
        return sum(len(body["before"]["text"]) > cap for body in self.bodies)

    def _clean_plan(self) -> Plan:
        """Plan the redacted session as the model does, with its pins, settings and beginning."""
        inputs, clean = self.model.inputs, self.redactor.clean
        since = clean(inputs["since"]) if inputs["since"] else None
        pins = tuple(map(clean, inputs["pins"]))
        edits = Edits(since=since, pins=pins, settings=dict(inputs["settings"]))
        return make_plan(
            self.moment, self.ledger, self.model.plan.policy.name, edits, window=self.model.window
        )

    def _plan(self) -> Plan:
        """Return the plan of the model's policy at the policy's own cut."""
        model, inputs = self.model, self.model.inputs
        edits = Edits(
            since=inputs["since"] or None, pins=tuple(inputs["pins"]), settings=dict(inputs["settings"])
        )
        return model.fill_in(
            make_plan(self.model_moment, model.ledger, model.plan.policy.name, edits, window=model.window)
        )

    def _draw(self, plan: Plan, choice: Choice | None = None) -> tuple[dict[str, Any], int]:
        payload, data = draw_plan(plan, choice=choice)
        return to_json(payload), self.buffers.add(data)

    def _clean_drawn(self, wire: dict[str, Any]) -> dict[str, Any]:
        """Redact a drawn plan. Plans at neighbouring cuts share most values, and each is redacted once."""
        rules = [self._clean_shared(rule) for rule in wire["rules"]]
        return {**self._clean_shared({**wire, "rules": []}), "rules": rules}

    def _clean_shared(self, fields: dict[str, Any]) -> dict[str, Any]:
        clean: dict[str, Any] = {}
        for name, value in fields.items():
            key = name, msgspec.json.encode(value)
            if key not in self.shared:
                self.shared[key] = self.redactor.clean_tree({name: value})
            clean |= self.shared[key]
        return clean

    def _answer_plan(self, clean: Plan) -> dict[str, Any]:
        """Draw the plan at the policy's own cut, which comes first, and at every valid cut."""
        own = self._plan()
        wire, number = self._draw(own, self.model.choice)
        legal = [place for place in range(len(own.cuts)) if own.cuts[place].legal]
        whole = len(legal) <= MOST_PLANS
        cuts = legal if whole else legal[len(legal) // 2 :][:1]
        drawn, data = [wire], [number]
        written = {} if own.checkpoint is None or own.place is None else {own.place: own}
        texts = {number: self._sides(clean)}
        plan, moved, choice = own, clean, None
        if self.model.inputs["policy"] == AUTO and cuts:
            # A cut by hand is another policy's, if nobody chose one.
            edits = own.edits.model_copy(update={"cut": own.cuts.ids[cuts[0]]})
            choice = choose(self.model_moment, self.model.ledger, edits, self.model.window)
            plan = choice.plan
            moved = make_plan(self.moment, self.ledger, plan.policy, clean.edits, window=self.model.window)
        for place in cuts:
            # Moved from place to place, a plan takes along what the policy's rules did.
            plan = self.model.fill_in(_move(plan, place))
            if plan.checkpoint is not None:
                written[place] = plan
            wire, number = self._draw(plan, choice)
            wire["cut"]["id"] = CUT
            for recipe in ("recipe", "shortRecipe"):
                wire[recipe] = wire[recipe].replace(f"cut={own.cuts.ids[place]!r}", f"cut={CUT!r}")
            if number not in texts:
                texts[number] = self._sides(_move(moved, place))
            drawn.append(wire)
            data.append(number)
        return {
            "label": self._label(own.policy),
            "settings": self.redactor.clean_tree(dict(own.edits.settings)),
            # A key may say that its value is a secret, so the plans are redacted while they have their shape.
            "drawn": _fields([self._clean_drawn(wire) for wire in drawn]),
            "places": cuts,
            "data": data,
            "far": "" if whole else FAR,
            "texts": {str(number): sides for number, sides in texts.items()},
            **self._summaries(clean, moved, legal, written),
        }

    def _sides(self, plan: Plan) -> list[dict[str, Any]]:
        """Return the replacement of each rewritten block, before the cut and after it."""
        return [self._rewritten(plan.older), self._rewritten(plan.kept)]

    def _rewritten(self, side: SideFates) -> dict[str, Any]:
        rewritten: dict[str, Any] = {}
        for row, block in side.blocks.items():
            if REMAINS[side.fate[row]]:
                text = "" if block is None else self.redactor.clean(block.text)
                if (row, text) not in self.told_apart:
                    before = self.bodies[row]["before"]
                    whole = before["total"] <= BODY_CHARS
                    self.told_apart[row, text] = _compare(before["text"], printable(text)) if whole else []
                pieces = self.told_apart[row, text]
                rewritten[str(row)] = [printable(text, BODY_CHARS), len(text), pieces]
        return rewritten

    def _summaries(
        self, clean: Plan, moved: Plan, legal: Sequence[int], written: Mapping[int, Plan]
    ) -> dict[str, Any]:
        """Return the summary at every place as runs of lines, most of which are shared with the next place.

        `moved` is the plan that other cuts are of; `written` holds the plans with a written summary, whose
        facts are listed separately.
        """
        tidy = self.redactor.clean_tree
        own = [] if clean.place is None else [clean.place]
        # A policy that has nothing to do here may still write a summary for a cut by hand.
        if moved.spec is None and len(legal):
            moved = _move(moved, legal[-1])
        texts: dict[int, list[int]] = {}
        facts: list[list[str]] = []
        apart: dict[str, list[list[str]]] = {}
        for place in dict.fromkeys([*own, *legal]):
            if self.spent > MOST_LINES and place not in own and place not in written:
                continue
            summary = tidy(
                to_json(describe_summary(written.get(place, clean if place in own else moved), place))
            )
            numbers = [self.lines.setdefault(line, len(self.lines)) for line in summary["text"].split("\n")]
            self.spent += len(numbers)
            texts[place] = [summary["total"], *_runs(numbers)]
            if place in written:
                apart[str(place)] = summary["facts"]
            else:
                facts = summary["facts"] or facts
        return {
            "summaries": {str(place): runs for place, runs in texts.items()},
            "facts": facts,
            "written": apart,
        }

    def _draw_recorded(self) -> dict[str, Any]:
        try:
            payload, data = draw_recorded(self.model.plan, self.model.history)
        except InspectorError as error:
            return {"sentence": printable(self.redactor.clean(str(error)))}
        return {"plan": [self.redactor.clean_tree(to_json(payload)), self.buffers.add(data)]}

    def _draw_side(self) -> list[Any] | None:
        """Draw the recorded compaction right after the point in time, or return None."""
        side = self.model.recorded
        if side is None:
            return None
        return [self.redactor.clean_tree(to_json(side.drawn.payload)), self.buffers.add(side.drawn.data)]

    def _draw_other(self) -> list[Any] | None:
        """Draw the plan that the model compares with."""
        if not isinstance(self.model.other, Plan):
            return None
        plan_payload, number = self._draw(self.model.other)
        label = self._label(self.model.other.policy)
        return [self.redactor.clean_tree({**plan_payload, "label": label}), number]

    def _answer_queries(self) -> dict[str, Any]:
        """Answer the usual queries for the recorded compaction and for the plan, by the query's name."""
        model, redactor = self.model, self.redactor
        inputs = {n: value for n, value in model.inputs.items() if n not in ("versus", "look", "policy")}
        inputs = {**self.redactor.clean_tree(inputs), "policy": model.plan.policy.name}
        twin = WorkbenchModel(self.clean, model.plan.policy.name, ledger=self.ledger, window=model.window)
        answers: dict[str, Any] = {}
        recorded = model.recorded
        # A compaction that no plan can express has no answers of its own.
        side = [] if recorded is None or recorded.plan is None else [recorded.mark.look]
        for look in dict.fromkeys([model.inputs["look"], "plan", *side]):
            own = model.copy_for(look)
            query = {"place": own.shown.place or 0, "look": look}
            # A redacted name may have no answer.
            with self.faults.isolate(f"context {look}"), suppress(InspectorError):
                twin.answer({**inputs, "look": look})
                self._adopt_summary(twin)
                answers[f"context {look}"] = self._describe_context(twin, own, query)
            for name, answer in QUERIES.items():
                with self.faults.isolate(f"{name} {look}"):
                    answers[f"{name} {look}"] = to_json(redact_answer(answer(own, query), redactor))
            for part in answers.get(f"context_facts {look}", {}).values():
                if isinstance(part, dict):
                    part["facts"] = part["facts"][:MOST_FACTS]
            groups = list_findings(own, query).groups if f"findings {look}" in answers else []
            for row in [row for group in groups for row in group.rows][:MOST_STORIES]:
                story = {**query, "number": row.number, "kind": row.kind, "form": row.form, "pick": row.pick}
                name = f"story {row.pick} {row.number}"
                with self.faults.isolate(name), suppress(InspectorError):
                    answers[name] = to_json(redact_answer(tell_story(own, story), redactor))
        with self.faults.isolate("list of facts"):
            answers["facts plan"] = self._list_facts(model.copy_for("plan"))
        with self.faults.isolate("list of policies"):
            answers |= self._list_policies()
        with self.faults.isolate("what was needed again"):
            answers["regret"] = to_json(redact_answer(describe_regret(model), redactor))
        tidy: dict[str, Any] = self.redactor.clean_tree(answers)
        return tidy

    def _adopt_summary(self, twin: WorkbenchModel) -> None:
        """Give a written summary, which was written for the texts as they were, to the redacted plan."""
        written = self.model.plan.checkpoint
        if written is not None and twin.plan.checkpoint is None:
            words = {name: self.redactor.clean(getattr(written, name)) for name in ("text", "by")}
            turns = tuple(map(self.redactor.clean, written.turns))
            twin.adopt_summary(twin.plan, written.model_copy(update={**words, "turns": turns}))

    def _describe_context(
        self, twin: WorkbenchModel, original: WorkbenchModel, query: dict[str, Any]
    ) -> dict[str, Any]:
        """Compare the two requests with redacted texts, but with the token counts of the original ones.

        Pieces of a difference may be pieces of a secret, so the texts are redacted before they are compared.
        """
        context, own = (
            to_json(describe_context(model, {**query, "most": BODY_CHARS})) for model in (twin, original)
        )
        if own["count"] == context["count"] and len(own["rows"]) == len(context["rows"]):
            context |= {name: own[name] for name in ("left", "right", "runs")}
            for row, exact in zip(context["rows"], own["rows"], strict=True):
                for side in ("left", "right"):
                    if row[side] is not None and exact[side] is not None:
                        row[side]["tokens"] = exact[side]["tokens"]
        for row in context["rows"]:
            # The page has the full texts of blocks elsewhere, but not those of summaries.
            for block in (row["left"], row["right"]):
                if block is not None and block["state"] != "summary":
                    block["text"] = block["text"][:MOST_PIECE]
        context["pairs"] = ["before"]
        return context

    def _list_facts(self, model: WorkbenchModel) -> dict[str, Any]:
        """Return the whole list of facts under the plan, which the page filters itself."""
        query = {"place": model.shown.place or 0}
        reply = list_facts(model, query)
        rows = list(reply.rows)
        while len(rows) < min(reply.total, MOST_LISTED):
            rows += list_facts(model, {**query, "from": len(rows)}).rows
        if reply.total > len(rows):
            total = plural(reply.total, "fact")
            note = f"This page lists {len(rows):,} of {total}, those that are missing first."
            reply = replace_fields(reply, sentence=note)
        return to_json(redact_answer(replace_fields(reply, rows=rows), self.redactor))

    def _list_policies(self) -> dict[str, Any]:
        """Return the list of policies with the result of each; the page has the plan of one."""
        listed = to_json(list_choices(self.model.plan))
        # A page that is given away names no other policies of its maker.
        listed["groups"] = [group for group in listed["groups"] if group["id"] != YOURS]
        note = "only the cut of the plan shown can be moved; the others need a kernel"
        listed["groups"].insert(0, {"id": "page", "label": "on this page", "families": [], "note": note})
        results = to_json(
            find_results(self.model.plan, self.model.inputs["pins"], {}, 0, len(list_policies()) + 1)
        )["results"]
        families = (family for group in listed["groups"] for family in group["families"])
        names = {policy["name"] for family in families for policy in family["policies"]}
        results = [result for result in results if result["name"] in names]
        return {"policies": listed, "policy_results": {"results": results, "total": len(results)}}

    def _label(self, policy: Policy) -> str:
        return cut_text(self.redactor.clean(policy.title or policy.name), 120)

    def _draw_run(self) -> list[Any] | None:
        if self.model.run is None:
            return None
        payload, data = draw_run(self.model.run)
        return [self.redactor.clean_tree(to_json(payload)), self.buffers.add(data)]


def _move(plan: Plan, place: int) -> Plan:
    return plan.with_edits(plan.edits.model_copy(update={"cut": plan.cuts.ids[place]}))


def _compare(before: str, after: str) -> list[int | str]:
    """The pieces of a difference: how much of `before` is kept, or (negative) gone, and what is new.

    Lengths are in UTF-16 units, as the browser counts.

    >>> _compare("one two three", "one 2 three")
    [4, -3, '2', 6]
    """
    sizes = {"same": 1, "gone": -1}
    return [
        text if kind == "new" else sizes[kind] * utf16_length(text)
        for kind, text in find_pieces(before, after) or ()
    ]


def _shorten(body: dict[str, Any], cap: int) -> list[Any]:
    before = body["before"]
    return [before["text"][:cap], before["total"], body["facts"]]


def _runs(numbers: Sequence[int]) -> list[int]:
    """[first, count, first, count, …] of numbers that follow one another.

    >>> _runs([4, 5, 6, 1])
    [4, 3, 1, 1]
    """
    out: list[int] = []
    for number in numbers:
        if out and number == out[-2] + out[-1]:
            out[-1] += 1
        else:
            out += [number, 1]
    return out
