"""The questions of the checks: each on a generated session, with exactly one right answer.

A task gets a generated session and returns an `Exercise`, or None if the session does not suit: the next one
is tried then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...errors import LessonError
from ...facts.trace import trace_again
from ...planning.plan import Plan
from ...redaction.cut import cut_text
from ...summaries.write import checkpoint_from_text
from ...text import plural
from ..payloads.sections import ALL_SECTIONS, format_tokens, sum_before
from .attempt import kept_tokens, turn_of
from .exercise import Charts, Exercise, Option, name_place, show_nothing, show_plan
from .generated import Dice, GeneratedSession

Task = Callable[[GeneratedSession, Dice, Charts], Exercise | None]
MOST_SESSIONS = 200
"""Sessions that are tried for one exercise."""
_KINDS = ("assistant", "reasoning", "tool call", "tool output")
_POLICIES = (
    *("flue", "codex", "langchain-clear", "langchain-trim", "keep-recent-turns", "mini-claude-code"),
    *("inspect-edit", "gemini-cli"),
)
_SUMMARY = "The user asked for work on {}. The tests pass; the last change is not committed yet."


def _largest_kind(generated: GeneratedSession, dice: Dice, charts: Charts) -> Exercise | None:
    plan = generated.plan("flue")
    sums = {kind: sum_before(plan)[ALL_SECTIONS.index(kind.replace(" ", "_"))] for kind in _KINDS}
    first, second = sorted(sums.values(), reverse=True)[:2]
    if first < 1.3 * second:
        return None
    options = [
        Option(
            *(kind, kind, sums[kind] == first),
            f"All blocks of “{kind}” hold {format_tokens(sums[kind])} of {format_tokens(plan.before)} tokens"
            + (
                "."
                if sums[kind] == first
                else ": another kind holds more. Read the scale before you compare heights."
            ),
        )
        for kind in _KINDS
    ]
    return _choose("Which kind of content holds the most tokens?", options, plan, charts, bare=True)


def _last_cut_in_turn(generated: GeneratedSession, dice: Dice, charts: Charts) -> Exercise | None:
    plan = generated.plan("flue")
    inside = {
        turn: [at for at in generated.legal if plan.cuts.splits[at] and turn_of(plan, at) == turn]
        for turn in range(2, generated.turns)
    }
    turns = [turn for turn, places in inside.items() if len(places) >= 2]
    if not turns:
        return None
    turn = dice.pick(turns)
    right = inside[turn][-1]

    def say(place: int) -> str:
        here, name = turn_of(plan, place), name_place(plan, place)
        if place == right:
            return f"After it no cut is valid before turn {turn + 1} starts."
        if place in inside[turn]:
            return f"This is inside turn {turn}, but a later cut point is inside it too."
        if here == turn:
            return f"This is the start of turn {turn}: nothing of it is left of the cut."
        if here == turn + 1 and name.startswith("start"):
            return f"This is the start of turn {turn + 1}: all of turn {turn} is left of the cut."
        return f"This is {name}."

    question = f"Put the cut at the last valid cut point inside turn {turn}."
    return _drag(question, generated, {right}, say, charts)


def _policy_cut(generated: GeneratedSession, dice: Dice, charts: Charts) -> Exercise | None:
    keep = dice.number(15, 60) * generated.plan("flue").before // 1_000 * 10 // 100 * 100
    plan = generated.plan("flue", {"keep-recent-tokens.tokens": keep})
    own = turn_of(plan, plan.place)
    if not 3 <= own < generated.turns:
        return None
    # Flue's estimate differs a little from the counted tokens; the turn must be the same by both.
    here, after = (next(at for at in generated.legal if turn_of(plan, at) == turn) for turn in (own, own + 1))
    sizes = [kept_tokens(generated.plan("flue", None, at)) for at in (here, after)]
    if not sizes[1] < 0.95 * keep < 1.05 * keep < sizes[0]:
        return None
    right = {place for place in generated.legal if turn_of(plan, place) == own}

    def say(place: int) -> str:
        remaining = format_tokens(kept_tokens(generated.plan("flue", None, place)))
        here = turn_of(plan, place)
        if here == own:
            where = name_place(plan, plan.place or 0)
            return f"Flue cuts {where}: from the end, {keep:,} tokens are passed there."
        if here < own:
            return f"This keeps {remaining} tokens: {keep:,} are already passed in a later turn."
        return f"This keeps only {remaining} tokens: {keep:,} are not passed yet."

    question = f"Flue is set to keep {keep:,} tokens. Put the cut into the turn in which it cuts."
    return _drag(question, generated, right, say, charts)


def _not_in_summary(generated: GeneratedSession, dice: Dice, charts: Charts) -> Exercise | None:
    plan = generated.plan("keep-recent-turns", {"keep-recent-turns.turns": 3})
    older, recent = generated.files[:-3], dice.pick(generated.files[-3:])
    missing, *named = dice.sample(older, 3)
    named_files = [file for file in older if file != missing]
    text = " ".join(_SUMMARY.format(file) for file in named_files)
    plan = plan.with_summary(checkpoint_from_text(text, plan))
    says = {
        missing: "The summary does not name it, and nothing that is kept does.",
        recent: "The summary does not name it, but the cut keeps its turn word for word.",
    }
    options = [
        Option(
            file,
            file,
            plan.trace[file].outcome == "absent",
            says.get(file, "The summary names it. Search for its last part."),
        )
        for file in sorted((missing, recent, *named))
    ]
    question = "Which of these files does the next request not name?"
    return _choose(question, options, plan, charts, [("The summary", text)])


def _which_compaction(generated: GeneratedSession, dice: Dice, charts: Charts) -> Exercise | None:
    lost, last = dice.number(2, 4), 5
    target = generated.rule.removeprefix("Never edit ").rstrip(".")
    texts = []
    for number in range(1, last + 1):
        words = " ".join(_SUMMARY.format(file) for file in dice.sample(generated.files, 2))
        if number < lost:
            words += f" The user said: {generated.rule}"
        elif number == lost + (1 if lost < 4 else 0):
            words += f" The numbers were read from {target}."
        texts.append((f"Summary of ◆{number}", words))

    def say(number: int) -> str:
        if number == lost:
            return f"The summary of ◆{number} is the first without the sentence."
        if number < lost:
            return f"The summary of ◆{number} still holds the sentence."
        if target in texts[number - 1][1]:
            return f"◆{number} names the file, but not the rule. The rule was lost before."
        return f"Before ◆{number} the rule was already lost, and a later summary cannot know it."

    options = [
        Option(f"compaction {number}", f"◆{number}", number == lost, say(number))
        for number in range(1, last + 1)
    ]
    question = f"The user said: “{generated.rule}” Which compaction, ◆1 to ◆{last}, lost this rule?"
    return _choose(question, options, generated.plan("flue"), charts, texts, bare=True)


def _most_turns(generated: GeneratedSession, dice: Dice, charts: Charts) -> Exercise | None:
    plans = {
        number: generated.plan("keep-recent-turns", {"keep-recent-turns.turns": number})
        for number in range(1, generated.turns)
    }
    sizes = {number: plan.after for number, plan in plans.items()}
    fits = [
        number
        for number in range(2, generated.turns - 1)
        if sizes[number + 1] - sizes[number] > 0.08 * sizes[number]
    ]
    if not fits or list(sizes.values()) != sorted(sizes.values()):
        return None
    right = dice.pick(fits)
    limit = (sizes[right] + sizes[right + 1]) // 200 * 100
    if not sizes[right] <= limit < sizes[right + 1]:
        return None

    def say(number: int) -> str:
        sent = f"With {plural(number, 'turn')} {sizes[number]:,} tokens are sent"
        if number == right:
            return f"{sent}, and with {number + 1} it would be {sizes[number + 1]:,}."
        return f"{sent}: too many." if number > right else f"{sent}. One more turn fits too."

    options = [
        Option(str(number), str(number), number == right, say(number), show_plan(plan))
        for number, plan in plans.items()
    ]
    summary = plans[right].summary_tokens
    question = (
        f"A policy keeps whole turns, and its summary has about {summary:,} tokens. "
        f"How many turns can it keep at most, if no more than {limit:,} tokens may be sent?"
    )
    plan = generated.plan("flue")
    return Exercise(
        *("set", question, options, 0, right - 1, charts.add(plan), show_nothing(plan)),
        blind=True,
        hint="The sum of each turn is under its bars. Add them up from the right.",
    )


def _size_of_file(generated: GeneratedSession, dice: Dice, charts: Charts) -> Exercise | None:
    turn = dice.number(3, generated.turns - 2)
    start = next(at for at in generated.legal if turn_of(generated.plan("flue"), at) == turn)
    plan = generated.plan("flue", None, start)
    file_size, summary, remaining = plan.before, dice.number(12, 30) * 100, kept_tokens(plan)
    says = {
        file_size + summary: "Nothing is deleted, and the summary is appended.",
        remaining + summary: "That is the next request. The file still holds what is left of the cut.",
        file_size: "The summary is written into the file too.",
        remaining: "That is what the request keeps word for word. The file keeps everything.",
    }
    if len({format_tokens(size) for size in says}) < 4:
        return None
    options = [
        Option(str(size), f"{format_tokens(size)} tokens", size == file_size + summary, words)
        for size, words in sorted(says.items())
    ]
    question = (
        f"The file holds {format_tokens(file_size)} tokens of messages. The cut keeps "
        f"{format_tokens(remaining)} of them, and a summary of {format_tokens(summary)} is written. "
        "How much does the file hold afterwards?"
    )
    exercise = _choose(question, options, plan, charts)
    # The chart has the summary of the question, and not the plan's own.
    exercise.state = exercise.state._replace(
        summary=summary, after=plan.after - plan.summary_tokens + summary
    )
    return exercise


def _fitting_policy(generated: GeneratedSession, dice: Dice, charts: Charts) -> Exercise | None:
    plans = {name: generated.plan(name) for name in _POLICIES}
    # Of all facts only the rule is asked for, so the others are traced under one plan alone.
    rules = plans[_POLICIES[0]].trace.select(kind="constraint")[:1]
    outcomes = {name: str(trace_again(rules, plan)[0].outcome) for name, plan in plans.items()}
    conditions: dict[str, Callable[[str], bool]] = {
        "keeps the rule ★ word for word in its place": lambda name: outcomes[name] == "verbatim",
        "needs no model": lambda name: plans[name].deterministic,
    }
    condition = dice.pick(tuple(conditions))
    meets = conditions[condition]
    fits = [name for name in _POLICIES if meets(name) and plans[name].after < plans[name].before]
    if not fits:
        return None
    right = dice.pick(fits)
    limit = plans[right].after // 100 * 100 + 100
    others = [
        name
        for name in _POLICIES
        if not meets(name) or not limit < plans[name].before or plans[name].after > limit
    ]
    tempting = [name for name in others if plans[name].after <= limit]
    if right in others or len(others) < 3 or not tempting:
        return None
    first = dice.pick(tempting)
    names = [right, first, *dice.sample([name for name in others if name != first], 2)]

    def say(name: str) -> str:
        size = f"{plans[name].policy.title} sends {plans[name].after:,} tokens"
        if name == right:
            return f"{size} and {condition}."
        if plans[name].after > limit:
            return f"{size}: too many."
        if condition == "needs no model":
            return f"{size}, but has a summary written."
        where = "only in the summary" if outcomes[name] == "quoted" else "lost"
        return f"{size}, but the rule is {where}."

    options = [
        Option(name, plans[name].policy.title, name == right, say(name), show_plan(plans[name]))
        for name in sorted(names)
    ]
    plan = generated.plan("flue")
    rule = plan.trace.select(kind="constraint")[0].said[0]
    keys = [option.key for option in options]
    return Exercise(
        *("policy", f"Choose the policy that sends at most {limit:,} tokens and {condition}.", options, -1),
        *(keys.index(right), charts.add(plan, rule), show_nothing(plan)),
    )


TASKS: dict[str, Task] = {
    "largest-kind": _largest_kind,
    "last-cut-in-turn": _last_cut_in_turn,
    "policy-cut": _policy_cut,
    "not-in-summary": _not_in_summary,
    "which-compaction": _which_compaction,
    "most-turns": _most_turns,
    "size-of-file": _size_of_file,
    "fitting-policy": _fitting_policy,
}
"""The tasks by their names, which a lesson's check step uses."""
FINAL = (
    ("largest-kind", "last-cut-in-turn", "policy-cut", "most-turns"),
    ("size-of-file", "not-in-summary", "fitting-policy"),
    ("which-compaction", "policy-cut", "last-cut-in-turn"),
)
"""The ten questions of the final test, on three sessions."""


