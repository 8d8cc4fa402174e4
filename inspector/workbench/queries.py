"""The queries of a screen to a `WorkbenchModel`: a table from a query's type to the function that answers it.

A query is a JSON object {"type", "id", ...}. Its reply has the same type and id; one that cannot be answered
gets {"type": "error", "id", "sentence"} instead.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec.structs import replace

from ..policies.registry import list_policies
from ..redaction.cut import cut_text
from .model import MOST_WORDS, WorkbenchModel
from .page.html import ExportReply, ReviewReply, make, review
from .payloads.base_payload import Payload, to_json
from .payloads.block import (
    BodyReply,
    RowsReply,
    SummaryReply,
    describe_body,
    describe_other_summary,
    describe_rows,
    describe_summary,
)
from .payloads.compactions import list_compactions
from .payloads.compared_facts import describe_context_facts
from .payloads.context import describe_context
from .payloads.fact_list import list_facts, plan_at, search_facts
from .payloads.findings import describe_losses, list_findings
from .payloads.lesson import LessonReply, play_rules
from .payloads.marks import GroundingReply, RegretReply, describe_grounding, describe_regret
from .payloads.policies import PoliciesReply, PolicyResultsReply, find_results, list_choices
from .payloads.rules import RulesReply, SettingsFileReply, offer_rules, read_settings_file
from .payloads.search import SearchReply, find_text, find_turns
from .payloads.selection import describe_selection
from .payloads.story import tell_story
from .payloads.summaries import compare_summaries

Query = Mapping[str, Any]
Reply = dict[str, Any]

MOST_ROWS = 500
MOST_HITS = 200


def answer_query(model: WorkbenchModel, query: object) -> Reply:
    """The whole reply to a query; one that makes no sense gets a sentence.

    >>> from inspector import open_demo
    >>> model = WorkbenchModel(open_demo(), "keep-recent-turns")
    >>> _ = model.answer({})
    >>> answer_query(model, {"type": "rows", "id": 1, "from": 0, "to": 2})["rows"][0]["label"]
    'user text'
    >>> answer_query(model, {"type": "weather", "id": 2})["sentence"]
    "This question has no answer: the workbench does not know the question 'weather'"
    """
    return reply_to(query, lambda query: look_up(model, query))


def look_up(model: WorkbenchModel, query: Query) -> Reply:
    """The reply to a query, without its type and id.

    Raises `InspectorError`, or one of Python's errors, for one that makes no sense.
    """
    kind = query.get("type")
    if not isinstance(kind, str) or kind not in QUERIES:
        raise ValueError(f"the workbench does not know the question {kind!r}")
    return to_json(QUERIES[kind](model, query))


def reply_to(query: object, answer: Callable[[dict[str, Any]], Reply]) -> Reply:
    """Return the whole reply to a query, with the result of `answer`, or a sentence if it raises."""
    if not isinstance(query, dict):
        return refuse({}, "A question is an object with a type.")
    try:
        payload = answer(query)
    except Exception as error:  # any error: the caller would wait forever
        what = str(error) or type(error).__name__
        return refuse(query, f"This question has no answer: {what}")
    return {"type": query.get("type"), "id": query.get("id"), **payload}


def refuse(query: Query, sentence: str) -> Reply:
    """The reply to a query that has no other."""
    return {"type": "error", "id": query.get("id"), "sentence": cut_text(sentence, MOST_WORDS)}


def _rows(model: WorkbenchModel, query: Query) -> RowsReply:
    first = max(int(query["from"]), 0)
    last = min(int(query["to"]), first + MOST_ROWS)
    return RowsReply(first, describe_rows(model.shown, first, last))


def _body(model: WorkbenchModel, query: Query) -> BodyReply:
    # The browser may have moved the cut since the last answer: the query says for which place it asks.
    plan = plan_at(model, int(query["place"])) if "place" in query else model.shown
    return describe_body(plan, int(query["row"]), model.other)


def _summary(model: WorkbenchModel, query: Query) -> SummaryReply:
    if query.get("versus"):
        return describe_other_summary(model.other, model.session)
    return describe_summary(model.shown, int(query["place"]))


def _search(model: WorkbenchModel, query: Query) -> SearchReply:
    words = str(query["query"])
    session, history = model.plan.session, model.history
    matches = find_text(session, history, words, limit=MOST_HITS)
    turns = find_turns(history, session, matches.hits, words)
    facts = search_facts(model, words) if words.strip() else []
    return replace(matches, facts=facts, turns=turns)


def _lesson(model: WorkbenchModel, query: Query) -> LessonReply:
    return play_rules(model.shown, int(query["place"]))


def _regret(model: WorkbenchModel, query: Query) -> RegretReply:
    return describe_regret(model)


def _grounding(model: WorkbenchModel, query: Query) -> GroundingReply:
    return describe_grounding(model, int(query["row"]))


def _rules(model: WorkbenchModel, query: Query) -> RulesReply:
    return offer_rules(model.plan)


def _policies(model: WorkbenchModel, query: Query) -> PoliciesReply:
    return list_choices(model.plan)


def _policy_results(model: WorkbenchModel, query: Query) -> PolicyResultsReply:
    # Of one moment under the same pins a policy leaves the same, however often it is asked for.
    key = (model.inputs["at"], model.inputs["pins"], list_policies())
    if model.cache.get("policies", (None,))[0] != key:
        model.cache["policies"] = key, {}
    cached_results = model.cache["policies"][1]
    return find_results(
        model.plan, model.inputs["pins"], cached_results, max(int(query["from"]), 0), int(query["to"])
    )


def _settings_file(model: WorkbenchModel, query: Query) -> SettingsFileReply:
    return read_settings_file(model.plan.policy, str(query["name"]), str(query["text"]))


def _review(model: WorkbenchModel, query: Query) -> ReviewReply:
    return review(model)


def _export(model: WorkbenchModel, query: Query) -> ExportReply:
    page = make(model, query.get("keep", ()))
    return ExportReply(page.html, len(page.html.encode()), page.name)


QUERIES: dict[str, Callable[[WorkbenchModel, Query], Payload]] = {
    "rows": _rows,
    "body": _body,
    "summary": _summary,
    "search": _search,
    "lesson": _lesson,
    "compactions": list_compactions,
    "context": describe_context,
    "context_facts": describe_context_facts,
    "summaries": compare_summaries,
    "facts": list_facts,
    "findings": list_findings,
    "story": tell_story,
    "regret": _regret,
    "grounding": _grounding,
    "losses": describe_losses,
    "selection": describe_selection,
    "rules": _rules,
    "settings_file": _settings_file,
    "policies": _policies,
    "policy_results": _policy_results,
    "review": _review,
    "export": _export,
}
