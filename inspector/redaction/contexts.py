r"""Places that hold a secret in the syntax of a program, a file format or a sentence.

Each is matched with the lower-case text, unless it needs capital letters. The secret is group 1.
"""

from __future__ import annotations

QUOTE = r"(?:\\{0,7}[\"'`]|&quot;|&#3[49];)?"
BLANK = r"(?:\s|\\[nrt])"
"""White space between words, also spelt out in a string."""
_OPEN = r"\\{0,7}[\"'`]"
_WORD = r"[^\s\"'`\\,;|&<>]{6,})"
_SHORT = r"[^\s\"'`\\,;&(){}<>|]{6,}"
_BASE64 = r"[a-z0-9+/_-]"
_SECRET = r"(?:password|passwd|passphrase|secret|token|api[ _-]?key|private[ _-]?key|access[ _-]?key)"
# The same in some other languages.
_PASSWORD = (
    r"(?:password|passphrase|passwd|passcode|pwd|passwort|contrase\u00f1a|mot de passe|senha|wachtwoord)"
)
_IS = r"(?:is|was|ist|lautet|es|est|to|:)"

CONTEXTS: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    # (kind, judge, pattern of the lower-case text, what the text needs)
    #
    # Sentences: "the passphrase for the key is …", "credentials: ann / …", "use the token … to".
    (
        "assigned-value",
        "sentence",
        (
            rf"{_PASSWORD}(?: [a-z]{{1,15}}){{0,5}}\s{{1,8}}"
            rf"{_IS}\s{{0,8}}:?\s{{0,8}}[*]{{0,2}}{QUOTE}([^\s\"'`,;\\]{{8,}})"
        ),
        ("passw", "passp", "passc", "pwd", "contrase", "mot de passe", "senha", "wachtwoord"),
    ),
    (
        "assigned-value",
        "mixed-word",
        (
            rf"{_SECRET}(?:{BLANK}{{1,8}}(?:(?:"
            rf"{_IS}){BLANK}{{1,8}})?|{BLANK}{{0,8}}\()[\"'`*]{{0,3}}"
            rf"([^\s\"'`,;:()\[\]{{}}<>=\\]{{8,}})"
        ),
        ("passw", "passp", "secret", "token", "key"),
    ),
    (
        "login",
        "mixed-word",
        (
            r"(?:credentials?|logins?|log in "
            r"(?:as|with))[:=]? {1,4}[\w.@+-]{1,60} {0,4}[/:|] {0,4}[\"'`]?([^\s\"'`,;\\]{8,})"
        ),
        ("credential", "login", "log in"),
    ),
    (
        "seed-phrase",
        "login",
        (
            rf"(?:mnemonic|seed|phrase){QUOTE}\s{{0,8}}[:=]?\s{{0,8}}"
            rf"{QUOTE}((?:[a-z]{{3,8}} ){{11,23}}[a-z]{{3,8}})(?![a-z])"
        ),
        ("mnemonic", "seed", "phrase"),
    ),
    (
        "assigned-value",
        "mixed-word",
        (
            rf"{_SECRET}(?: [a-z]{{1,15}}){{1,4}}\s{{0,2}}{_IS}\s{{1,4}}[*]{{0,2}}{QUOTE}"
            rf"([^\s\"'`,;:()\[\]{{}}<>=\\]{{8,}})"
        ),
        ("passw", "passp", "secret", "token", "key"),
    ),
    (
        "assigned-value",
        "mixed-word",
        (
            rf"(?:(?<![\w-])|(?<=\\n))(?:pass|pw)\s{{0,8}}[:=]\s{{0,8}}{QUOTE}"
            rf"([^\s\"'`,;:()\[\]{{}}<>=\\]{{8,}})"
        ),
        ("pass", "pw"),
    ),
    ("login", "password", rf"user {{1,4}}[\w.@-]{{1,60}}{BLANK}{{1,4}}pass {{1,4}}({_WORD}", ("user ",)),
    # Code: a setter, a variable with a default value, a pair of user and password.
    (
        "assigned-value",
        "quoted",
        rf"set_?(?:[a-z]{{1,20}}_?)?{_SECRET}\({BLANK}{{0,8}}{_OPEN}([^\s\"'`\\]{{8,}}){_OPEN}",
        ("password(", "passwd(", "passphrase(", "secret(", "token(", "key("),
    ),
    (
        "login",
        "quoted",
        (
            rf"(?:auth\w{{0,20}}\s{{0,4}}[=:]?\s{{0,4}}[(\[]|"
            rf"(?:networkcredential|basicauth|login|credentials?)\()\s{{0,8}}"
            rf"{_OPEN}[\w.@+-]{{1,60}}{_OPEN}\s{{0,8}},\s{{0,8}}{_OPEN}([^\s\"'`\\]{{8,}}){_OPEN}"
        ),
        ("auth", "credential", "login"),
    ),
    ("login", "quoted", rf"securestring (?:-string )?{_OPEN}([^\"'`\\\n]{{6,}}){_OPEN}", ("securestring",)),
    (
        "assigned-value",
        "mixed-word",
        (
            rf"env(?:ironment|iron)?[^\n\"'`]{{0,20}}{_OPEN}\w{{1,60}}{_OPEN}[)\]]{{0,2}}\s{{0,4}}"
            rf"(?:\|\||\?\?|,|or)\s{{0,4}}"
            rf"{_OPEN}([^\s\"'`\\]{{8,}}){_OPEN}"
        ),
        ("env",),
    ),
    # A row of a Markdown table: name, value.
    (
        "assigned-value",
        "value",
        (
            rf"\|\s{{0,40}}[`*]{{0,2}}[\w.-]{{0,40}}"
            rf"{_SECRET}[`*]{{0,2}}\s{{0,40}}\|\s{{0,40}}[`*]{{0,2}}([^\s|`\\]{{8,}})"
            r"[`*]{0,2}\s{0,40}\|"
        ),
        ("|",),
    ),
    (
        "assigned-value",
        "words",
        r"(?:password|passwd|pwd)=\\{0,7}[\"']([^\"'`\\\n]{8,80})[\"']",
        ("password=", "passwd=", "pwd="),
    ),
    (
        "assigned-value",
        "random",
        (
            rf"(?:jwt\.(?:sign|encode|verify|decode)\([^\n\"'`]{{0,80}},\s{{0,8}}|hmac\.new\(\s{{0,8}}b?"
            rf"|createhmac\({_OPEN}[\w-]{{1,20}}{_OPEN},\s{{0,8}}){_OPEN}([^\s\"'`\\]{{16,}}){_OPEN}"
        ),
        ("jwt.", "hmac"),
    ),
    # Data bases.
    (
        "login",
        "quoted",
        (
            rf"(?:identified (?:with \S{{1,40}} )?(?:by|as)|password|passwd|psk)\s{{1,8}}"
            rf"(?:=\s{{0,8}})?{_OPEN}([^\"'`\\\n]{{6,80}}){_OPEN}"
        ),
        ("identified ", "password", "passwd", "psk"),
    ),
    ("login", "login", r"pwd=\{([^{}\"'`\\\n]{6,80})\}", ("pwd={",)),
    (
        "url-password",
        "login",
        r"[\w.-]{1,60}:([^\s:@\"'`/]{3,80})@(?:tcp|unix|udp)\(",
        ("@tcp(", "@unix(", "@udp("),
    ),
    (
        "url-password",
        "mixed-password",
        (
            r"(?:thin:|sqlplus (?:-\w )?|sqlldr |userid=|expdp |impdp )[\w.-]{1,60}/"
            r"([^\s@\"'`/\\]{4,80})@"
        ),
        ("thin:", "sqlplus", "sqlldr", "userid=", "expdp", "impdp"),
    ),
    (
        "url-password",
        "login",
        r"%3a%2f%2f[\w.~-]{0,60}%3a((?:[\w.~!*-]|%(?!40|2f)[0-9a-f]{2}){3,80})%40",
        ("%3a%2f%2f",),
    ),
    # Settings without a sign between name and value: shells, images, servers.
    (
        "environment-value",
        "value",
        (
            r"(?:setenv|setx|set(?: -[a-z]{1,4}){1,3}|env|arg) {1,4}[a-z0-9_]{0,60}"
            rf"(?:password|passwd|pass|pwd|secret|token|key|credentials?) {{1,4}}{QUOTE}"
            rf"([^\s\"'`\\]{{6,}})"
        ),
        ("setenv", "setx", "set -", "env ", "arg "),
    ),
    (
        "login",
        "password",
        rf"(?:requirepass|masterauth|bindpw|userpassword::?) {{1,4}}({_WORD}",
        ("requirepass", "masterauth", "bindpw", "userpassword"),
    ),
    (
        "login",
        "mixed-password",
        rf"(?<!\w)auth {{1,4}}(?:[\w.-]{{1,40}} {{1,4}})?(?!\[)({_SHORT})(?![^\s\"'`\\])",
        ("auth ",),
    ),
    ("login", "password", r"key content\s{1,40}:\s{1,8}([^\s\"'`\\]{8,63})", ("key content",)),
    # Commands that read a password from a pipe or take it in the place of an option of their own.
    (
        "login",
        "password",
        (
            rf"(?:echo|printf)(?: -\w{{1,4}})? {{1,4}}{QUOTE}(?:[\w.-]{{1,40}}:)?"
            rf"([^\s\"'`\\|:]{{6,}}){QUOTE} {{0,4}}\|[^\n|]{{0,120}}"
            r"(?:stdin|sudo -s|chpasswd|passwd|passphrase-fd|-pass|secret "
            r"(?:put|set|create)|kinit|env add)"
        ),
        ("|",),
    ),
    (
        "assigned-value",
        "value",
        (
            rf"(?:secret (?:set|put|create)[^\n|;&]{{0,120}}? (?:--body|-b|--value)[ =]{{1,4}}"
            rf"|--value[ =](?=[^\n]{{1,200}}securestring)|snmp-server community )[\"']?({_WORD}"
        ),
        ("secret ", "securestring", "snmp-server"),
    ),
    ("login", "random", r"(?:\s-u|--user)[\s=]\s{0,4}[\"']?:?([\w.-]{20,}):?[\"']?(?![\w.:/@-])", ("-u",)),
    ("login", "mixed-password", rf"net user {{1,4}}[\w.\\-]{{1,60}} {{1,4}}({_WORD}", ("net user",)),
    (
        "login",
        "password",
        (
            rf"(?:smbclient|rpcclient|net|mount|smbmap|cifs)"
            rf"[^\n|;&]{{0,200}}? -u {{0,4}}[\"']?[\w.\\/-]{{1,60}}%({_WORD}"
        ),
        (" -u",),
    ),
    (
        "login",
        "mixed-password",
        (
            rf"(?:evil-winrm|crackmapexec|netexec|nxc|smbmap|kinit)(?![\w-])"
            rf"[^\n|;&]{{0,200}}? -p {{1,4}}[\"']?({_WORD}"
        ),
        (" -p",),
    ),
    ("login", "password", rf"(?:x|w|sdl-)?freerdp\d?(?![\w-])[^\n|;&]{{0,200}}? /p:[\"']?({_WORD}", ("/p:",)),
    (
        "login",
        "mixed-password",
        (
            rf"(?<!\w)(?:https?|xh) {{1,4}}"
            rf"(?:-\S{{1,40}} {{1,4}}){{0,4}}-a {{1,4}}[\w.@+-]{{1,80}}:({_WORD}"
        ),
        (" -a",),
    ),
    # Forms and addresses.
    (
        "assigned-value",
        "password",
        rf"name={_OPEN}[\w.-]{{0,40}}{_SECRET}{_OPEN}(?:\r?\n|(?:\\r)?\\n){{2}}([^\s\"'`\\]{{6,}})",
        ("name=",),
    ),
    (
        "assigned-value",
        "quoted",
        rf"{_SECRET}</key>{BLANK}{{0,40}}<string>([^<>\s]{{8,}})</",
        ("</key>",),
    ),
    (
        "assigned-value",
        "quoted",
        (
            rf"<input[^<>]{{0,300}}(?:password|samlre|token|csrf|secret)[^<>]{{0,200}}\svalue="
            rf"{_OPEN}([^\s\"'`\\<>]{{8,}}){_OPEN}"
        ),
        ("<input",),
    ),
    (
        "authorization",
        "value",
        rf"saml(?:response|request|art){QUOTE}\s{{0,8}}[:=]\s{{0,8}}{QUOTE}([\w+/%=-]{{40,}})",
        ("samlre", "samlart"),
    ),
    ("authorization", "value", rf"digest [^\n]{{0,400}}?response={_OPEN}([0-9a-f]{{32,128}})", ("digest ",)),
    ("authorization", "value", r"[?&]code=([\w+/%=.-]{30,})", ("code=",)),
    (
        "cookie",
        "random",
        r"(?:[jp]\w{0,4}sess(?:ion)?id|aspsessionid\w{0,12}|asp\.net_sessionid)\s{0,4}[=:]\s{0,4}([\w%.+/=-]{16,})",
        ("sess",),
    ),
    (
        "assigned-value",
        "random",
        (
            rf"(?<![\w-])x-[\w-]{{0,30}}"
            rf"(?:api|auth|team|secret){QUOTE}\s{{0,8}}[:=]\s{{0,8}}{QUOTE}([\w.+/~=-]{{20,}})"
        ),
        ("x-",),
    ),
    ("webhook", "value", r"incomingwebhook/([0-9a-f]{32})", ("incomingwebhook/",)),
    ("webhook", "login", r"hooks\.zapier\.com/hooks/catch/\d{1,12}/(\w{5,40})", ("hooks.zapier.com",)),
    # Values that are secret in a text of this kind: a JSON Web Key, and the data of a Kubernetes secret.
    (
        "private-key",
        "random",
        (
            rf"{_OPEN}(?:d|p|q|dp|dq|qi|k){_OPEN}\s{{0,8}}:\s{{0,8}}{_OPEN}({_BASE64}{{30,}}={{0,2}})"
            rf"{_OPEN}"
        ),
        ("kty",),
    ),
    (
        "assigned-value",
        "random",
        r"(?:\n|\\n) {1,8}[\w.-]{1,80}: {1,4}([a-z0-9+/]{16,}={0,2})(?![^\s\"'`\\])",
        ("kind: secret",),
    ),
)

