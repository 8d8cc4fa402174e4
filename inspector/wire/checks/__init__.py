"""Find every reason for which a provider would refuse a request.

`check_request(body)` applies `CHECKS`, an ordered tuple of small rules, to the body of an Anthropic Messages
request; each rule cites its published source. `check_context` renders a context (`wire/render.py`) and checks
it. Nothing is sent.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from ...errors import ArgumentError, expect, expect_items
from ...planning.context import Context
from ...tokens.models import ModelClass
from ..parsed import Check, Violation, read_request
from ..render import Json, Size, render_request
from . import caching, media, messages, thinking, tools

CHECKS: tuple[Check, ...] = (
    messages.find_malformed,
    messages.find_malformed_length,
    messages.find_no_message,
    messages.find_too_many_messages,
    messages.find_unknown_role,
    messages.find_first_not_user,
    messages.find_empty_message,
    messages.find_empty_text,
    messages.find_unknown_block,
    tools.find_malformed_tool,
    tools.find_misnamed_tool,
    tools.find_repeated_tool,
    tools.find_misplaced_tool_block,
    tools.find_misshapen_id,
    tools.find_repeated_id,
    tools.find_input_not_object,
    tools.find_unanswered_call,
    tools.find_orphan_result,
    tools.find_repeated_result,
    tools.find_late_result,
    tools.find_unexplained_error,
    tools.find_unpaired_server_tool,
    messages.find_misplaced_system,
    messages.find_empty_compaction,
    thinking.find_misplaced_thinking,
    thinking.find_unsealed_thinking,
    thinking.find_final_thinking,
    thinking.find_loop_without_thinking,
    thinking.find_altered_thinking,
    thinking.find_unbound_thinking,
    thinking.find_large_budget,
    thinking.find_forced_tool_with_thinking,
    messages.find_prefill,
    messages.find_trailing_space,
    messages.find_lone_surrogate,
    caching.find_too_many_marks,
    caching.find_late_long_mark,
    caching.find_marked_thinking,
    caching.find_unknown_cache_life,
    media.find_misplaced_media,
    media.find_unknown_media,
    media.find_heavy_image,
    media.find_too_many_images,
    media.find_oversized_image,
    messages.find_body_too_large,
)
"""Every rule of CLAUDE §7, §8, §9 and §11, the most useful to a reader first."""


def name_check(check: Check) -> str:
    """Return the name of a check's rule, as violations have it."""
    return check.__name__.removeprefix("find_")


def check_request(
    request: Json,
    *,
    model_class: ModelClass | None = None,
    previous: Json | None = None,
    sizes: Sequence[Size] = (),
    checks: Sequence[Check] = CHECKS,
) -> tuple[Violation, ...]:
    """Return all reasons for which the provider would refuse a request body; () if it is valid.

    Takes linear time in the blocks of the request.

    Args:
        model_class: How the model treats earlier thinking; by default the class of the request's model, or
            "keep" if that is unknown.
        previous: The body of the previous request, to find thinking that was changed or has lost its prefix.
        sizes: Images of known size.

    >>> request = {"messages": [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1"}]}]}
    >>> [(found.rule, found.path) for found in check_request(request)]
    [('orphan_result', 'messages.0.content.0')]
    """
    expect("check_request", request=(request, dict), previous=(previous, dict, None))
    sent = read_request(request, model_class=model_class, previous=previous, sizes=tuple(sizes))
    return tuple(
        Violation(name_check(check), path, sentence, f"{status}: {error}")
        for check in checks
        for path, sentence, error, status in check(sent)
    )


def check_context(
    context: Context,
    *,
    model: str | None = None,
    model_class: ModelClass | None = None,
    previous: Context | None = None,
    awaits_user: bool = False,
    rules: Collection[str] | None = None,
) -> tuple[Violation, ...]:
    """Render a context with `render_request` and check it with `check_request`.

    `previous` is the previous context. With `awaits_user` the user's next message follows, so a context that
    ends with the assistant's message is not a prefill; nor is it one in OpenAI's messages. If `rules` is
    given, only these rules are applied; an unknown name raises `ArgumentError`. `Rendered.piece_at` maps
    paths to pieces.

    >>> from inspector import count_tokens, live_context, read_session
    >>> call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a.py"}}
    >>> said = [{"role": "user", "content": "Read a.py."}, {"role": "assistant", "content": [call]}]
    >>> session = read_session([*said, {"role": "user", "content": "Go on."}])
    >>> [found.rule for found in check_context(live_context(session, count_tokens(session)))]
    ['unanswered_call']
    """
    expect("check_context", context=(context, Context), previous=(previous, Context, None))
    named = None if rules is None else expect_items("check_context", "rules", rules, str)
    if named is not None and not {*named} <= {*map(name_check, CHECKS)}:
        raise ArgumentError("check_context", "rules", rules, "names of rules of the wire")
    rendered = render_request(context, model=model)
    before = None if previous is None else render_request(previous, model=model).request
    # Only Anthropic's API reads the last message of the assistant as the beginning of the reply.
    of_prefills = (messages.find_prefill, messages.find_trailing_space)
    skipped = of_prefills if awaits_user or context.is_openai else ()
    checks = [
        check for check in CHECKS if check not in skipped and (rules is None or name_check(check) in rules)
    ]
    return check_request(
        rendered.request, model_class=model_class, previous=before, sizes=rendered.sizes, checks=checks
    )
