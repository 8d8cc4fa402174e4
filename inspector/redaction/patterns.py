"""Patterns of secrets: the tokens of known services, and values that are secret by their context.

`tokens.py` lists the tokens; `values.py` distinguishes a secret from a word, a path, a placeholder.

Every pattern takes time linear in the text: its parts match in one way only, and repetitions that may begin
anywhere are bounded. `needs` allows most patterns to be skipped for most texts.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

from .contexts import BLANK as _BLANK
from .contexts import CASED, CONTEXTS
from .contexts import QUOTE as _QUOTE
from .tokens import PREFIXED, TOKENS, UNMARKED
from .values import is_telling as is_telling

Grade = Literal["secret", "personal"]


class Pattern(NamedTuple):
    """Pattern of a kind of secret. The secret is group 1, or the whole match if there is no group.

    Attributes:
        kind: The name of the kind.
        source: The pattern's source; `regex` compiles it when it is first needed.
        judge: The check of `values.py` that a match must pass.
        grade: Secret, or only personal.
        needs: Lower-case texts. The pattern is skipped if the text has none of them; without `needs` it is
            always tried.
        lower: Whether the pattern is applied to the lower-case text.
        long: If not 0, the length of a run of `LONG_RUN` that the lower-case text must contain.
        word: Whether `needs` are searched only in words of at least LEAST_WORD characters.
    """

    kind: str
    source: str
    judge: str = "plain"
    grade: Grade = "secret"
    needs: tuple[str, ...] = ()
    lower: bool = False
    long: int = 0
    word: bool = False

    @property
    def regex(self) -> re.Pattern[str]:
        """The compiled pattern. Most texts need few of them, and compiling all takes a tenth of a second."""
        return _compile(self.source)


@cache
def _compile(source: str) -> re.Pattern[str]:
    return re.compile(source)


LONG_RUN = re.compile(r"[0-9a-z_-]{32,}")
"""Most texts contain no such run, and searching it is ten times as fast as a pattern without a prefix."""
LEAST_WORD = 14
"""The length of the shortest token with its prefix. Tokens contain no white space."""


def _begin(prefix: str) -> str:
    """Build a regular expression for a prefix at the start of a word, or after an escape, %3D or a colour.

    The text before the prefix is checked after it, so that the search begins with a literal.
    """
    p = re.escape(prefix)
    return (
        rf"{p}(?:(?<![A-Za-z0-9_]{p})|(?<=\\[abefnrtv]{p})|(?<=%[0-9A-Fa-f][0-9A-Fa-f]{p})"
        rf"|(?<=\\[ux][0-9A-Fa-f]{{2}}{p})|(?<=\\u[0-9A-Fa-f]{{4}}{p})|(?<=[\[;0-9][0-9]m{p}))"
    )


def _token(beginnings: dict[str, str]) -> str:
    """Build the regular expression for tokens of `TOKENS`."""
    return "|".join(
        f"(?:{'|'.join(map(_begin, prefixes.split()))}){rest}" for prefixes, rest in beginnings.items()
    )


# A key's lines may be real ones, or written as \n inside a string. A key without an end continues as long as
# its lines look like a key's, numbered or not. No group is possessive: Python up to 3.11.4 matches too little
# of one. A text can be read in one way only, which limits backtracking, and the length of a match is bounded.
_BREAK = r"(?:\\[nr]|\\(?![nr])|[\s\"'`+|>,;:→#*-]|\d{1,6}(?=[→:|\t]))"
_PRIVATE_KEY = (
    r"-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:"
    r"[^-]*+(?:-(?!----)[^-]*+){0,100000}--?----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
    rf"|(?:{_BREAK}*(?:[A-Za-z0-9+/]{{16,}}+=*+|[A-Z][A-Za-z-]{{2,20}}+: [^\n\\]{{1,80}}+))+"
    rf"(?:{_BREAK}{{1,12}}[A-Za-z0-9+/]++=*+)?)"
)
_SSH2_KEY = (
    r"---- BEGIN SSH2 [A-Z0-9 ]{0,40}PRIVATE KEY ----[^-]*+(?:-(?!---)[^-]*+){0,100000}"
    r"(?:---- END SSH2 [A-Z0-9 ]{0,40}PRIVATE KEY ----)?"
)
_PUTTY_KEY = (
    r"PuTTY-User-Key-File-\d:[^P]*+(?:P(?!uTTY-User-Key|rivate-MAC:)[^P]*+){0,100000}(?:Private-MAC: ?\w+)?"
)

# The end of a key whose beginning is elsewhere. It begins at the start of a line: little is tried twice.
_KEY_END = (
    rf"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{{16,100}}={{0,2}}{_BREAK}{{1,12}}){{1,100}}"
    rf"(?:[A-Za-z0-9+/]{{1,80}}={{0,2}}{_BREAK}{{1,12}})?-----END (?:[A-Z0-9]+ ){{0,3}}PRIVATE KEY"
)

# Names of secrets by their last word, each with the text it begins with: so the search looks for that text.
_KEYS_OF = (
    *("api", "access", "secret", "auth", "private", "client", "account", "service", "signing", "encryption"),
    *("master", "license", "preshared", "shared", "deploy", "bot", "admin", "consumer", "app", "application"),
)
_NAMES = {
    "pass": (
        "pass(?:word|wort|wd|phrase|code|"
        "(?:(?<=[_-]pass)|(?<=dbpass)|(?<=smtppass)|(?<=ftppass)|(?<=rootpass))(?![a-z]))"
    ),
    "pwd": "pwd",
    "psk": r"psk(?:(?<![a-z]psk)|(?<=\\npsk))",
    "secret": "secret(?:[_-]?(?:access[_-]?)?key)?",
    "token": "token",
    "credential": "credentials?",
    "key": f"key(?:{'|'.join(rf'(?<={word}key)|(?<={word}[_-]key)' for word in _KEYS_OF)})",
}
# "secret_name: x" is the name of a secret, "token_url: x" its address.
_NOT_ABOUT = (
    r"(?!s?[_-]?(?:name|type|url|uri|arn|path|file|dir|expir|ttl|len|size|count|limit|version|label|title|hint|"
    r"policy|field|column|param|header|prefix|class|regex|pattern|min|max|age|date|endpoint|format|kind|status|"
    r"state|mode|method|alg|usage|scheme|iz|required|enabled|rotation|manager|provider|store|ref|budget|source|"
    r"placeholder|error|valid|reset|index|reader|input|fixture))"
)
_SHOUTED = (
    r"(?<![A-Za-z0-9_])(?:[A-Z][A-Z0-9_]*)?(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?|"
    r"(?:API|ACCESS|SECRET|PRIVATE|AUTH|ENCRYPTION|SIGNING|MASTER|LICENSE|APP|APPLICATION|ACCOUNT|SERVICE|SHARED|"
    r"CLIENT|ADMIN)_?KEY)="
)
_SHOUTED_NEEDS = (
    *("key=", "token=", "secret=", "password=", "passwd=", "passphrase=", "pass=", "pwd=", "credential"),
)
# After one of these words, "key" is the key of a table, a cache or a keyboard.
_OTHER_KEYS = (
    "primary foreign public cache sort partition row range hash group unique idempotency surrogate "
    "routing message event object query session index map lookup dict dedup dedupe storage state config "
    "react s3 translation i18n correlation trace request response build restore accept hot short mon "
    "tur"
)
_HINTS = {
    "key": "key" + "".join(rf"(?<!{word}key)(?<!{word}[_ .-]key)" for word in _OTHER_KEYS.split()),
    **{name: f"{name}(?<![a-z]{name})" for name in ("auth", "jwt", "sid", "csrf", "xsrf", "hmac")},
}

_PASS = r"(?:(?<![a-z])|(?<=cl|sl)|(?<=iam)|(?<=cloudant)|(?<=softlayer))pass"
"""No "bypass" or "compass"."""


def _pattern(
    kind: str, pattern: str, judge: str, *needs: str, lower: bool = False, long: int = 0, word: bool = False
) -> Pattern:
    return Pattern(kind, pattern, judge, "secret", needs, lower, long, word)


def _personal(kind: str, pattern: str, *needs: str) -> Pattern:
    return Pattern(kind, pattern, kind, "personal", needs)


def _needs(beginnings: dict[str, str]) -> list[str]:
    """List texts of which every token contains one: the prefixes, or their common beginning."""
    prefixes = sorted(" ".join(beginnings).lower().split())
    shared = len([None for a, b in zip(prefixes[0], prefixes[-1], strict=False) if a == b]) if prefixes else 0
    common = prefixes[0][:shared]
    return [common] if shared >= 3 and all(prefix.startswith(common) for prefix in prefixes) else prefixes


_LONG = {"mailchimp-access-key": 32, "twilio-api-key": 32, "telegram-bot-token": 35}
# (`needs`, command, option): commands with a one-letter option for a password.
_COMMANDS = (
    (" -p", r"(?:mysql|mariadb|7z)(?<![\w./-]7z)[\w-]{0,12}", " -p"),
    (" -p", r"(?:sshpass|mongo(?:sh|dump|restore|export|import)?)(?![\w-])", " -p {0,4}"),
    (
        " -p",
        r"(?:docker|podman|helm(?: registry)?|oc|az|nerdctl|buildah|skopeo|cf|twine) {1,4}(?:login|upload)",
        " -p {1,4}",
    ),
    (" -a", r"redis-cli", " -a {1,4}"),
    (" -p", r"(?:zip|mosquitto_(?:pub|sub))(?![\w-])", " -P {1,4}"),
    (" -w", r"(?:ldap[a-z]{1,12})", " -w {1,4}"),
    ("htpasswd", r"htpasswd {1,4}-\w{0,6}b\w{0,6} {1,4}\S{1,80} {1,4}\S{1,80}", " {1,4}"),
)
# A value without quotes and one within.
_BARE = r"(?!#)([^\s\"'`\\,;&(){}\[\]<>|]{8,})(?=[\s\"'`\\,;&}\]<#]|$)"
# A value in the lines after its name, as YAML, shells and other languages write one.
_BLOCK = (
    rf"(?:(?:[|>][+-]?|<<[~-]?\w{{1,12}}|(?:\\{{0,7}}\"){{3}}|'{{3}}){_BLANK}{{1,40}}"
    r"|&\w{1,40} {1,4}|!!str {1,4})?"
)
# What is between a name in code and its value in quotes: a sign, or a type and a sign.
_EQUALS = (
    r"(?:[\])]{0,2}\s*(?:=>|:=|\|\||\?\?|:\s{0,4}[&\w.<>\[\]?]{1,30}\s{0,4}=|[!=]==?|[:=]))\s*"
    r"(?:\[{1,2}\s{0,8}|sensitive\(\s{0,8}|\{\s{0,8}\\{0,7}[\"'`]value\\{0,7}[\"'`]\s{0,8}:\s{0,8})?"
)
_ARGUMENT = r"([^\s\"'`\\,;|&<>]{6,})"


PATTERNS = (
    _pattern("private-key", _PRIVATE_KEY, "key", "-----begin "),
    _pattern("private-key", _KEY_END, "key", "private key"),
    _pattern("private-key", _SSH2_KEY, "key", "begin ssh2"),
    _pattern("private-key", _PUTTY_KEY, "key", "putty-user-key"),
    *(
        _pattern(kind, _token(token), "plain", *_needs(token), word=kind != "okta-token")
        for kind, token in TOKENS.items()
    ),
    *(
        _pattern(kind, token, "plain", *needs.split(), long=_LONG.get(kind, 0), word=bool(needs))
        for kind, (needs, token) in UNMARKED.items()
    ),
    _pattern("service-token", PREFIXED, "mixed", long=32),
    # 64 bytes in base64, inside a connection string.
    _pattern(
        "azure-storage-account-access-key", r"(?<=AccountKey=)[A-Za-z0-9+/]{86}==", "plain", "accountkey="
    ),
    _pattern(
        "slack-webhook",
        r"(?<=hooks\.slack\.com/)(?:services|triggers|workflows)/\w+/\w+/\w+",
        "plain",
        "hooks.slack.com",
    ),
    _pattern(
        "webhook",
        r"://[^\s\"'`<>\\]{0,80}hooks?[^\s\"'`<>\\]{0,80}?/([A-Za-z0-9_-]{20,})(?![\w-])",
        "random",
        "hook",
    ),
    # A value as long as a hash after the name of a key and a sign, or only a blank as in tables.
    _pattern(
        "assigned-value",
        rf"(?:{_HINTS['key']}|password|(?<![a-z])pass(?!\W{{0,84}}test)|(?<=[a-z]){_PASS}|pwd?|token){_QUOTE}\]?"
        rf"(?:[ \t]{{0,80}}(?:=>|:=|::|[=:])[ \t]{{0,80}}|[ \t]{{1,80}})"
        rf"{_QUOTE}([0-9a-z_-]{{40,64}})(?![0-9a-z_-])",
        "random",
        *("key", "pass", "pw", "token"),
        lower=True,
        long=40,
    ),
    _pattern(
        "softlayer-credentials",
        r"api\.softlayer\.com/soap/v3(?:\.1)?/([0-9a-z]{64})",
        "value",
        "api.softlayer.com",
        lower=True,
    ),
    _pattern(
        "npm-token",
        r":_(?:authToken|password|auth)\s*=\s*[\"']?([^\s\"'$\\]{8,})",
        "setting",
        "_auth",
        "_password",
    ),
    _pattern(
        "authorization",
        rf"authorization{_QUOTE}\s*[:=]\s*{_QUOTE}(?:[a-z][\w-]{{1,20}}\s+)?"
        r"([\w.+/=~-]{12,}+)(?!\s+\[)",
        "value",
        "authorization",
        lower=True,
    ),
    _pattern("authorization", r"(?<!\w)bearer(?:\s+|%20)([\w.+/=~-]{20,})", "value", "bearer", lower=True),
    _pattern(
        "cookie", rf"cookie{_QUOTE}\s*[:=]\s*{_QUOTE}([^\n\"'`\\]{{16,}})", "value", "cookie", lower=True
    ),
    # A row of a browser's file of cookies: domain, flag, path, flag, time, name, value.
    _pattern(
        "cookie",
        rf"(?:TRUE|FALSE){_BLANK}+/[^\s\\]{{0,200}}{_BLANK}+(?:TRUE|FALSE){_BLANK}+\d{{1,12}}{_BLANK}+"
        rf"[^\s\\]{{1,80}}{_BLANK}+([^\s\"'`\\]{{8,}})",
        "password",
        *("true", "false"),
    ),
    # NAME=value as the shell and .env files write it.
    _pattern("environment-value", rf"{_SHOUTED}([^\s\"'`\\<>(){{}},;|&]{{6,}})", "setting", *_SHOUTED_NEEDS),
    _pattern(
        "environment-value", rf"{_SHOUTED}\$?\\?[\"']([^\"'`\\\n]{{6,}})\\?[\"']", "setting", *_SHOUTED_NEEDS
    ),
    *(
        _pattern(
            "assigned-value",
            rf"{name}{_NOT_ABOUT}[\w-]{{0,20}}{_QUOTE}{_EQUALS}"
            r"(?:[bru@$]{0,2})\\{0,7}[\"'`](?!>)((?:[^\s\"'`\\]|\\u[0-9a-f]{4}){8,})\\{0,7}[\"'`]",
            "quoted",
            begins,
            lower=True,
        )
        for begins, name in _NAMES.items()
    ),
    # As YAML, addresses and connection strings write it.
    *(
        _pattern(
            "assigned-value",
            rf"{name}{_NOT_ABOUT}(?:[_-]\w{{1,16}})?{_QUOTE}\*{{0,2}}\s*(?:[:=]|%3d)\*{{0,2}}\s*{_BLOCK}(?:&quot;|&#3[49];)?{_BARE}",
            "bare",
            begins,
            lower=True,
        )
        for begins, name in _NAMES.items()
    ),
    # As options of a command, also in a list of arguments.
    _pattern(
        "assigned-value",
        rf"-(?<!\w-)-?(?:[a-z0-9]{{1,16}}[_-]){{0,3}}(?:[a-z]{{0,12}}pass(?:word|wd|phrase)?|pwd|secret|token|credentials?|"
        rf"(?:{'|'.join(_KEYS_OF)})[_-]?key|apikey)(?:[_-]\w{{1,16}})?"
        rf"(?:\s{{1,8}}{_QUOTE}|\\{{0,3}}[\"']\s{{0,8}},\s{{0,8}}\\{{0,3}}[\"'])([^\s\"'`\\,;]{{8,}})",
        "value",
        *_NAMES,
        lower=True,
    ),
    # A name that only hints at a secret, and a value that is random.
    *(
        _pattern(
            "assigned-value",
            rf"{name}(?:[_-][a-z]{{1,12}})?{_QUOTE}\s{{0,8}}(?:=>|:=|[:=]|%3d)\s{{0,8}}{_QUOTE}([\w.+/~=-]{{16,}})"
            r"(?=[\s\"'`\\,;&}\]<#]|$)",
            "random",
            begins,
            lower=True,
        )
        for begins, name in _HINTS.items()
    ),
    # {"name": "DB_PASSWORD", "value": "…"}, as lists of variables, fields and cookies have it.
    _pattern(
        "assigned-value",
        rf"(?:(?:name|key){_QUOTE}\s*[:=]|variable)\s*{_QUOTE}[\w.-]{{0,60}}(?:pass(?:word|wd|phrase)?|secret|token|key|session(?:id)?|"
        rf"sid|credentials?){_QUOTE}(?:{_BLANK}|[,{{-])+(?:[\w-]{{1,20}}{_QUOTE}\s*:\s*{_QUOTE}[\w./-]{{1,60}}{_QUOTE}"
        rf"(?:{_BLANK}|,)+)?{_QUOTE}(?:value|default){_QUOTE}\s*[:=]\s*{_QUOTE}([^\s\"'`\\,;&(){{}}\[\]<>|]{{8,}})",
        "quoted",
        *("value", "default"),
        lower=True,
    ),
    _pattern(
        "assigned-value",
        r"<(?:[\w:.-]{0,40}|[^<>]{0,80}name=[\"'][\w:.-]{0,60})"
        r"(?:password|passwd|passphrase|secret|token|api[_-]?key|private[_-]?key|credential)(?:[\"']|\s[^<>]{0,80})?>"
        r"(?:\s{0,40}<\w{1,20}>)?([^<>\s\"'`\\]{6,})</",
        "quoted",
        "</",
        lower=True,
    ),
    _pattern(
        "assigned-value",
        r"(?:password|passphrase|passwd|pwd)\s+(?:is|was)\s*:?\s*[\"'`]?([^\s\"'`,;]{8,})",
        "value",
        *("passw", "passp", "pwd"),
        lower=True,
    ),
    _pattern(
        "login",
        rf"(?:login|machine){_BLANK}+[^\s\\]{{1,80}}{_BLANK}+(?:account{_BLANK}+[^\s\\]{{1,80}}{_BLANK}+)?password"
        rf"{_BLANK}+([^\s\"'`\\]{{6,}})",
        "login",
        *("login", "machine"),
        lower=True,
    ),
    _pattern(
        "login", r"(?:\s-u|--user)[\s=]\s*[\"']?[\w.@+-]{1,80}:([^\s\"'`\\:]{8,})", "mixed-password", "-u"
    ),
    # host:port:database:user:password
    _pattern(
        "login",
        r":(?<=[\w*]:)(?:\d{4,5}|\*):(?:[A-Za-z_][\w-]{0,60}|\*):"
        r"[A-Za-z_][\w.@-]{0,60}:([^\s:\"'`\\,;/]{6,})",
        "mixed-password",
    ),
    # The password that a command takes by an option of one letter.
    *(
        _pattern("login", rf"{command}(?: [^\n|;&]{{0,200}}?)?{option}[\"']?{_ARGUMENT}", "password", need)
        for need, command, option in _COMMANDS
    ),
    _pattern("login", r"(?<!\w)pass(?:in|out)?[ =:]pass:([^\s\"'`\\,;]{6,})", "password", "pass:"),
    # {"auth": base64 of "user:password"}, as container tools keep logins.
    _pattern(
        "login",
        rf"(?<![A-Za-z0-9])_?auth{_QUOTE}\s{{0,8}}[:=]\s{{0,8}}{_QUOTE}([A-Za-z0-9+/]{{10,}}={{0,2}})(?![\w+/])",
        "coded-login",
        "auth",
    ),
    # Password hashes, as in user files and databases.
    _pattern(
        "password-hash",
        r"\$(?:apr1|[1567y]|gy|2[abxy]?|md5|sha1|scrypt|argon2(?:id|i|d)|(?:pbkdf2|bcrypt)[\w-]{0,12})\$"
        r"(?:[\w./=,+-]{1,120}\$){0,4}[\w./+=-]{20,120}|pbkdf2_sha\d{1,3}\$\d{1,9}\$[\w./+]{1,80}\$[\w./+=]{20,120}"
        r"|\{(?:SSHA|SHA|SMD5|MD5|CRYPT|PBKDF2)[\w-]{0,10}\}[\w+/=$.]{16,200}",
        "plain",
        "$",
        "}",
    ),
    _pattern(
        "aws-secret-key",
        r"(?i:aws_?(?:secret)?_?(?:access)?_?key)\w{0,30}[\"']?\s*[:=]\s*[\"']?"
        r"([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
        "value",
        "aws",
    ),
    _pattern(
        "signed-address",
        r"(?:[?&;,\s]|%26|u0026)(?:[a-z-]{0,20}signature|sig|hmac|hdnea|policy|x-amz-security-token)=([\w%+/=.~-]{20,})",
        "value",
        *("signature=", "sig=", "hmac=", "hdnea=", "policy=", "security-token="),
        lower=True,
    ),
    _pattern(
        "url-password",
        r"[a-z][a-z0-9+.-]{1,20}://[^\s:/?#@\"'<>]*:([^\s:/?#\"'<>]{3,})@",
        "login",
        "://",
    ),
    _pattern("url-password", r"[a-z][a-z0-9+.-]{1,20}://([^\s:/?#@\"'<>\\]{16,200})@", "random", "://"),
    *(_pattern(kind, regex, judge, *needs, lower=True) for kind, judge, regex, needs in CONTEXTS),
    *(_pattern(kind, regex, judge, *needs) for kind, judge, regex, needs in CASED),
    _personal(
        "email",
        r"(?:(?<![\w.+\\-])|(?<=\\[nrt]))[A-Za-z0-9][\w.+-]*@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}(?![\w-])",
        "@",
    ),
    _personal(
        "user",
        r"/(?:home|Users)(?:(?<![\w.]/home)(?<![\w.]/Users)|(?<=\\[nrt]/home)|(?<=\\[nrt]/Users)|(?<=/mnt/home)|"
        r"(?<=/mnt/Users)|(?<=/mnt/[a-z]/home)|(?<=/mnt/[a-z]/Users)|(?<=/Data/home)|(?<=/Data/Users)|"
        r"(?<=/export/home)|(?<=/export/Users))\\?/([A-Za-z0-9][\w.-]*)",
        *("/home", "/users"),
    ),
    _personal("user", r"%2[Ff](?:home|Users)%2[Ff]([A-Za-z0-9][\w.-]*)", *("%2fhome", "%2fusers")),
    _personal(
        "user",
        r"Users(?:(?<=[A-Za-z]:/Users)|(?<=[A-Za-z]:\\Users)|(?<=[A-Za-z]:\\\\Users)|(?<=[A-Za-z]:\\\\\\Users)|"
        r"(?<=[A-Za-z]:\\\\\\\\Users))(?:\\{1,4}|/)([A-Za-z0-9][\w.-]*)",
        "users",
    ),
    # A home directory as folder names of some harnesses spell it, and as its last part in a path.
    _personal(
        "user",
        r"(?<![\w-])-(?:home|Users)-([A-Za-z0-9][A-Za-z0-9_]*)(?=-)",
        *("-home-", "-users-"),
    ),
)
