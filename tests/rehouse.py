"""Moves modules to the rooms of the package, room by room, and rewrites every import of them.

    python tests/rehouse.py move ROOM...      move (and merge) the modules of these rooms
    python tests/rehouse.py split             move single definitions to the file where they belong
    python tests/rehouse.py rename ROOM...    give classes and functions their new names

It can be run again on a branch that was left behind. It goes when the moves are done.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import defaultdict
from pathlib import Path

ROOT = Path.cwd()
HERE = Path(__file__).parent
MOVES = dict(
    line.split("\t")[:2] for line in (HERE / "rehouse.tsv").read_text("utf-8").splitlines() if line
)
# The module whose docstring a merged file keeps, where it is not the first that names itself like the file.
FIRST = {
    "inspector/mixins.py": "inspector/drawable.py",
    "inspector/files.py": "inspector/disk.py",
    "inspector/redaction/patterns.py": "inspector/patterns.py",
    "inspector/tokens/cost.py": "inspector/cost.py",
    "inspector/tokens/prices.py": "inspector/prices.py",
    "inspector/tokens/rows.py": "inspector/rows.py",
    "inspector/formats/flue.py": "inspector/readers/flue.py",
    "inspector/formats/pi.py": "inspector/readers/pi.py",
    "inspector/formats/pi_ai.py": "inspector/readers/pi_ai.py",
    "inspector/formats/readers.py": "inspector/readers/__init__.py",
    "inspector/policies/harness.py": "inspector/conduct.py",
    "inspector/policies/shorten.py": "inspector/lengths.py",
    "inspector/policies/trigger.py": "inspector/trigger.py",
    "inspector/planning/fates.py": "inspector/fates.py",
    "inspector/planning/plan.py": "inspector/plan.py",
    "inspector/planning/stages.py": "inspector/stages.py",
    "inspector/planning/summary_jobs.py": "inspector/jobs.py",
    "inspector/facts/fate.py": "inspector/outcomes.py",
    "inspector/facts/mentions.py": "inspector/mentions.py",
    "inspector/facts/regret.py": "inspector/regret.py",
    "inspector/summaries/claude/summariser.py": "inspector/claude.py",
    "inspector/summaries/record.py": "inspector/recording.py",
    "inspector/summaries/store.py": "inspector/shelf.py",
    "inspector/replays/engine.py": "inspector/replays.py",
    "inspector/workbench/payloads/rules.py": "inspector/knobs.py",
    "inspector/workbench/snapshot.py": "inspector/still.py",
    "inspector/workbench/summary_writer.py": "inspector/scribe.py",
}
# Private names that two merged modules share: (module, old) -> new.
CLASH = {
    ("inspector.exports.pi_ai", "ROLES"): "_WRITTEN_ROLES",
    ("inspector.exports.flue", "VERSION"): None,  # the same in both
    ("inspector.lengths", "_measure"): "_measure_characters",
    ("inspector.snips", "_measure"): "_measure_units",
    ("inspector.lock", "NAME"): "LOCK",
}


def module_of(path: str) -> str:
    parts = path.removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def python_files() -> list[Path]:
    out = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", "*.py"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    return [ROOT / name for name in out if (ROOT / name).exists() and (ROOT / name) != Path(__file__).resolve()]


def rel(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def package_of(path: str) -> list[str]:
    return path.removesuffix(".py").split("/")[:-1]


def absolute(node: ast.ImportFrom, package: list[str]) -> str:
    if not node.level:
        return node.module or ""
    base = package[: len(package) - node.level + 1]
    return ".".join([*base, *((node.module or "").split(".") if node.module else [])])


def spell(path: str, module: str, *, relative: bool) -> str:
    """How a file names a module in an import."""
    package, target = package_of(path), module.split(".")
    if not relative or package[:1] != target[:1]:
        return module
    common = 0
    while common < min(len(package), len(target)) and package[common] == target[common]:
        common += 1
    return "." * (len(package) - common + 1) + ".".join(target[common:])


ORIGINS: dict[tuple[str, str], tuple[str, str]] = {}


def find_origins() -> None:
    """Where a name that a module only passes on is defined."""
    ORIGINS.clear()
    files = {module_of(rel(p)): p for p in python_files() if rel(p).startswith("inspector/")}
    passed: dict[tuple[str, str], tuple[str, str]] = {}
    for module, path in files.items():
        if module == "inspector":
            continue
        text = path.read_text("utf-8")
        own = set(defined(text))
        nodes = list(ast.parse(text).body)
        for node in list(nodes):
            if isinstance(node, ast.If):
                nodes += node.body
        for node in nodes:
            if isinstance(node, ast.ImportFrom):
                target = absolute(node, package_of(rel(path)))
                for alias in node.names:
                    name = alias.asname or alias.name
                    if target in files and f"{target}.{alias.name}" not in files and name not in own:
                        passed[module, name] = (target, alias.name)
    for key in passed:
        end = key
        while end in passed:
            end = passed[end]
        ORIGINS[key] = end


class Edits:
    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0]
        for line in text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.lines = text.splitlines(keepends=True)
        self.changes: list[tuple[int, int, str]] = []

    def offset(self, line: int, column: int) -> int:
        raw = self.lines[line - 1].encode("utf-8")[:column].decode("utf-8")
        return self.starts[line - 1] + len(raw)

    def replace(self, node: ast.AST, new: str) -> None:
        self.changes.append(
            (self.offset(node.lineno, node.col_offset), self.offset(node.end_lineno, node.end_col_offset), new)  # type: ignore
        )

    def done(self) -> str:
        text = self.text
        for start, end, new in sorted(self.changes, reverse=True):
            text = text[:start] + new + text[end:]
        return text


def rewrite_imports(text: str, old_path: str, new_path: str, home, known: set[str], drop: str | None = None) -> str:
    """Every import in the new spelling. `home(module, name)` answers (module, name) as they are from now on."""
    edits = Edits(text)
    package = package_of(old_path)
    for node in ast.walk(ast.parse(text)):
        indent = " " * getattr(node, "col_offset", 0)
        if isinstance(node, ast.Import):
            parts = []
            for alias in node.names:
                new = home(alias.name, None)[0]
                if new != alias.name and alias.asname:
                    parts.append(f"import {new} as {alias.asname}")
                else:
                    parts.append(f"import {new}" + (f" as {alias.asname}" if alias.asname else ""))
            new_text = f"\n{indent}".join(parts)
            if new_text != ast.unparse(node):
                edits.replace(node, new_text)
        elif isinstance(node, ast.ImportFrom):
            module = absolute(node, package)
            if module.split(".")[0] not in ("inspector", "tests"):
                continue
            relative = bool(node.level)
            groups: dict[str, list[str]] = {}
            for alias in node.names:
                whole = f"{module}.{alias.name}"
                if whole in known and not (module == "inspector" and alias.name in ()):
                    target = home(whole, None)[0]
                    parent, _, leaf = target.rpartition(".")
                    asname = alias.asname or (alias.name if leaf != alias.name else None)
                    groups.setdefault(parent, []).append(leaf + (f" as {asname}" if asname and asname != leaf else ""))
                else:
                    origin, original = ORIGINS.get((module, alias.name), (module, alias.name))
                    target, name = home(origin, original)
                    if target == drop:
                        if alias.asname and alias.asname != name:
                            print("ALIAS OF MERGED", new_path, alias.asname, name)
                        continue
                    asname = alias.asname or (alias.name if name != alias.name else None)
                    groups.setdefault(target, []).append(name + (f" as {asname}" if asname and asname != name else ""))
            parts = [
                f"from {spell(new_path, target, relative=relative or new_path.startswith('inspector/'))} import {', '.join(names)}"
                for target, names in groups.items()
            ]
            same = old_path == new_path and groups == {
                module: [a.name + (f" as {a.asname}" if a.asname else "") for a in node.names]
            }
            if not same:
                edits.replace(node, f"\n{indent}".join(parts) or "pass")
    return edits.done()


def take_apart(text: str) -> tuple[str, list[str], list[str], str]:
    """A module's docstring, its imports, its type-only imports, and the rest with its comments."""
    tree = ast.parse(text)
    lines = text.splitlines(keepends=True)
    doc = ast.get_docstring(tree, clean=False)
    gone: set[int] = set()
    imports, types = [], []
    docstring = ""
    for at, node in enumerate(tree.body):
        span = range(node.lineno, node.end_lineno + 1)  # type: ignore
        if at == 0 and doc is not None:
            docstring = "".join(lines[i - 1] for i in span)
            gone.update(span)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            if not (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
                imports.append("".join(lines[i - 1] for i in span))
            gone.update(span)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            for child in node.body:
                if not isinstance(child, ast.Pass):
                    types.append(ast.unparse(child))
            gone.update(span)
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            print("  __all__ dropped:", ast.unparse(node.value)[:150])
            gone.update(span)
        elif isinstance(node, ast.Pass):
            gone.update(span)
    rest = "".join(line for i, line in enumerate(lines, 1) if i not in gone).strip("\n")
    return docstring, imports, types, rest


def put_together(docstring: str, imports: list[str], types: list[str], bodies: list[str]) -> str:
    names = {name for line in imports for node in ast.parse(line).body for name in bound(node)}
    kept = []
    for line in dict.fromkeys(types):
        (node,) = ast.parse(line).body
        assert isinstance(node, ast.Import | ast.ImportFrom)
        node.names = [a for a in node.names if (a.asname or a.name) not in names]
        if node.names:
            kept.append("    " + ast.unparse(node) + "\n")
    imports = list(dict.fromkeys(line.strip("\n") + "\n" for line in imports))
    if kept and "from typing import TYPE_CHECKING\n" not in imports:
        imports.append("from typing import TYPE_CHECKING\n")
    parts = [docstring, "\nfrom __future__ import annotations\n\n", *imports]
    if kept:
        parts += ["\nif TYPE_CHECKING:\n", *kept]
    return "".join(parts) + "\n\n" + "\n\n\n".join(bodies) + "\n"


def bound(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [a.asname or a.name.split(".")[0] for a in node.names]
    return []


def defined(text: str) -> dict[str, ast.stmt]:
    out: dict[str, ast.stmt] = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            out[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                for name in ast.walk(target):
                    if isinstance(name, ast.Name):
                        out.setdefault(name.id, node)
    return out


def rename_tokens(text: str, names: dict[str, str], *, prose: bool = False) -> str:
    """Renames identifiers (not attributes, not keywords of calls), inside f-strings too."""
    out, last = [], (1, 0)
    lines = text.splitlines(keepends=True)
    edits = Edits(text)
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    pattern = re.compile(r"\b(" + "|".join(map(re.escape, sorted(names, key=len, reverse=True))) + r")\b")
    depth = 0
    for i, token in enumerate(tokens):
        if token.type == tokenize.OP:
            depth += (token.string in "([{") - (token.string in ")]}")
        if token.type == tokenize.NAME and token.string in names:
            before = tokens[i - 1].string if i else ""
            after = tokens[i + 1].string if i + 1 < len(tokens) else ""
            if before == "." or (after == "=" and depth and before in "(,"):
                continue
            start = edits.starts[token.start[0] - 1] + token.start[1]
            edits.changes.append((start, start + len(token.string), names[token.string]))
        elif token.type == tokenize.STRING:
            start = edits.starts[token.start[0] - 1] + token.start[1]
            body = token.string
            if re.match(r"[rbu]*f", body, re.I):
                new = re.sub(r"\{[^{}]*\}", lambda m: pattern.sub(lambda n: names[n[1]], m[0]), body)
            elif body.lstrip("rRbBuU").startswith('"""'):
                def doc(line: str) -> str:
                    if re.match(r"\s*(>>>|\.\.\. )", line) or "`" in line or prose:
                        if not re.match(r"\s*(>>>|\.\.\. )", line) and not prose:
                            return re.sub(r"`[^`]*`", lambda m: pattern.sub(lambda n: names[n[1]], m[0]), line)
                        return pattern.sub(lambda n: names[n[1]], line)
                    return line
                new = "".join(doc(line) for line in body.splitlines(keepends=True))
            elif body.strip("\"'rRbBuU") in names and tokens[i - 1].string in ("[", "(", ",", ":", "->", "|", "="):
                new = body  # a string of that name alone may be data: told, not changed
                print("  string", body, "line", token.start[0])
            else:
                new = body
            if new != body:
                edits.changes.append((start, start + len(body), new))
    return edits.done()


GROUPS = {"inspector.readers", "inspector.rules", "inspector.policies"}
TEXTS = ("*.md", "*.toml", "*.ts", "*.tsx", "*.mjs", "*.ipynb", "*.yml", "Makefile", "*.cfg", "*.json", "*.yaml")


def other_texts() -> list[Path]:
    out = subprocess.run(
        ["git", "ls-files", *TEXTS], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    skip = ("package-lock", "tests/cases", "tests/conformance", "CHANGELOG")
    return [ROOT / n for n in out if not any(s in n for s in skip) and (ROOT / n).exists()]


def replace_dotted(text: str, modules: dict[str, str], paths: dict[str, str]) -> str:
    """Absolute module names and paths in prose, doctests and strings."""
    if modules:
        pattern = re.compile(
            r"(?<![\w/.-])(" + "|".join(re.escape(m) for m in sorted(modules, key=len, reverse=True)) + r")(?![\w/])"
        )

        def dotted(match: re.Match[str]) -> str:
            if match[1] in GROUPS:  # an entry point group keeps its name
                before, after = text[max(0, match.start() - 7) : match.start()], text[match.end() : match.end() + 2]
                if not (before.endswith(("from ", "import ")) or re.match(r"\.[a-z_]", after)):
                    return match[1]
            return modules[match[1]]

        text = pattern.sub(dotted, text)
    if paths:
        pattern = re.compile(r"(" + "|".join(re.escape(p) for p in sorted(paths, key=len, reverse=True)) + r")(?![\w])")
        text = pattern.sub(lambda m: paths[m[1]], text)
    return text


def in_strings(text: str, change) -> str:
    """The same code with its strings and comments changed."""
    edits = Edits(text)
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            new = change(token.string)
            if new != token.string:
                start = edits.starts[token.start[0] - 1] + token.start[1]
                edits.changes.append((start, start + len(token.string), new))
    return edits.done()


ROOM_ORDER = (
    "text errors mixins session cuts redaction tokens formats demo policies planning wire files facts summaries replays "
    "workbench jupyter"
).split()


def room_of(path: str) -> str:
    parts = path.removesuffix(".py").split("/")
    return parts[1] if parts[0] == "inspector" else "tests"


def git_mv(old: str, new: str) -> None:
    (ROOT / new).parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["git", "mv", old, new], cwd=ROOT, check=True)


def move(room: str) -> None:
    find_origins()
    batch = {
        old: new for old, new in MOVES.items() if old != new and room_of(new) == room and (ROOT / old).exists()
    }
    everything = {module_of(rel(path)) for path in python_files()}
    modules = {module_of(old): module_of(new) for old, new in batch.items()}
    targets: dict[str, list[str]] = defaultdict(list)
    for old, new in batch.items():
        targets[new].append(old)
    for new in targets:
        if new not in batch and (ROOT / new).exists():
            targets[new].insert(0, new)

    def home(module: str, name: str | None) -> tuple[str, str]:
        renamed = (CLASH.get((module, name)) if module in modules else None) or name
        return modules.get(module, module), renamed or ""

    # 1. the new text of every file, in memory
    texts: dict[str, str] = {}
    sources = {rel(path): path.read_text("utf-8") for path in python_files()}
    for path, text in sources.items():
        new_path = batch.get(path, path)
        drop = module_of(new_path) if len(targets.get(new_path, ())) > 1 else None
        names = {n: new for (m, n), new in CLASH.items() if m == module_of(path) and new and path in batch}
        if names:
            text = rename_tokens(text, names)
        done = rewrite_imports(text, path, new_path, home, everything, drop)
        texts[path] = done
    # 2. merges
    merged: dict[str, str] = {}
    for new, olds in targets.items():
        if len(olds) == 1:
            continue
        first = FIRST[new]
        needs = {
            old: {
                other
                for other in olds
                if other != old
                for node in ast.parse(sources[old]).body
                if isinstance(node, ast.ImportFrom) and absolute(node, package_of(old)) == module_of(other)
            }
            for old in olds
        }
        order: list[str] = []
        left = sorted(olds, key=lambda o: (o != first, o))
        while left:
            ready = next((o for o in left if not needs[o] - set(order)), None)
            if ready is None:
                print("  CIRCLE in merge", new, needs)
                ready = left[0]
            order.append(ready)
            left.remove(ready)
        print("  merge", new, "<-", order)
        imports, types, bodies = [], [], []
        docstring = ""
        for old in order:
            doc, i, t, body = take_apart(texts[old])
            if old == first:
                docstring = doc
            imports += i
            types += t
            for name, node in defined(texts[old]).items():
                if (module_of(old), name) in CLASH and CLASH[module_of(old), name] is None:
                    lines = body.splitlines(keepends=True)
                    line = ast.unparse(node)
                    body = "".join(x for x in lines if x.strip() != line)
            bodies.append(body.strip("\n"))
        merged[new] = put_together(docstring, imports, types, bodies)
    # 3. the files themselves
    for path, text in texts.items():
        if path not in batch or len(targets[batch[path]]) == 1:
            (ROOT / path).write_text(text, "utf-8")
    for new, olds in targets.items():
        if new in MOVES.values():
            largest = FIRST.get(new, olds[0]) if len(olds) > 1 else olds[0]
            if largest != new:
                if (ROOT / new).exists() and new in batch:  # its old content moves too
                    git_mv(new, new + ".moving")
                git_mv(largest, new)
            for old in olds:
                if old not in (largest, new):
                    subprocess.run(["git", "rm", "-q", "-f", old], cwd=ROOT, check=True)
        if new in merged:
            (ROOT / new).write_text(merged[new], "utf-8")
    # 4. packages
    for new in targets:
        folder = (ROOT / new).parent
        while folder != ROOT / "inspector" and folder != ROOT / "tests" and folder != ROOT:
            init = folder / "__init__.py"
            if not init.exists():
                init.write_text(f'"""{folder.name}"""\n', "utf-8")
                subprocess.run(["git", "add", rel(init)], cwd=ROOT, check=True)
            folder = folder.parent
    # 5. names in prose, doctests and strings
    paths = {old: new for old, new in batch.items()}
    for path in [*python_files(), *other_texts()]:
        text = path.read_text("utf-8")
        if path.suffix == ".py":
            done = in_strings(text, lambda part: replace_dotted(part, modules, paths))
        else:
            done = replace_dotted(text, modules, paths)
        if rel(path) == "inspector/__init__.py":
            done = fix_homes(done, modules)
        if done != text:
            path.write_text(done, "utf-8")


def fix_homes(text: str, modules: dict[str, str]) -> str:
    short = {m.removeprefix("inspector."): n.removeprefix("inspector.") for m, n in modules.items()}
    match = re.search(r"_HOMES = (\{.*?\n\})", text, re.S)
    if match:
        homes: dict[str, list[str]] = {}
        for module, names in ast.literal_eval(match[1]).items():
            homes.setdefault(short.get(module, module), []).extend(names.split())
        body = "".join(f'    "{m}": "{" ".join(n)}",  # fmt: skip\n' for m, n in sorted(homes.items()))
        body = "".join(
            f'    "{m}": (\n        "{" ".join(n)}"\n    ),\n' if len(" ".join(n)) + len(m) > 95 else f'    "{m}": "{" ".join(n)}",\n'
            for m, n in sorted(homes.items())
        )
        text = text.replace(match[1], "{\n" + body + "}")
    return re.sub(r"\{__name__\}\.([\w.]+)", lambda m: "{__name__}." + short.get(m[1], m[1]), text)


# ---------------------------------------------------------------- definitions that change file


def move_definitions(old_path: str, new_path: str, names: list[str], docstring: str = "") -> None:
    """Definitions leave one file for another; whoever imports them follows."""
    find_origins()
    old_file, new_file = ROOT / old_path, ROOT / new_path
    text = old_file.read_text("utf-8")
    nodes = defined(text)
    missing = [n for n in names if n not in nodes]
    if missing:
        print("  MISSING", old_path, missing)
        names = [n for n in names if n in nodes]
    lines = text.splitlines(keepends=True)
    spans = []
    body = ast.parse(text).body
    for node in body:
        if any(nodes[n].lineno == node.lineno for n in names):
            start = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
            while start > 1 and lines[start - 2].startswith("#"):
                start -= 1
            end = node.end_lineno or node.lineno
            # a docstring below an assignment belongs to it
            at = body.index(node)
            if isinstance(node, ast.Assign | ast.AnnAssign) and at + 1 < len(body):
                after = body[at + 1]
                if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
                    end = after.end_lineno or end
            spans.append((start, end))
    taken = "\n\n\n".join("".join(lines[s - 1 : e]).strip("\n") for s, e in spans)
    inside = {i for s, e in spans for i in range(s, e + 1)}
    remaining = "".join(line for i, line in enumerate(lines, 1) if i not in inside)
    _, imports, types, _ = take_apart(text)
    old_module, new_module = module_of(old_path), module_of(new_path)

    def to_new(line: str) -> str:
        return rewrite_imports(line, old_path, new_path, lambda m, n: (m, n or ""), everything, new_module)

    everything = {module_of(rel(path)) for path in python_files()}
    imports = [to_new(line) for line in imports]
    imports = [line for line in imports if line.strip() != "pass"]
    types = [to_new(line) for line in types]
    types = [line for line in types if line.strip() != "pass"]
    used = {node.id for node in ast.walk(ast.parse(taken)) if isinstance(node, ast.Name)}
    used |= {w for node in ast.walk(ast.parse(taken)) if isinstance(node, ast.Constant) and isinstance(node.value, str) for w in re.findall(r"\w+", node.value)[:3]}
    still = [n for n in nodes if n in used and n not in names]
    if still:
        print("  ", new_path, "needs from", old_path, still)
        imports.append(f"from {spell(new_path, old_module, relative=True)} import {', '.join(still)}\n")
    if new_file.exists():
        doc, i2, t2, rest = take_apart(new_file.read_text("utf-8"))
        new_text = put_together(doc, [*i2, *imports], [*t2, *types], [rest, taken])
    else:
        new_file.parent.mkdir(parents=True, exist_ok=True)
        new_text = put_together(f'"""{docstring}"""\n', imports, types, [taken])
    # the file they left uses some of them still
    used = {n.id for n in ast.walk(ast.parse(remaining)) if isinstance(n, ast.Name)} | {
        n.value for n in ast.walk(ast.parse(remaining)) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    }
    back = [n for n in names if n in used]
    if back:
        doc, i3, t3, rest = take_apart(remaining)
        i3.append(f"from {spell(old_path, new_module, relative=True)} import {', '.join(back)}\n")
        remaining = put_together(doc, i3, t3, [rest])
    old_file.write_text(remaining, "utf-8")
    new_file.write_text(new_text, "utf-8")
    subprocess.run(["git", "add", new_path], cwd=ROOT, check=True)
    moved = set(names)

    def home(module: str, name: str | None) -> tuple[str, str]:
        return (new_module, name or "") if module == old_module and name in moved else (module, name or "")

    for path in python_files():
        where = rel(path)
        if where in (old_path,):
            continue
        text = path.read_text("utf-8")
        leaf = old_module.rpartition(".")[2]
        if leaf not in text:
            continue
        done = rewrite_imports(text, where, where, home, everything, new_module if where == new_path else None)
        done = rewrite_doctests(done, old_module, new_module, moved)
        if where == "inspector/__init__.py":
            done = move_homes(done, old_module, new_module, moved)
        if done != text:
            path.write_text(done, "utf-8")
    text = old_file.read_text("utf-8")
    old_file.write_text(rewrite_doctests(text, old_module, new_module, moved), "utf-8")


def move_homes(text: str, old: str, new: str, names: set[str]) -> str:
    match = re.search(r"_HOMES = (\{.*?\n\})", text, re.S)
    if not match:
        return text
    homes = {m: n.split() for m, n in ast.literal_eval(match[1]).items()}
    o, n = old.removeprefix("inspector."), new.removeprefix("inspector.")
    gone = [x for x in homes.get(o, []) if x in names]
    if not gone:
        return text
    homes[o] = [x for x in homes[o] if x not in names]
    if not homes[o]:
        del homes[o]
    homes.setdefault(n, []).extend(gone)
    body = "".join(
        f'    "{m}": (\n        "{" ".join(v)}"\n    ),\n' if len(" ".join(v)) + len(m) > 95 else f'    "{m}": "{" ".join(v)}",\n'
        for m, v in sorted(homes.items())
    )
    return text.replace(match[1], "{\n" + body + "}")


def rewrite_doctests(text: str, old: str, new: str, names: set[str]) -> str:
    def line(match: re.Match[str]) -> str:
        prompt, indent, listed = match["prompt"], match["indent"], [n.strip() for n in match["names"].split(",")]
        gone = [n for n in listed if n.split(" ")[0] in names]
        if not gone:
            return match[0]
        rest = [n for n in listed if n not in gone]
        out = []
        if rest:
            out.append(f"{indent}{prompt}from {old} import {', '.join(rest)}")
        out.append(f"{indent}{prompt}from {new} import {', '.join(gone)}")
        return "\n".join(out)

    return re.sub(
        rf"^(?P<indent>[ \t]*)(?P<prompt>>>> )from {re.escape(old)} import (?P<names>[\w, ]+)$", line, text, flags=re.M
    )


# ---------------------------------------------------------------- new names of classes and functions


def rename(module: str, names: dict[str, str]) -> None:
    """Renames top-level definitions of one module, there and wherever they are imported."""
    path = next(p for p in python_files() if module_of(rel(p)) == module)
    everything = {module_of(rel(p)) for p in python_files()}
    text = path.read_text("utf-8")
    have = defined(text)
    for name in names:
        if name not in have:
            print("  NOT DEFINED", module, name)
    path.write_text(rename_tokens(text, names), "utf-8")
    for other in python_files():
        if other == path:
            continue
        where, text = rel(other), other.read_text("utf-8")
        local: dict[str, str] = {}
        modules_as: set[str] = set()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                target = absolute(node, package_of(where))
                for alias in node.names:
                    if target == module and alias.name in names:
                        if alias.asname is None:
                            local[alias.name] = names[alias.name]
                        else:
                            modules_as.add("")
                            text = re.sub(rf"\b{alias.name} as {alias.asname}\b", f"{names[alias.name]} as {alias.asname}", text)
                    if f"{target}.{alias.name}" == module:
                        modules_as.add(alias.asname or alias.name)
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name == module:
                        modules_as.add(alias.asname or alias.name)
        if local:
            clash = set(local.values()) & set(defined(text))
            if clash:
                print("  CLASH in", where, clash)
            text = rename_tokens(text, local)
        for m in modules_as - {""}:
            for name, new in names.items():
                text = re.sub(rf"\b{re.escape(m)}\.{name}\b", f"{m}.{new}", text)
                text = re.sub(rf'(setattr\(\s*{re.escape(m)},\s*"){name}"', rf'\1{new}"', text)
        for name, new in names.items():
            text = re.sub(rf"\b{re.escape(module)}\.{name}\b", f"{module}.{new}", text)
            text = re.sub(rf"(>>> from {re.escape(module)} import [\w, ]*)\b{name}\b", rf"\1{new}", text)
        if text != other.read_text("utf-8"):
            other.write_text(text, "utf-8")


if __name__ == "__main__":
    what, *rest = sys.argv[1:]
    if what == "move":
        for room in rest:
            move(room)
