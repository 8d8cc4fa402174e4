"""Safety rules: sentences that a person typed to forbid something, or to allow it under one condition only.

A rule that says what must not happen does more harm if a summary loses it than any other line, so an extract
begins with these. The facts decide which sentences are rules (kind "constraint"); this module distinguishes
them from rules about how to do a thing. A sentence that plainly forbids counts even if it is no fact.
"""

from __future__ import annotations

import re

_CUES = re.compile(
    r"""(?ix)
    \b(?:never | do[ ]not | don['’]?t | must[ ]not | mustn['’]?t | may[ ]not | shall[ ]not | shan['’]?t
      | should[ ]not | shouldn['’]?t | can[ ]?not | can['’]?t | without | unless | nobody | no[ ]one | avoid
      | refrain | forbidden | prohibited | not[ ]allowed | off[ -]limits | hands[ ]off | away[ ]from
      | free[ ]of | (?:under | in | on | at)[ ]no[ ] | no[ ][^.\n]{1,80}[ ](?:ever | until | please)
      | only[ ][^.\n]{1,120}?\b(?:after | once | when | if | with | may | can | has | then)
      | not[ ][^.\n]{1,80}?\b(?:before | until)
      | niemals | auf[ ]keinen | nicht[ ]ohne | jamais | nunca)\b
    | (?<![\w-])no[ ](?:[a-z-]+[ ]){1,4}(?:at|in|on|to|from)\b
    | 不要 | 不得 | 请勿 | 請勿 | 禁止 | 只能 | ないでください | てはいけません | 절대"""
)
_PLAIN = re.compile(
    r"""(?ix)
    ^\W*(?:[^:.!?\n]{1,40}:[ ]+ | (?:please | and | but | also | so | ok(?:ay)?)[, ]+)*
      (?:never[ ]\w | (?:do[ ]not | don['’]?t)[ ](?!know | think | see | understand | worry | mind | want)\w
      | under[ ]no[ ] | at[ ]no[ ])
    | \b(?:must[ ](?:not|never) | mustn['’]t)\b"""
)


def forbids(rule: str) -> bool:
    """Whether a rule forbids something, or allows it under a condition.

    >>> forbids("Never push to main."), forbids("Only deploy after the tests pass."), forbids("Use tabs.")
    (True, True, False)
    """
    return _CUES.search(rule) is not None


def plainly_forbids(sentence: str) -> bool:
    """Whether a sentence forbids something, whatever else is known of it.

    >>> plainly_forbids("Please don't touch the lock file."), plainly_forbids("I don't see why it must fail.")
    (True, False)
    """
    return _PLAIN.search(sentence) is not None
