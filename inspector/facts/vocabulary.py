"""The English words that comparisons of texts know: numbers, units, words of force, small words, stems."""

from __future__ import annotations

import re
from functools import lru_cache


def split_words(text: str) -> tuple[str, ...]:
    """Return the words of a table."""
    return tuple(text.split())


NO_END = "".join(
    rf"(?<!\b{re.escape(word)}\.)"
    for word in split_words(
        """
        Dr Mr Mrs Ms Mme Prof Hr Fr St Sr Sra Srta Dra
        e.g i.e vs cf approx resp incl fig Fig Nr bzw ca ggf z.B z u.a p.ej
        """
    )
)
"""A pattern for the place behind a full stop: after a title or an abbreviation it ends no sentence."""
MONTHS = tuple(
    split_words("""january february march april may june july august september october november december""")
)
ONES = split_words(
    """
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen
    """
)
TENS = split_words("""twenty thirty forty fifty sixty seventy eighty ninety""")
NUMERALS = {word: number for number, word in enumerate(ONES) if word != "one"} | {
    **{word: 20 + 10 * number for number, word in enumerate(TENS)},
    "twice": 2,
}
"""Spelled numbers. "One" is not among them: in "each one" it counts nothing."""
SCALES = {"hundred": 100, "thousand": 1000, "million": 10**6}
UNITS = {
    unit: names.split()[0]
    for names in (
        "s sec secs second seconds",
        "min mins minute minutes",
        "h hr hrs hour hours",
        "ms msec millisecond milliseconds",
        "day d days",
        "week wk wks weeks",
        "month months",
        "year yr yrs years",
        "pct % percent",
        "byte bytes",
        "kb kib kilobyte kilobytes",
        "mb mib megabyte megabytes",
        "gb gib gigabyte gigabytes",
        "tb tib terabyte terabytes",
        "usd dollar dollars $",
        "eur euro euros €",
        "gbp £",
    )
    for unit in names.split()
}
CURRENCIES = {"$": "usd", "€": "eur", "£": "gbp"}
DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
ENDINGS_OF_FILES = (
    "py|ts|tsx|js|jsx|mjs|cjs|go|rs|md|json|jsonl|ya?ml|toml|txt|sh|css|html?|sql|c|h|cc|cpp|hpp|java|kt|rb"
    "|php|cfg|ini|lock|log|csv|tsv|xml|svg|png|ipynb|vue|swift|env"
)
FORCE = {
    "cancel": "no longer|not just|not only|lifted|cancell?ed|revoked|waived|unrestricted|unlimited"
    "|unreviewed|retired|overridden|feel free|freely|at will|optional|no need|not exempt",
    "limit": "at most|no more than|not more than|not to exceed|no later than|up to|at or under|at or below"
    "|or less|or fewer",
    "over": "more than|larger than|greater than|bigger than|longer than|higher than|exceed(?:s|ing)?|above"
    "|beyond|over",
    "strict": "(?:no one|nobody|none|nothing) (?:but|except|other than)"
    "|must|always|only|require[sd]?|requiring|mandatory|needs?|needed|has to|have to|read[- ]only"
    "|strictly|exclusively|exactly|capped|cap|limited|limit|max(?:imum)?|min(?:imum)?|at least"
    "|(?:no|not) (?:fewer|less|earlier|sooner) than"
    "|under no circumstances|(?:no|without(?: any)?) exceptions?|ensure|hard",
    "soft": "when convenient|for now|for the time being|more or less"
    "|usually|generally|normally|typically|mostly|mainly|often|sometimes|about|around"
    "|almost|nearly|near|close to"
    "|roughly|approximately|prefer(?:s|red|ably)?|try(?: to)?|aim(?: to| for)?|ideally"
    "|when(?:ever)? possible|if possible|where possible|when you can|if you can|when practical"
    "|where practical|discouraged?|encouraged?|expected|consider|watch|how often|recommended|tends? to"
    "|as a rule|might|avoid(?:s|ing)?|by default|advis(?:ed|able)|best effort",
    "permission": "can|may|allow(?:s|ed)?|permit(?:s|ted)?|fine|okay|ok|free to|welcome to|approved|granted"
    "|authori[sz]ed|acceptable|as needed|whenever|anything goes|at any",
    "negation": "rather than|instead of|in place of|free (?:of|from)|no one|nobody|nothing|none|neither|nor"
    "|never|nowhere|not|no|without|cannot|forbid(?:s|den)?|hands[ -]off"
    r"|refuse[sd]?|prohibit(?:s|ed)?|banned|refrain(?: from)?|stop(?= \w+ing\b)|off[- ]limits",
}
"""Words that set how strictly a sentence binds, by sort. The order matters: "no longer" is looked for before
"no"."""
LIMITS = frozenset((*FORCE["limit"].split("|"), "limit", "limited", "cap", "capped", "max", "maximum"))
"""Forms that make a number an upper limit."""
LOWER_LIMITS = frozenset(
    (
        "at least",
        "min",
        "minimum",
        *(f"{no} {less} than" for no in ("no", "not") for less in ("fewer", "less", "earlier", "sooner")),
    )
)
"""Forms that make a number a lower limit."""
SMALL = frozenset(
    split_words(
        """
    a an the is are was were be been being am do does did done has have had having this that these those
    there here it its they them their we our us you your i me my he she his her of for to in on at by
    with from as into onto out up off and or if then than so such any all each every per via will would
    shall should could let lets let's s t re make made get got go goes going just now also too very
    please pls plz ok yes yeah but well still when where which who what why how while during whenever it's
    i'd i'll we'll one some other own making doing going getting having saying same way thing things want
    wants wanted like think thought say said says request requested
    """
    )
)
_GROUPS = """spend cost budget expense expenditure | remove delete drop erase | run execute launch invoke
execution start | before prior ahead | above over exceed beyond | review approve approval approv
signoff sign check | send forward share mail email | change edit modify alter touch update | write
save store put persist keep hold | show display present print | show tell explain | create add make
build introduce | select pull read fetch query retrieve open access view | fix repair correct
resolve | large big oversize | reply answer response respond | end finish close conclude complete |
begin start | file document | message mail | person people human | confirm confirmation permission
approv ask | folder directory dir | point go target route direct send come | use employ apply | test
spec | name call rename title | keep retain preserve | need require must | commit check-in | push
publish upload | merge combine | move relocate | copy duplicate | private confidential secret | cite
quote reference refer | brief short concise | step phase stage | error failure bug | user customer
client | branch fork | url link address | pick choose select | word text | search look find | unit
imperial | convert translate | wait hold pause | verify validate check | outside external"""
"""Groups of words that rules use for the same thing. Without them 7 of 234 cases are read worse."""
_IRREGULAR = dict(
    pair.split("/")
    for pair in split_words(
        """
    written/write wrote/write ran/run sent/send kept/keep built/build rebuilt/rebuild left/leave
    told/tell broken/break broke/break chosen/choose chose/choose given/give gave/give made/make
    taken/take took/take held/hold put/put found/find shown/show hidden/hide lost/lose spent/spend
    paid/pay bought/buy thrown/throw drawn/draw grown/grow known/know began/begin begun/begin fell/fall
    fallen/fall meant/mean led/lead used/use
    """
    )
)
_ENDINGS = tuple(
    (ending, put)
    for ending, _, put in (
        pair.partition("/")
        for pair in split_words(
            """
    ies/y sses/ss ization/iz isation/iz ation/ ition/ ments/ ment/ ings/ ing/ edly/ ed/ tion/t sion/s
    ness/ ally/ ly/ es/ als/ al/ ers/ er/ s/ e/
    """
        )
    )
)


