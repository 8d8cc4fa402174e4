"""DOOR: a document's way to a kernel, where there is no server to ask (JupyterLite). Importing it opens it.

One comm of the target "compaction-inspector" is one document. Its opening message holds "path" (below
"root") or "bundled", and "wanted". To the front end go {"traits", "data": names of the buffers}, {"reply"}
and {"error"}; from there come {"wanted"} and {"ask"}.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from comm import get_comm_manager
from comm.base_comm import BaseComm

from ..demo import open_demo
from ..errors import InspectorError
from ..files import open_session, save_beside
from ..workbench.controller import Controller, Traits
from ..workbench.inputs import pick_inputs
from ..workbench.tasks import describe_error

TARGET = "compaction-inspector"


def open_document(comm: BaseComm, message: Mapping[str, Any]) -> None:
    """Serve one document until its comm is closed."""
    request = message["content"]["data"]
    request = request if isinstance(request, dict) else {}

    def send(traits: Traits) -> None:
        data = [name for name, value in traits.items() if isinstance(value, bytes)]
        plain = {name: value for name, value in traits.items() if name not in data}
        comm.send({"traits": plain, "data": data}, buffers=[traits[name] for name in data])

    try:
        place = Path(request.get("root") or ".").expanduser() / request.get("path", "").lstrip("/")
        controller = Controller(open_demo() if request.get("bundled") else open_session(place), send)
        home = "" if request.get("bundled") else str(place)
        controller.save = lambda plan: save_beside(plan, home)
        inputs = request.get("wanted") or {}
        try:
            first = controller.start(pick_inputs(inputs), bool(inputs.get("replay")))
        except InspectorError as error:
            first = {**controller.start({}, bool(inputs.get("replay"))), "_error": describe_error(error)}
    except Exception as error:
        # Whatever it is: the document would wait for ever.
        comm.send({"error": describe_error(error)})
        return

    def answer(reply: Traits) -> None:
        # Closed, nobody is waited for.
        if not controller.closed:
            with controller.lock:
                comm.send({"reply": reply})

    def receive(message: Mapping[str, Any]) -> None:
        said = message["content"]["data"]
        if "wanted" in said:
            inputs = said["wanted"]
            try:
                with controller.lock:
                    send(
                        controller.set_inputs(
                            pick_inputs(inputs), int(inputs.get("_seq", 0)), inputs.get("replay")
                        )
                    )
            except Exception as error:
                send({"_error": describe_error(error)})
        if "ask" in said:
            controller.ask(said["ask"], answer)

    comm.on_msg(receive)
    comm.on_close(lambda _: controller.close())
    send(first)
    controller.begin()


get_comm_manager().register_target(TARGET, open_document)
