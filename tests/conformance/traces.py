"""Flue's end-to-end traces through our transition: what is asked, appended, kept, retried and billed.

A trace tells what a scripted model answered and what the real `Session` class left. Users' words and tool
results are taken from the session it left, replies from the script; every decision between them is ours.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from inspector.errors import Stopped
from inspector.formats.manifest import dump_manifest
from inspector.formats.manifest import read as read_manifest
from inspector.planning.assemble import live_context
from inspector.planning.summary_jobs import Reply, SummaryJob
from inspector.policies.registry import find_policy
from inspector.session.entries import Cost, Entry, Usage
from inspector.session.session import Session
from inspector.summaries.compaction import compact
from inspector.summaries.recovery import append_retry, judge_reply, may_retry
from inspector.tokens.ledger import count_tokens
from inspector.tokens.reported import add_usage

from .compare import Outcome, compare
from .flue import dump_usage, parse

SETTINGS = {"reserveTokens": "trigger.reserve_tokens", "keepRecentTokens": "keep-recent-tokens.tokens"}
Json = dict[str, Any]


def run(path: Path) -> Iterator[Outcome]:
    """Every trace under `path`: (name, mismatches)."""
    for file in sorted(path.glob("traces/*.json")):
        trace = json.loads(file.read_text("utf-8"))
        try:
            found = list(Replay(trace).compare())
        except IndexError:
            found = ["more is asked or done than the trace tells of"]
        yield f"traces/{file.stem}", found


def to_usage(raw: Json) -> Usage:
    """Usage with the prices of the script's model: a thousandth for what it reads, twice that for what it
    writes (MANIFEST.md)."""
    cost = Cost(input=raw["input"] * 0.001, output=raw["output"] * 0.002)
    cost = cost.model_copy(update={"total": cost.input + cost.output})
    return Usage(
        input=raw["input"],
        output=raw["output"],
        cache_read=raw["cacheRead"],
        cache_write=raw["cacheWrite"],
        total=raw["totalTokens"],
        cost=cost,
    )


def role_of(entry: Entry) -> str:
    return "toolResult" if entry.role == "tool" else entry.role


class Replay:
    """One trace. `found` are mismatches on the way."""

    def __init__(self, trace: Json) -> None:
        self.trace = trace
        self.told = parse({"version": 3, **trace["finalSession"]})
        self.script: list[Json] = list(trace["modelRequests"])
        self.session = Session(format="flue")
        given = trace["config"]["compaction"]
        self.edits = {"settings": {SETTINGS[name]: given[name] for name in SETTINGS}}
        if given.get("enabled") is False:
            self.edits["settings"]["trigger.enabled"] = False
        self.window: int = trace["config"]["contextWindow"]
        self.trigger = find_policy("flue").configured(self.edits["settings"]).trigger
        codes = [event.get("code") for event in trace["events"]]
        self.aborts = "summarizing" in codes and not {"complete", "failed"} & set(codes)
        self.compactions = [event for event in trace["events"] if event["type"] == "compaction"]
        self.starts = [event for event in trace["events"] if event["type"] == "compaction_start"]
        self.found: list[str] = []
        self.numbers = 0

    def compare(self) -> Iterator[str]:
        results = list(self.trace["results"])
        told = [self.told.entries[i] for i in self.told.path]
        users = [entry for entry in told if entry.role == "user" and entry.kind == "message"]
        self.outputs = [entry for entry in told if entry.role == "tool"]
        for user, result in zip(users, results, strict=True):
            since = self.session.leaf
            if user.extra.get("source") == "shell":
                at = told.index(user)
                for entry in told[at : at + 3]:
                    self.append(entry)
                    if entry.role == "tool":
                        self.outputs.remove(entry)
                continue
            self.append(user)
            ok = self.ask()
            yield from compare(ok, result["ok"], f".{result['call']}.ok")
            if result["ok"]:
                spent = add_usage(self.session, since)
                yield from compare(dump(spent), result["usage"], f".{result['call']}.usage")
        yield from self.found
        yield from self.compare_left(told)

    def compare_left(self, told: list[Entry]) -> Iterator[str]:
        """The session that is left, against the one the real class left."""
        mine = [self.session.entries[i] for i in self.session.path]
        yield from compare([self.show(e, mine) for e in mine], [self.show(e, told) for e in told], ".path")
        live = [self.session.entries[i] for i in self.session.live.entries]
        yield from compare([role_of(entry) for entry in live], self.trace["rebuiltRoles"], ".rebuiltRoles")
        # A request that is left goes with words that the real class never wrote down (FLUE §11).
        left = [request["messageRoles"] for request in self.script]
        expected = [] if self.trace["liveEqualsRebuilt"] else [[*map(role_of, live), "user"]]
        yield from compare(left, expected, ".left")
        yield from compare(len(self.compactions), 0, ".compactions")

    def show(self, entry: Entry, path: list[Entry]) -> Json:
        names = [each.id for each in path]
        boundary = entry.boundary
        shown: Json = {
            "kind": entry.kind,
            "role": role_of(entry),
            "blocks": [block.model_dump() for block in entry.blocks],
            "usage": None if entry.usage is None else dump(entry.usage),
            "stop": entry.stop_reason,
            "source": entry.extra.get("source") if entry.extra.get("source") == "retry" else None,
        }
        if boundary is not None:
            shown["summary"] = boundary.summary
            shown["firstKept"] = names.index(boundary.first_kept or "")
            shown["tokensBefore"] = boundary.tokens_before
            shown["files"] = [*boundary.files_read, "|", *boundary.files_modified]
        return shown

    def append(self, entry: Entry) -> None:
        entry = entry.model_copy(update={"id": self.name(), "parent": self.session.leaf})
        fields = {name: getattr(self.session, name) for name in Session.model_fields}
        self.session = Session(**{**fields, "entries": (*self.session.entries, entry), "leaf": entry.id})

    def name(self) -> str:
        self.numbers += 1
        return f"t{self.numbers}"

    def answer(self) -> Entry:
        """The script's next reply, once its request is the one that our context makes."""
        request = self.script.pop(0)
        live = [self.session.entries[i] for i in self.session.live.entries]
        self.found += compare([role_of(entry) for entry in live], request["messageRoles"], ".messageRoles")
        first = next((entry.text for entry in live if entry.role == "user"), "")
        self.found += compare(
            first[: len(request["firstUserTextHead"])], request["firstUserTextHead"], ".first"
        )
        reply = request["reply"]
        message = {"role": "assistant", **{k: v for k, v in reply.items() if k != "usage"}}
        raw = {"type": "message", "id": "r", "parentId": None, "message": message}
        (entry,) = parse({"version": 3, "entries": [raw], "leafId": "r"}).entries
        calls = any(block.kind == "tool_call" for block in entry.blocks)
        stop = "toolUse" if calls else entry.stop_reason
        return entry.model_copy(update={"usage": to_usage(reply["usage"]), "stop_reason": stop})

    def converse(self) -> None:
        """The model speaks until it calls no tool."""
        while True:
            self.append(self.answer())
            last = self.session.entries[-1]
            calls = [block.id for block in last.blocks if block.kind == "tool_call"]
            if not calls:
                return
            for _ in calls:
                self.append(self.outputs.pop(0))

    def ask(self) -> bool:
        """One prompt. Whether it ends without an error."""
        self.converse()
        judged = judge_reply(self.session, self.trigger, window=self.window)
        if judged.follows == "compact":
            self.compact("auto")
        elif judged.follows == "recover" and self.compact("overflow", judged.failed):
            self.retry()
        elif judged.follows in ("recover", "surface"):
            return False
        last = self.session[self.session.leaf or ""]
        return last.stop_reason != "error"

    def retry(self) -> None:
        transition = self.transition
        stood = len(self.session.entries)
        self.converse()
        brought = [entry.model_copy(update={"parent": None}) for entry in self.session.entries[stood:]]
        self.session = append_retry(transition, brought).after

    def compact(self, reason: Any, failed: str | None = None) -> bool:
        """Whether the request is to be made again."""
        try:
            done = compact(
                self.session,
                "flue",
                self.summarise,
                edits=self.edits,
                reason=reason,
                failed=failed,
                window=self.window,
            )
        except Stopped:
            return False
        if done.done:
            event, start = self.compactions.pop(0), self.starts.pop(0)
            sizes = {"messagesBefore": len(done.plan.session.live), "messagesAfter": len(done.after.live)}
            self.found += compare(sizes, {name: event[name] for name in sizes}, ".compaction")
            self.found += compare(done.plan.measured.tokens, start["estimatedTokens"], ".estimatedTokens")
            pieces = live_context(done.after, count_tokens(done.after)).pieces
            same = [p.block for p in pieces] == [p.block for p in done.promised.pieces]
            self.found += [] if same else ["the rebuilt context is not the promised one"]
        # What goes on is what was written and read again.
        self.session = read_manifest(dump_manifest(done.after).encode())
        self.transition = done
        judged = judge_reply(done.session, self.trigger, window=self.window)
        return may_retry(done, judged)

    def summarise(self, job: SummaryJob, session: Session) -> Reply:
        request = self.script.pop(0)
        self.found += compare(f"summarize:{job.kind}", request["kind"], ".kind")
        self.found += compare(job.max_tokens, request["maxTokens"], ".maxTokens")
        if self.aborts:
            raise Stopped
        reply = request["reply"]
        text = "\n".join(block["text"] for block in reply["content"] if block["type"] == "text")
        return Reply(
            text=text,
            stop_reason=reply["stopReason"],
            error=reply.get("errorMessage"),
            usage=to_usage(reply["usage"]),
        )


def dump(usage: Usage) -> Json:
    return dump_usage(usage) or {}