@lru_cache(65_536)
def stem(word: str) -> str:
    """Reduce a word to a stem that its forms share.

    >>> stem("documented") == stem("documents") == stem("document"), stem("wrote") == stem("writing")
    (True, True)
    >>> stem("1000"), stem("v2.11")
    ('1000', 'v2.11')
    """
    word = word.lower().replace("’", "'").removesuffix("'s").replace("'", "")
    if not word.isalpha() and any(map(str.isdigit, word)):
        return word  # 1000 is no form of 100
    word = _IRREGULAR.get(word, word)
    for _ in range(3):
        for ending, put in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) + len(put) >= 3 and not word.endswith("ss"):
                word = word[: len(word) - len(ending)] + put
                break
        else:
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word


_IRREGULAR_WORDS: dict[str, list[str]] = {}
for _word in _IRREGULAR:
    _IRREGULAR_WORDS.setdefault(stem(_word), []).append(_word)


def find_beginnings(form: str) -> list[str]:
    """Return the beginnings of all words with a stem.

    >>> find_beginnings(stem("queries")), find_beginnings(stem("write"))
    (['quer'], ['writ', 'written', 'wrote'])
    """
    whole = len(form) == 1 or form[-1] not in "yz"  # "queries" has "query", "organisation" has "organiz"
    return [form if whole else form[:-1], *_IRREGULAR_WORDS.get(form, ())]


LIGHT = frozenset(
    map(
        stem,
        split_words("""point send give put take use set work handle perform come keep be have"""),
    )
)
"""Stems of verbs that say little by themselves: their absence alone is no loss."""
GROUP_OF: dict[str, set[str]] = {}
MEMBERS: dict[str, list[str]] = {}
for _number, _group in enumerate(_GROUPS.replace("\n", " ").split("|")):
    for _word in _group.split():
        GROUP_OF.setdefault(stem(_word), set()).add(f"={_number}")
        MEMBERS.setdefault(f"={_number}", []).append(stem(_word))
"""The groups of a stem, and the stems of a group."""


@lru_cache(65_536)
def find_groups(form: str) -> frozenset[str]:
    """Return the stem itself and the groups of like words that it belongs to."""
    return frozenset({form} | GROUP_OF.get(form, set()))


def is_general(form: str) -> bool:
    """Whether a stem names no subject by itself: "test", "file", "write".

    >>> is_general(stem("tests")), is_general(stem("invoice"))
    (True, False)
    """
    return form in LIGHT or form in GROUP_OF


@lru_cache(16_384)
def is_alike(stem: str, other: str) -> bool:
    """Whether two stems are forms of one word or belong to one group of like words."""
    if stem == other or not find_groups(stem).isdisjoint(find_groups(other)):
        return True
    short, long = sorted((stem, other), key=len)
    return len(short) > 4 and long.startswith(short)