def build_check(name: str, seed: int, charts: Charts) -> Exercise:
    """Build the exercise of a task from a number. Raises `LessonError` for an unknown task."""
    (exercise,) = _build_set((name,), f"{name}:{seed}", seed, charts)
    return exercise


def build_final(seed: int, charts: Charts) -> list[Exercise]:
    """Build the ten questions of the final test from a number."""
    return [
        exercise
        for part, names in enumerate(FINAL)
        for exercise in _build_set(names, f"final:{seed}:{part}", seed, charts)
    ]


def _build_set(names: Sequence[str], seed: str, number: int, charts: Charts) -> list[Exercise]:
    """Build exercises on one session, the first that suits all of them."""
    for name in names:
        if name not in TASKS:
            raise LessonError(f"there is no task {cut_text(name, 40)}; there are {', '.join(TASKS)}")
    for attempt in range(MOST_SESSIONS):
        generated = GeneratedSession(f"{seed}:{attempt}")
        drawn = Charts()
        exercises = [TASKS[name](generated, Dice(f"{generated.seed}:{name}"), drawn) for name in names]
        suited = [exercise for exercise in exercises if exercise is not None]
        if len(suited) == len(names):
            for exercise in suited:
                exercise.chart = charts.keep(drawn.drawn[exercise.chart])
                exercise.seed = number
                exercise.session = generated.session
            return suited
    raise LessonError(f"no generated session suits {', '.join(names)}")


def _choose(
    question: str,
    options: list[Option],
    plan: Plan,
    charts: Charts,
    texts: list[tuple[str, str]] | None = None,
    bare: bool = False,
) -> Exercise:
    """A question with choices. With `bare` the chart shows the session without the plan."""
    right = next(index for index, option in enumerate(options) if option.right)
    state = show_nothing(plan) if bare else show_plan(plan)
    return Exercise(*("choice", question, options, -1, right, charts.add(plan), state), texts=texts or [])


def _drag(
    question: str,
    generated: GeneratedSession,
    right: set[int],
    say: Callable[[int], str],
    charts: Charts,
) -> Exercise:
    """A question answered by moving the cut, which starts at a wrong place."""
    plan = generated.plan("flue")
    options = [
        Option(
            *(plan.cuts.ids[place], name_place(plan, place), place in right, say(place)),
            show_plan(generated.plan("flue", None, place)),
        )
        for place in generated.legal
    ]
    solution = next(index for index, option in enumerate(options) if option.right)
    start = len(options) // 2
    start = start if not options[start].right else next(i for i, o in enumerate(options) if not o.right)
    state = options[start].state
    assert state is not None
    return Exercise("cut", question, options, start, solution, charts.add(plan), state)
