"""Every sentence about the outcome of a fact: one table from a code to a template.

`TracedFact.why()`, lint and the screen take their sentences from here: one loss reads the same in each.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from ..text import printable
from .outcomes import TRAITS

_BOTH = "{who} “{said}”{when}. {where} "
SENTENCES: dict[str, str] = {
    # Outcomes. A variant says what decided it: the reason of the comparison.
    "verbatim": "It stays as it is, in {place}.",
    "quoted": "{where} says it: “{found}”.",
    "quoted elsewhere": "It is still said in {place}.",
    "paraphrased": "{where} says it in other words: “{found}”.",
    "pointer": "Only a pointer to it is left, in {place}.",
    "partial": "{where} has only “{words}” of it.",
    "partial: end of several paths": "{where} has only “{words}” of it, which may mean {others} too.",
    "partial: value missing": _BOTH + "does not say “{value}”: “{found}”.",
    "partial: softened": _BOTH + "is less strict: “{found}”.",
    "partial: force missing": _BOTH + "does not say that it is a rule: “{found}”.",
    "partial: words missing": _BOTH + "leaves a part out: “{found}”.",
    "partial: exception": _BOTH + "adds an exception: “{found}”.",
    "changed": _BOTH + "says “{found}”.",
    "changed: value": "{who} “{value}”{when}. {where} says “{instead}”.",
    "changed: order": _BOTH + "swaps two parts: “{found}”.",
    "contradicted": _BOTH + "says the opposite: “{found}”.",
    "contradicted: permitted": _BOTH + "allows it: “{found}”.",
    "contradicted: revoked": _BOTH + "cancels it: “{found}”.",
    "unclear": "{where} says “{found}”. Whether that means the same is unclear.",
    "unclear: value missing": "{where} says “{found}”. Whether it means “{value}” is unclear.",
    "unclear: another word": "{where} says “{instead}” instead of “{value}”: “{found}”.",
    "unclear: negation": "{where} says “{found}”. The negation may belong to other words.",
    "unclear: words missing": "{where} says “{found}”. Some of the words are missing there.",
    "unclear: name missing": "{where} says “{found}”, without its name.",
    "unclear: other language": "{where} is in another language, so the words cannot be compared.",
    "unclear: parts": "{where} has parts of it, in several places: “{found}”.",
    "absent": "{where} does not mention this.",
    "absent: no summary": "No block that contains it is kept, and there is no summary.",
    "absent: not written": "It is absent unless the summary names it; the summary is not written yet.",
    "absent: cleared": "{outputs} cleared, and nothing else has it.",
    "unknown": TRAITS["unknown"].sentence,
    "superseded": "You had replaced it{when}: “{found}”; nothing is missing.",
    "superseded: rewritten": "The commit was rewritten{when}, and is now “{found}”; nothing is missing.",
    "superseded: edited": "The number was edited{when}: “{found}”; nothing is missing.",
    "superseded: withdrawn": "You had taken it back{when}: “{found}”; nothing is missing.",
    "superseded: carried": "You had replaced it{when}: “{found}”. {where} still says the old value, which is "
    "out of date.",
    "not said": "This was not said in the session.",
    "later": "It has not been said up to this point.",
    # Facts that could not be read before the compaction, and why.
    "gone: compaction": "It could not be read before this compaction: {event} left nothing of it.",
    "gone: outputs": "It could not be read before this compaction: {outputs} cleared.",
    "gone": "It could not be read before this compaction: the context did not hold it.",
    "again": "{event} {says} it again, in {place}.",
    # The source of a fact.
    "first: head": "{subject} {is_or_are} in the system prompt or the provided context; no message says it.",
    "first: run": "{subject} was first run by {who} in {place}.",
    "first: said": "{subject} {was} first mentioned by {who} in {place}{more}.",
    "longer: one": "The full path is {names}.",
    "longer": "{number} paths end with that name: {names}.",
    "last": "{number} blocks mention it, the last in {place}.",
    "last: carried": "{number} mentioned it, the last in {place}; right before the compaction, only "
    "{carrier} did.",
    "last: standing": "{number} blocks mention it; {still} still there, the last in {place}.",
    "last: none": "Nothing else mentioned it.",
    "last: gone": "{number} blocks had mentioned it, the last in {place}.",
    # Causes.
    "summary is silent": "The summary{by} is {number} characters long{kept}.",
    "said once": "It was mentioned only once{when}.",
    "output cleared": "{outputs} been cleared before.",
    "never changed": "It was never changed, only {did}{when}.",
    "no list of files": "No list of files was carried.",
    "list missed it: by name": "The list of files has only what tools named read, write and edit received as "
    "`path`: {how}.",
    "list missed it": "The list of files does not contain it: {how}.",
    "taken by a rule": "{number} it {fate}, decided by {rule}.",
    "cut": "The cut keeps what comes from {place} on.",
    "cut: end": "The cut is at the end.",
    "placeholder": "The placeholder takes a short line from each message and none from outputs without an "
    "error.",
    "placeholder: cut": "The summary is cut at {number} tokens and begins after the last block that "
    "mentions it.",
    "needed again": "{did} in turn {turn}{same}: {tokens} tokens{price}.",
    # Lint.
    "CI001": "The {kind} {form}, {did} {when}, is absent.",
    "CI002": "The rule {form}, said by the user {when}, is absent.",
    "CI003": "The to-do {form}, open {when}, is absent.",
    "CI004": "The error {form}, last seen {when}, is absent.",
    "CI005": "The command {form}, which last failed {when}, is absent, and so is its result.",
    "CI006": "The {kind} {form}, {did} {when}, is absent.",
    "CI007": "Only “{words}” is left of the file {form}, and {other} has the same name.",
    "CI010": "The decision {form}, made {when}, is absent.",
    "CI014": "The choice {form}, made by the user {when}, is absent.",
    "CI015": "The summary still has the {kind} {form}; {when} the user replaced it with {value}.",
    "CI015: withdrawn": "The summary still has the {kind} {form}; {when} the user took it back.",
    "CI016": "The {kind} {form} is changed. {sentence}",
    "CI017": "The {kind} {form} is contradicted. {sentence}",
    "CI018": "The {kind} {form}, last said by the user {when}, is absent.",
    "CI019": "The {kind} {form}, said by the user {when}, is absent.",
    "CI020": "The {kind} {form}, given by the user {when}, is absent.",
    "CI021": "The {kind} {form} has an exception. {sentence}",
    "judged lost": "{sentence} You marked it lost.",
    # The steps of a fact's history.
    "step: verbatim": "{named}; {number} as before",
    "step: partial": "{named}; the summary has only “{words}”",
    "step": "{named}; {summary}",
    "step: cleared": "{named}; {outputs}",
    "step: gone": "it was gone before",
    # The losses of a compaction or a plan.
    "losses": "{facts}.",
    "losses: plan": "{facts} with this plan.",
    "losses: not written": "{facts} unless the summary names {them}.",
    "losses: none": "No essential fact is missing.",
    "losses: none of": "No essential fact {was} lost {where}{others}.",
    "losses: unknown": "The losses are unknown: {why}.",
}
"""By code. A code `a: b` is a variant of `a`."""


_TWO_STOPS = re.compile(r"([.!?…])”\.(?=\s|$)")


class WrittenSentence(NamedTuple):
    """A sentence with its code and parameters.

    Attributes:
        code: A key of SENTENCES.
        params: The values of the template's fields.
        sentence: The finished sentence.
    """

    code: str
    params: dict[str, str]
    sentence: str


def write(code: str, variant: str = "", **params: str | int) -> WrittenSentence:
    """Return a sentence of the table.

    Args:
        code: A key of SENTENCES.
        variant: The variant; one that the table does not have is ignored.
        params: The values of the fields. Texts of a transcript are escaped (`printable`).

    >>> write("changed", "value", who="You said", said="", when=" (turn 3)", where="The summary", found="",
    ...       value="$500", instead="$600").sentence
    'You said “$500” (turn 3). The summary says “$600”.'
    >>> write("absent", "value", where="The summary").code
    'absent'
    """
    code = f"{code}: {variant}" if f"{code}: {variant}" in SENTENCES else code
    values = {
        name: f"{value:,}" if isinstance(value, int) else printable(value) for name, value in params.items()
    }
    template = SENTENCES[code]
    used = {name: value for name, value in values.items() if f"{{{name}}}" in template}
    # A quoted sentence has its own full stop.
    return WrittenSentence(code, used, _TWO_STOPS.sub(r"\1”", template.format(**values)))
