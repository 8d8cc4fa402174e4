"""What secrets look like: the tokens of known services, and what is secret by what stands before it.

The forms of tokens are what each service publishes of them: their prefix, letters and length.

Every pattern takes time in proportion to the text, whatever stands in it: nothing in one can be split in
more than one way, and what can begin at every place is bounded. `needs` spares most texts the pattern.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from typing import Literal, NamedTuple

Grade = Literal["secret", "personal"]


class Pattern(NamedTuple):
    """What a kind of secret looks like. The secret is group 1, or all of it where there is none.

    `judge` names the doubt that a match has to pass. Where the pattern matches, one of `needs` stands in the
    lower-case text; without any it is always tried. `lower` ones are written for the lower-case text itself.
    A `long` one matches nowhere but where `LONG_RUN` does in the lower-case text.
    """

    kind: str
    regex: re.Pattern[str]
    judge: str = "plain"
    grade: Grade = "secret"
    needs: tuple[str, ...] = ()
    lower: bool = False
    long: bool = False


LONG_RUN = re.compile(r"[0-9a-z_-]{32}")
"""Most texts hold no such run, and to look for one takes a tenth of what a pattern without a prefix takes."""

# Where a token may begin: not inside a word, but right behind \n in a string, %3D in an address, a colour.
_EDGE = (
    r"(?:(?<![A-Za-z0-9_])|(?<=\\[abefnrtv])|(?<=%[0-9A-Fa-f]{2})|(?<=\\[ux][0-9A-Fa-f]{2})"
    r"|(?<=\\u[0-9A-Fa-f]{4})|(?<=[\[;0-9][0-9]m))"
)
# kind -> (the needs, the token)
_TOKENS = {
    "anthropic-key": ("sk-ant-", r"sk-ant-[\w-]{20,}"),
    "openai-key": ("sk-", r"sk-(?:proj|svcacct|admin|None|or-v1)-[\w-]{20,}|sk-[A-Za-z0-9]{32,}"),
    "github-token": (
        "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
        r"gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{22,}",
    ),
    "google-key": ("aiza gocspx- ya29.", r"AIza[\w-]{35}|GOCSPX-[\w-]{28}|ya29\.[\w-]{20,}"),
    "slack-token": ("xox xapp-", r"xox[abeoprs][.-][A-Za-z0-9.-]{10,}|xapp-\d-[A-Za-z0-9-]{10,}"),
    "huggingface-token": ("hf_", r"hf_[A-Za-z]{30,200}(?!\w)"),
    "npm-token": ("npm_", r"npm_[A-Za-z0-9]{36}"),
    "gitlab-token": (
        "glpat- glptt- glrt- gldt- glcbt- glsoat- glft- glimt- glagent- gloas- gr1348941",
        r"gl(?:pat|ptt|rt|dt|cbt|soat|ft|imt|agent|oas)-[\w-]{20,}|GR1348941[\w-]{20,}",
    ),
    "grafana-token": ("glsa_", r"glsa_[A-Za-z0-9]{32}_[0-9a-f]{8}"),
    "stripe-key": (
        "sk_ rk_ whsec_",
        r"(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{24,}",
    ),
    "groq-key": ("gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    "xai-key": ("xai-", r"xai-[A-Za-z0-9]{60,}"),
    "nvidia-key": ("nvapi-", r"nvapi-[\w-]{50,}"),
    "langsmith-key": ("lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    "replicate-token": ("r8_", r"r8_[A-Za-z0-9]{37}"),
    "perplexity-key": ("pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    "tavily-key": ("tvly-", r"tvly-[\w-]{20,}"),
    "linear-key": ("lin_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
    "notion-token": ("ntn_", r"ntn_[A-Za-z0-9]{40,}"),
    "figma-token": ("figd_", r"figd_[\w-]{36,}"),
    "atlassian-token": ("atatt3", r"ATATT3[\w=-]{30,}"),
    "supabase-token": ("sbp_", r"sbp_[0-9a-f]{40}"),
    "pulumi-token": ("pul-", r"pul-[0-9a-f]{40}"),
    "artifactory-key": ("akcp", r"AKCp[A-Za-z0-9]{10,}"),
    "databricks-token": ("dapi", r"dapi[0-9a-f]{32}"),
    "digitalocean-token": ("_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
    "age-key": ("age-secret-key-", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    "sentry-token": ("sntry", r"sntry[su]_[\w+/=-]{40,}"),
    "docker-token": ("dckr_", r"dckr_(?:pat|oat)_[\w-]{27,}"),
    "shopify-token": ("shp", r"shp(?:at|ca|pa|ss)_[0-9a-f]{32}"),
    "new-relic-key": ("nrak-", r"NRAK-[A-Z0-9]{27}"),
    "doppler-token": ("dp.", r"dp\.(?:pt|st|ct|sa)\.[A-Za-z0-9._-]{40,}"),
    "vault-token": ("hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{24,}"),
    "aws-access-key": ("akia asia abia acca a3t", r"(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16}"),
    "json-web-token": ("eyj", r"eyJ[\w-]{8,800}\.eyJ[\w-]{8,}\.[\w-]{8,}"),
    # A macaroon for a registry of Python packages: its first bytes are always the same.
    "pypi-token": ("pypi-", r"pypi-Ag[\w-]{84,}"),
    "sendgrid-api-key": ("sg.", r"SG\.[\w-]{22}\.[\w-]{43}"),
    "square-oauth-secret": ("sq0csp-", r"sq0csp-[\w-]{43}"),
    "mailchimp-access-key": ("-us", r"[0-9a-f]{32}-us\d{1,2}"),
    # 64 bytes in base64, inside a connection string.
    "azure-storage-account-access-key": ("accountkey=", r"(?<=AccountKey=)[A-Za-z0-9+/]{86}=="),
    "slack-webhook": ("hooks.slack.com", r"(?<=hooks\.slack\.com/services/)T\w+/B\w+/\w+"),
}
# kind -> (the needs, the token): those with no prefix that would tell where to look. Standing inside a longer
# word is not held against them, for asking at every letter what stands before it would cost the most of all.
_UNMARKED = {
    "twilio-api-key": ("ac sk", r"(?:AC|SK)[0-9a-f]{32}(?![0-9A-Za-z])"),
    "discord-bot-token": ("", r"[MNO][A-Za-z0-9_-]{23,25}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27}"),
    "telegram-bot-token": ("", r"[0-9]{8,10}:[A-Za-z0-9_-]{35}"),
}
# A key's lines may be real ones, or spelt \n inside a string. One that ends nowhere goes on as long as lines
# of a key do, numbered or not. No group is possessive: Python up to 3.11.4 matches too little of such a one.
# A text can be read in one way only, so that little is tried twice, and the most that is read is bounded.
_BREAK = r"(?:\\[nr]|\\(?![nr])|[\s\"'`+|>,;:→]|\d{1,6}(?=[→:|\t]))"
_PRIVATE_KEY = (
    r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:"
    r"[^-]*+(?:-(?!----)[^-]*+){0,100000}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rf"|(?:{_BREAK}*(?:[A-Za-z0-9+/]{{16,}}+=*+|[A-Z][A-Za-z-]{{2,20}}+: [^\n\\]{{1,80}}+))+"
    rf"(?:{_BREAK}{{1,12}}[A-Za-z0-9+/]++=*+)?)"
)
_PUTTY_KEY = (
    r"PuTTY-User-Key-File-\d:[^P]*+(?:P(?!uTTY-User-Key|rivate-MAC:)[^P]*+){0,100000}(?:Private-MAC: ?\w+)?"
)

_NAMES = (
    r"(?:pass(?:word|wd|phrase)|pwd|secret(?:[_-]?(?:access[_-]?)?key)?|(?:api|access|auth|private|client|"
    r"account|service|signing|encryption|master|session|webhook)[_-]?(?:key|token|secret|password)|apikey|token|"
    r"credentials?)"
)
_NAME_NEEDS = ("pass", "pwd", "secret", "key", "token", "credential")
_QUOTE = r"(?:\\{0,3}[\"'`])?"
_SHOUTED = (
    r"(?<![A-Za-z0-9_])[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PWD|CREDENTIALS?)="
)
_SHOUTED_NEEDS = ("key=", "token=", "secret=", "password=", "passwd=", "passphrase=", "pwd=", "credential")
# (kind, needs, name, value): keys that nothing but their length and their letters tell from other words, so
# that they are known only by a name of the service before them. All in lower case.
_KEY_NAME = r"(?:api)?[_-]?(?:key|password|pass|pwd|pw|token)"
_NAMED = (
    (
        "cloudant-credentials",
        (
            "cloudant cl_ cl- clapi clkey clpw clpass cltoken "
            "clou_ clou- clouapi cloukey cloupw cloupass cloutoken"
        ),
        rf"cl(?:ou(?:dant)?)?[_-]?{_KEY_NAME}",
        r"[0-9a-f]{64}(?![0-9a-z])",
    ),
    (
        "softlayer-credentials",
        "softlayer sl_ sl- slapi slkey slpw slpass sltoken",
        rf"(?:softlayer|sl)[_-]?{_KEY_NAME}",
        r"[0-9a-z]{64}(?![0-9a-z])",
    ),
    (
        "ibm-cos-hmac-credentials",
        "secret",
        r"(?:ibm)?[_-]?(?:cos)?[_-]?(?:hmac)?[_-]?secret[_-]?(?:access)?[_-]?key",
        r"[0-9a-f]{48}(?![0-9a-z])",
    ),
    (
        "ibm-cloud-iam-key",
        "key pwd pw pass token",
        rf"(?:ibm)?[_-]?(?:cloud)?[_-]?(?:iam)?[_-]?{_KEY_NAME}",
        r"[0-9a-z_-]{44}(?![0-9a-z_-])",
    ),
)


def _pattern(
    kind: str,
    pattern: str,
    judge: str,
    *needs: str,
    grade: Grade = "secret",
    lower: bool = False,
    long: bool = False,
) -> Pattern:
    return Pattern(kind, re.compile(pattern), judge, grade, needs, lower, long)


_LONG = ("mailchimp-access-key", "twilio-api-key", "telegram-bot-token")


PATTERNS = (
    _pattern("private-key", _PRIVATE_KEY, "plain", "-----begin "),
    _pattern("private-key", _PUTTY_KEY, "plain", "putty-user-key"),
    *(
        _pattern(kind, rf"{_EDGE}(?:{token})", "plain", *needs.split(), long=kind in _LONG)
        for kind, (needs, token) in _TOKENS.items()
    ),
    *(
        _pattern(kind, token, "plain", *needs.split(), long=kind in _LONG)
        for kind, (needs, token) in _UNMARKED.items()
    ),
    *(
        _pattern(
            kind,
            rf"(?<!\w)\[?{_QUOTE}{name}{_QUOTE}\]?"
            rf"(?:[ \t]{{0,80}}(?:=>|:=|::|[=:])[ \t]{{0,80}}|[ \t]{{1,80}}){_QUOTE}({value})",
            "value",
            *needs.split(),
            lower=True,
            long=True,
        )
        for kind, needs, name, value in _NAMED
    ),
    _pattern(
        "softlayer-credentials",
        r"api\.softlayer\.com/soap/v3(?:\.1)?/([0-9a-z]{64})",
        "value",
        "api.softlayer.com",
        lower=True,
    ),
    _pattern("openai-key", rf"{_EDGE}sk-[\w-]{{20,250}}T3BlbkFJ[\w-]{{20,}}", "plain", "t3blbkfj"),
    _pattern("npm-token", r":_authToken\s*=\s*[\"']?([^\s\"'$\\]{8,})", "setting", "_authtoken"),
    _pattern(
        "authorization",
        rf"authorization{_QUOTE}\s*[:=]\s*{_QUOTE}(?:bearer|basic|token|apikey)\s+([\w.+/=~-]{{12,}})",
        "value",
        "authorization",
        lower=True,
    ),
    _pattern("authorization", r"(?<!\w)bearer(?:\s+|%20)([\w.+/=~-]{20,})", "value", "bearer", lower=True),
    _pattern(
        "header",
        rf"(?:x-api-key|api-key|x-auth-token){_QUOTE}\s*:\s*{_QUOTE}([\w.+/=~-]{{12,}})",
        "plain",
        *("api-key", "x-auth-token"),
        lower=True,
    ),
    _pattern("cookie", rf"cookie{_QUOTE}\s*:\s*{_QUOTE}([^\n\"'`\\]{{16,}})", "value", "cookie", lower=True),
    # NAME=value as the shell and .env files write it.
    _pattern("environment-value", rf"{_SHOUTED}([^\s\"'`\\<>(){{}},;|&]{{6,}})", "setting", *_SHOUTED_NEEDS),
    _pattern(
        "environment-value", rf"{_SHOUTED}\\?[\"']([^\"'`\\\n]{{6,}})\\?[\"']", "setting", *_SHOUTED_NEEDS
    ),
    _pattern(
        "assigned-value",
        rf"{_NAMES}[\w-]{{0,20}}{_QUOTE}\s*(?:=>|:=|[:=])\s*\\{{0,3}}[\"'`]([^\s\"'`\\]{{8,}})\\{{0,3}}[\"'`]",
        "quoted",
        *_NAME_NEEDS,
        lower=True,
    ),
    # As YAML, addresses and connection strings write it.
    _pattern(
        "assigned-value",
        rf"{_NAMES}(?:[_-]\w{{1,16}})?{_QUOTE}\s*(?:[:=]|%3d)\s*"
        r"([^\s\"'`\\,;&(){}\[\]<>|$#]{8,})(?=[\s\"'`\\,;&}\]<#]|$)",
        "bare",
        *_NAME_NEEDS,
        lower=True,
    ),
    _pattern(
        "assigned-value",
        rf"(?<!\w)--?{_NAMES}(?:[_-]\w{{1,16}})?(?:\s{{1,8}}{_QUOTE}|\\{{0,3}}[\"']\s{{0,8}},\s{{0,8}}\\{{0,3}}[\"'])"
        r"([^\s\"'`\\,;]{8,})",
        "value",
        *_NAME_NEEDS,
        lower=True,
    ),
    _pattern(
        "assigned-value",
        r"(?:password|passphrase|passwd|pwd)\s+(?:is|was)\s*:?\s*[\"'`]?([^\s\"'`,;]{8,})",
        "value",
        *("passw", "passp", "pwd"),
        lower=True,
    ),
    _pattern("login", r"(?i:login)\s+[^\s]{1,80}\s+(?i:password)\s+([^\s]{6,})", "login", "login"),
    _pattern("login", r"(?:\s-u|--user)[\s=]\s*[\"']?[\w.@+-]{1,80}:([^\s\"'`\\:]{8,})", "value", "-u"),
    _pattern(
        "aws-secret-key",
        r"(?i:aws_?(?:secret)?_?(?:access)?_?key)\w{0,30}[\"']?\s*[:=]\s*[\"']?"
        r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
        "value",
        "aws",
    ),
    _pattern("signed-address", r"[?&]sig=([\w%+/=-]{30,})", "value", "sig="),
    _pattern(
        "url-password",
        r"[a-z][a-z0-9+.-]{1,20}://[^\s:/?#@\"'<>]*:([^\s:/?#@\"'<>]{3,})@",
        "login",
        "://",
    ),
    _pattern(
        "email",
        r"(?:(?<![\w.+\\-])|(?<=\\[nrt]))[A-Za-z0-9][\w.+-]*@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}(?![\w-])",
        "email",
        "@",
        grade="personal",
    ),
    _pattern(
        "user",
        r"(?:(?:(?<![\w.])|(?<=\\[nrt])|/mnt|/mnt/[a-z]|/Data|/export)(?:\\?/(?:home|Users)\\?/)"
        r"|%2[Ff](?:home|Users)%2[Ff]|[A-Za-z]:(?:\\{1,4}|/)Users(?:\\{1,4}|/))([A-Za-z0-9][\w.-]*)",
        "user",
        *("home", "users"),
        grade="personal",
    ),
    # A home directory as folder names of some harnesses spell it, and as its last part in a path.
    _pattern(
        "user",
        r"(?<![\w-])-(?:home|Users)-([A-Za-z0-9][A-Za-z0-9_]*)(?=-)",
        "user",
        *("-home-", "-users-"),
        grade="personal",
    ),
)


_PLACEHOLDER = re.compile(
    r"(?i)x{4,}|\*{3,}|\.{3}|…|example|placeholder|changeme|change-me|your[_-]|redacted|dummy|fake|sample|"
    r"^<.*>$|<[\w -]+>|^\$|\$[{(]|\{\{|%\(|^(?:none|null|true|false|undefined)$|^process\.env|^os\.|"
    r"test[_-]?(?:key|token|secret|pass)"
)
_WORDS = re.compile(r"[A-Za-z]+(?:[_.:/-][A-Za-z]+)*\d{0,2}|[\w.-]+\(.*")
_NOBODY = re.compile(
    r"(?i)git|no-?reply|do-?not-?reply|info|support|hello|contact|admin|root|postmaster|actions|users?|me|you|"
    r"security|help|sales|team|e?mail|test"
)
_NOWHERE = re.compile(
    r"(?i)(?:^|\.)(?:example\.(?:com|org|net)|example|test|invalid|local|localhost|internal|noreply\.\S+)$"
)
_SUFFIXES = re.compile(r"(?i)png|jpe?g|gif|svg|webp|py|[jt]sx?|go|rs|md|json|ya?ml|txt|html|css|sh|toml|lock")
_ANYONE = re.compile(
    r"(?i)root|users?|username|name|me|you|your(?:name)?|example|someone|alice|bob|john(?:doe)?|jane|shared|public|"
    r"runner|ubuntu|debian|node|app|admin|guest|default|circleci|vscode|codespace|jovyan|coder|agent|dev(?:eloper)?|"
    r"work(?:space)?|projects?|test|home|local|lib|bin"
)
_WEAK = re.compile(r"(?i)pass(?:word|wd)?|secret|postgres|root|admin|user|guest|test|token|changeme")
_ELSEWHERE = re.compile(r"[/~.@]|[A-Za-z]:\\|\w+://|[\w-]+/[\w./-]+$")


def is_telling(value: str) -> bool:
    """Whether a value is so much its own that it can be looked for everywhere."""
    return len(value) >= 8 and any(c.isdigit() or not c.isalnum() for c in value) and _entropy(value) >= 2.5


def _is_value(value: str) -> bool:
    """Whether what is assigned to a telling name is a secret rather than a word or a placeholder."""
    return any(c.isdigit() for c in value) and _is_no_word(value)


def _is_quoted(value: str) -> bool:
    """The same where quotes tell that it is no code: marks will do in place of digits."""
    return any(c.isdigit() or c in "!#%^&*+=~?" for c in value) and _is_no_word(value)


def _is_no_word(value: str) -> bool:
    return (
        any(c.isalpha() for c in value)
        and not _PLACEHOLDER.search(value)
        and not _WORDS.fullmatch(value)
        and _entropy(value) >= 2.8
    )


def _is_bare(value: str) -> bool:
    """The same without quotes, where code and paths stand too."""
    return _is_value(value) and not _ELSEWHERE.match(value)


def _is_setting(value: str) -> bool:
    return (
        not _PLACEHOLDER.search(value)
        and not _WEAK.fullmatch(value)
        and not value.startswith(("/", "./", "~"))
    )


def _is_login(value: str) -> bool:
    return not _WEAK.fullmatch(value) and not _PLACEHOLDER.search(value)


def _is_email(value: str) -> bool:
    who, _, where = value.rpartition("@")
    return (
        not _NOBODY.fullmatch(who)
        and not _NOWHERE.search(where)
        and not _SUFFIXES.fullmatch(where.rpartition(".")[2])
    )


def _is_user(value: str) -> bool:
    return not _ANYONE.fullmatch(value) and not value.startswith((".", "redacted"))


def _entropy(value: str) -> float:
    """Bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


JUDGES: dict[str, Callable[[str], bool]] = {
    "plain": lambda value: True,
    "value": _is_value,
    "quoted": _is_quoted,
    "bare": _is_bare,
    "setting": _is_setting,
    "login": _is_login,
    "email": _is_email,
    "user": _is_user,
}