CASED: tuple[tuple[str, str, str, tuple[str, ...]], ...] = (
    (
        "private-key",
        "key",
        r"-----BEGIN OpenVPN Static key V1-----[^-]*+(?:-(?!----)[^-]*+){0,10000}",
        ("begin openvpn",),
    ),
    # A secret key next to its id, in a table or a dialogue.
    (
        "aws-secret-key",
        "mixed-word",
        (
            r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Z0-9])[^\n]{0,60}"
            r"(?:\n[^\n]{0,60})?(?<![A-Za-z0-9/+])([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
        ),
        ("akia", "asia"),
    ),
    # The same name in a call with a default value: define('DB_PASSWORD', '…'), getenv("API_KEY", "…").
    (
        "assigned-value",
        "quoted",
        rf"(?:PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|SECRET|TOKEN|KEY|SALT)\\{{0,7}}[\"'`]\s{{0,20}},\s{{0,20}}{_OPEN}([^\s\"'`\\]{{8,}}){_OPEN}",
        ("pass", "pwd", "secret", "token", "key", "salt"),
    ),
    # A quoted value of several lines.
    (
        "environment-value",
        "setting",
        (
            r"(?:PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|KEY)=\\{0,7}[\"'](?:\n|\\n)?"
            r"([^\s\"'`\\]{12,200}(?:(?:\n|\\n)[^\s\"'`\\]{1,200}){1,50})"
            r"(?:\n|\\n)?\\{0,7}[\"']"
        ),
        ("passw", "passp", "secret=", "token=", "key="),
    ),
    (
        "assigned-value",
        "marked",
        (
            r"(?:[pP]ass(?:word|wd|phrase)|PASS(?:WORD|WD|PHRASE)|pwd|Pwd|PWD)=(?!=)"
            r"([^\s\"'`\\,;&(){}\[\]<>|]{8,})"
        ),
        ("pass", "pwd="),
    ),
)
