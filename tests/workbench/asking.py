"""A workbench without a screen that has drawn its first picture, and its answers to a screen's questions."""

from __future__ import annotations

from typing import Any

from inspector.workbench.model import WorkbenchModel
from inspector.workbench.queries import answer_query


def open_model(*given: Any, **options: Any) -> WorkbenchModel:
    """Open a model with the arguments of `WorkbenchModel`, and answer once."""
    model = WorkbenchModel(*given, **options)
    model.answer({})
    return model


def ask(model: WorkbenchModel, question: str, /, **query: Any) -> dict[str, Any]:
    """The reply to a question that has one, at the cut that is shown unless told otherwise."""
    reply = answer_query(model, {"type": question, "id": 1, "place": model.shown.place or 0, **query})
    assert reply["type"] == question, reply
    return reply
