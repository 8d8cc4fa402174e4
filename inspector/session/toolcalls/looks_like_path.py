"""The syntax of paths: suffixes, well-known names, and shapes that only resemble paths.

A token is a run of path characters, as `pathfinder` cuts it out of a text.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from .canonical_path import DRIVE, names

_SUFFIXES = names("""
py pyi ipynb js jsx ts tsx mjs cjs mts cts json jsonl json5 jsonc md mdx rst txt toml yaml yml ini cfg
conf go rs cc cpp hpp cxx cs java kt kts swift rb php pl sh bash zsh fish ps1 bat sql html htm css scss
sass less vue svelte astro xml svg png jpg jpeg gif webp ico pdf csv tsv parquet proto graphql gql tf
tfvars nix lua exs erl hs clj scala dart jl zig wasm whl plist gradle cmake tmpl j2 mk adoc tex sol
prisma db sqlite traj eval gemspec csproj sln patch""")
# These follow a dot in code too ("console.log", "self.map"), so they count only after a slash …
_AFTER_SLASH = names("""c h r d m mm ex log map env so dll exe zip gz tar tgz bz2 xz lock sum mod bak tmp diff
snap dylib bin o a out golden example local work key pem crt""")
# … and some of them between backquotes.
_TICKED = names("c h log so dll exe zip gz tar tgz lock bak tmp diff snap pem key crt")
_OBJECTS = names("console math logger log np torch mutex thread threading this self window process")
_LOCKED = re.compile(r"(?:^|/)(?:go\.(?:mod|sum|work)|(?:bun|yarn|poetry|uv|Cargo|Gemfile|Pipfile|composer"
                     r"|package|flake|pdm|pixi|deno|mix|Podfile)\.lock)$")  # fmt: skip
_DOTTED = (
    "gitignore|gitattributes|gitmodules|dockerignore|editorconfig|npmrc|nvmrc|env|eslintrc|prettierrc"
    "|eslintignore|prettierignore|babelrc|bashrc|zshrc|profile|gitconfig|envrc|mcp|vimrc"
)
WELL_KNOWN = names("Makefile Dockerfile Gemfile Rakefile Jenkinsfile Procfile Justfile Vagrantfile")
"""Files known by a name without a suffix."""
BARE = re.compile(
    rf"\.(?:(?:{'|'.join(sorted(_SUFFIXES))})(?![\w(/\\]|\.\w)|(?:{'|'.join(sorted(_TICKED))})(?=`)"
    rf"|(?:mod|sum|lock|work)(?![\w(/\\.])|(?:{_DOTTED})(?![\w(/\\]))"
)
"""The valid positions of a suffix in a name without a slash."""
SUFFIX = re.compile(rf"\.(?:{'|'.join(sorted(_SUFFIXES | _AFTER_SLASH))})$", re.IGNORECASE)
_PLAIN = re.compile(rf"\.(?:{'|'.join(sorted(_SUFFIXES))})(?![\w(/\\]|\.\w)")
_TICKED_NAME = re.compile(rf"[\w-]+(?:\.[\w-]+)*\.(?:{'|'.join(sorted(_TICKED))})$")
_DOTFILE_ALONE = re.compile(rf"^\.(?:{_DOTTED})(?:\.[\w-]+)?$")
_DOTFILE = re.compile(
    rf"/\.[a-z][\w-]*(?:\.[\w-]+)*$|(?:^|/)(?:{'|'.join(sorted(WELL_KNOWN))}|LICENSE|README)$"
)
_PRODUCTS = names(
    "node.js next.js vue.js react.js three.js d3.js express.js nuxt.js ember.js alpine.js deno.js"
)
_HOST = re.compile(r"^(?:www\.)?[\w-]+(?:\.[\w-]+)*\.(?:com|org|io|dev|net|ai|co|app|edu|gov|in|sh|me)$")
ROOTS = names(
    "home Users usr etc tmp var opt root workspace workspaces mnt srv private proc bin lib sbin "
    "Library Applications Volumes testbed path src repo project"
)
"""First parts of absolute paths on common systems, in images and in examples."""
# A line of context as grep prints it: "src/a.py-12-" and the line's own words.
_CONTEXT = re.compile(rf"\.(?:{'|'.join(sorted(_SUFFIXES | _AFTER_SLASH))})(-\d{{1,6}}(?:-.*)?)$")
_ALONE = re.compile(rf"(?:^|[/\\])\.(?:{'|'.join(sorted(_SUFFIXES))})$")  # a suffix, not a file: "*.json"
_RANGE = re.compile(r"[^./\\]\.{2,3}[^./\\]")  # of commits: "origin/main..HEAD"
_TWO_FILES = re.compile(rf"[\w-]+\.(?:{'|'.join(sorted(_SUFFIXES))})/[\w.-]+$")  # "main.ts/cli.ts"
_FORMATTED = re.compile(r"%[-+0]?\d*[dsvqxw](?![0-9a-f])")
_BACKSLASHED = re.compile(r"[\w.-]+(?:\\[\w.-]+)+")
_FOLDER = re.compile(r"(?:\.\.?/)*(?:\.?[A-Za-z_@][\w@.-]+/)+$")
_JOINED = re.compile(r"@v?\d|\.\w{1,5}\+")  # "fraction.js@5.3.4", "a.go+b.go"
_SCOPED = re.compile(r"@[\w-]+/[\w.-]+(?:@[\w.^~-]+)?$")
_BRANCHES = names("refs heads origin upstream remotes feature feat bugfix hotfix release http https file")
_BESIDE = re.compile(r" (?:sub)?(?:dir\b|director|folder)")


def cut_token(token: str) -> tuple[int, str]:
    """(characters in front that are not part of the path, the path); an empty path when it can be none.

    >>> cut_token("@src/a.ts"), cut_token("src/a.py-12-import"), cut_token("file%d.go")
    ((1, 'src/a.ts'), (0, 'src/a.py'), (0, ''))
    >>> cut_token(".../src/a.ts")
    (4, 'src/a.ts')
    """
    skip = len(token) - len(token.lstrip("-+%#"))
    if token.startswith((".../", "…/"), skip):  # the first folders are left out, as in Git's statistics
        skip += token.index("/", skip) + 1 - skip
    if token[skip : skip + 1] == "@" and token[skip + 1 : skip + 2] not in ("", "/"):
        skip += 1
    path = token[skip:].split("#", 1)[0].rstrip(".-")
    context = _CONTEXT.search(path)
    if context:
        path = path[: context.start(1)]
    cut = token.endswith("...") and not SUFFIX.search(path)  # the rest of the path is missing
    if len(path) < 3 or cut or "//" in path or "/..." in token or not any(char.isalnum() for char in path):
        return skip, ""
    if _ALONE.search(path) or is_range(path) or ("%" in path and _FORMATTED.search(path)):
        return skip, ""
    slashed = path.replace("\\\\", "/")
    if "\\" in slashed and not (DRIVE.match(path) or _BACKSLASHED.fullmatch(slashed)):
        return skip, ""
    return skip, path


def looks_like_path(path: str, roots: Collection[str]) -> bool:
    """Return whether a word is a path by its form alone; `roots` are first parts of absolute paths."""
    slashed = path.replace("\\", "/")
    first, _, rest = slashed.lstrip("~/").partition("/")
    named = bool(SUFFIX.search(slashed)) and not slashed.endswith("/")
    if DRIVE.match(path):
        return True
    if "\\" in path:
        return named
    if slashed[0] == "/":
        # "/metadata.json" is the rest of a URL or of another path.
        return (bool(rest) and (named or first in roots)) or slashed in ("/tmp", "/etc")
    if slashed[:2] == "~/":
        return bool(first)
    if "/" not in slashed:
        return _is_name(slashed)
    if (_TWO_FILES.match(slashed) and first.lower() not in _PRODUCTS) or joins_names(slashed):
        return False
    if first == "application" or (_HOST.match(first) and not first.startswith(".")) or first == "@":
        return False
    if named or _DOTFILE.search(slashed):
        return True
    return slashed[0] == "." and first.startswith(".") and len(first) > 2 and rest != ""


def _is_name(name: str) -> bool:
    if name in WELL_KNOWN or _LOCKED.search(name) or _DOTFILE_ALONE.match(name):
        return True
    if not _PLAIN.search(name) or name.lower() in _PRODUCTS:
        return False
    return name[0] not in "\\%" and name[:6] != "_test." and not _JOINED.search(name)


def joins_names(word: str) -> bool:
    """Whether a slash joins two names of products, of which the last has a dot.

    >>> joins_names("WebGL/Three.js"), joins_names("src/three.js"), joins_names("Charts/Bars.js")
    (True, False, False)
    """
    first, _, last = word.partition("/")
    return first[:1].isupper() and last[:1].isupper() and last.lower() in _PRODUCTS


def is_range(word: str) -> bool:
    """Whether a word names a range of commits.

    >>> is_range("origin/main..HEAD"), is_range("v1.0...v1.1"), is_range("../src/a..b/../c.py")
    (True, True, False)
    """
    return bool(_RANGE.search(word)) and "../" not in word


def is_package(word: str) -> bool:
    """Whether a word of a command names a package or a module on some host, no file.

    >>> is_package("@types/node"), is_package("github.com/a/b/c.Type"), is_package("src/a.ts")
    (True, True, False)
    """
    return bool(_SCOPED.match(word) or ("/" in word and _HOST.match(word.split("/", 1)[0])))


def is_told(text: str, start: int, end: int) -> bool:
    """Whether the words around a token make it a path that its looks alone do not: `app.log` in
    backquotes, `src/` in backquotes, in a tree, or called a directory."""
    token = text[start:end]
    ticked = text[start - 1 : start] == "`" and text[end : end + 1] == "`"
    if _FOLDER.match(token):
        if token.split("/", 1)[0].lower() in _BRANCHES:
            return False
        listed = text[start - 1 : start] in (" ", "(") and text[end : end + 1] in (",", ")")
        return ticked or listed or text[start - 3 : start] == "── " or bool(_BESIDE.match(text, end))
    return ticked and bool(_TICKED_NAME.match(token)) and token.split(".", 1)[0].lower() not in _OBJECTS
