"""Find every fix text in the source code. {} represents the expressions of f-strings.

The value that is passed as `fix` to a record or a function is traced to its text: through names,
loops, tuples, and return values of functions. Tables with a `fix` column have their own tests.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parents[2]
FOLDERS = ("planner", "command", "policies", "tutorials")
NO_FIXES = {
    "fix_sentence",
    "saved_usd",
    "fix_patch",
    "_component",
    "_tolerations_of",
    "Message",
    "add_argument",
}
"""Functions whose `fix` is a simulated fix or an option. Messages are in a table."""
NO_MODULES = {"quantity.py", "shapes.py", "call_shapes.py", "messages_page.py", "catalog_page.py"}
"""Modules in which a name that contains "fix" has another meaning: a suffix, a part of a page, or
the page of a table.
"""
NO_ADVICE = {"examples.py", "replacement_examples.py", "starter_files.py", "page.py", "formats.py"}
"""Modules in which sentences that begin like advice are help texts, examples, generated files, or
messages of the API server.
"""
OTHER_NAMES = {"SelectorChange": "text"}
"""Records whose fix is in a field with another name."""
GENERAL = {"Rule"}
"""Rules have a sentence for the page of all rules, in addition to the fix of each finding. Code
that prints this sentence uses `RULE.fix`.
"""
FORWARDED = {"fix", "text", "message", "says", "lines"}
"""What other records hold, whose texts are collected where they are made."""
THROUGH = {
    "join",
    "filter",
    "next",
    "fromkeys",
    "sorted",
    "tuple",
    "list",
    "set",
    "chain",
    "reversed",
    "zip",
}
ADVISES = re.compile(
    r"(add|allow|apply|ask|change|choose|close|compare|copy|correct|create|declare|delete|drop|enable|fill|fix|give|grant|"
    r"build|indent|install|keep|label|leave|let|look|lower|make|mount|move|name|narrow|order|pass|pin|plan|put|quote|raise|"
    r"read|reduce|remove|rename|render|repeat|replace|report|request|restrict|run|save|say|see|select|set|share|split|spread|start|state|"
    r"taint|take|tell|try|turn|upgrade|use|wait|write)\b(?=[ ,])"
)
"""How a sentence begins that says what to do."""
OF_HELP = {"help", "description", "epilog", "metavar", "title"}
"""Arguments that describe an option, a field or a page."""
RECORD = re.compile(r"\[[A-Z]\w+\]$")
"""What functions return that yield records, whose texts are collected where they are made."""
ITEM = "*"
"""A step into any item of what is gone through, beside the numbers of items of tuples."""
Function = ast.FunctionDef | ast.Lambda
Steps = tuple[int | str, ...]
Takers = dict[str, set[tuple[str, int, Path]]]


class Module(Struct):
    """One file of the code."""

    path: Path
    tree: ast.Module
    parents: dict[ast.AST, ast.AST] = {}

    def __post_init__(self) -> None:
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node

    def may_mean(self, name: str, path: Path) -> bool:
        """Return whether a name refers to the definition in that file, because this module imports
        it from there or is that file.
        """
        if path == self.path:
            return True
        origins = [
            node.module
            for node in ast.walk(self.tree)
            if isinstance(node, ast.ImportFrom)
            and node.module
            and name in {each.name for each in node.names}
        ]
        dotted = ".".join(path.relative_to(ROOT).with_suffix("").parts[1:])
        return any(dotted.startswith(origin) for origin in origins) or (
            not origins and name[0] != "_"
        )

    def function_of(self, node: ast.AST) -> Function | None:
        here = self.parents.get(node)
        while here is not None and not isinstance(here, Function):
            here = self.parents.get(here)
        return here


class Sources:
    """The source code: the functions and records that accept a fix, and the texts that they get."""

    def __init__(self) -> None:
        files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
        self.modules = [Module(path, ast.parse(path.read_text(encoding="utf-8"))) for path in files]
        self.texts: dict[str, str] = {}
        self.unresolved: set[str] = set()
        self.functions: dict[str, list[tuple[Module, ast.FunctionDef]]] = defaultdict(list)
        self._seen: set[tuple[int, Steps]] = set()
        for module in self.modules:
            for node in ast.walk(module.tree):
                if isinstance(node, ast.FunctionDef):
                    self.functions[node.name].append((module, node))

    def collect(self) -> dict[str, str]:
        """Return every text with the file that contains it first."""
        takers = self._takers()
        for module in self.modules:
            if module.path.name in NO_MODULES:
                continue
            for node in ast.walk(module.tree):
                for value in self._given(module, node, takers):
                    self._follow(module, value, ())
        for module in self.modules:
            if module.path.name not in NO_MODULES | NO_ADVICE:
                self._advise(module)
        return self.texts

    def _advise(self, module: Module) -> None:
        """Collect advice that isn't passed as a fix: a whole text, or the part after a
        semicolon.
        """
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.Constant | ast.JoinedStr) or self._describes(module, node):
                continue
            text = written(node)
            if text in self.texts:
                continue
            if ADVISES.match(text) and " " in text.strip():
                self._text(module, text)
                continue
            if re.match(r"`\{\}` stands for", text):
                self._text(module, text)
                continue
            for found in re.finditer(r"[;:]\s", text):
                if ADVISES.match(text, found.end()):
                    self._text(module, text[found.end() :])
                    break

    def _describes(self, module: Module, node: ast.AST) -> bool:
        """Return whether a text is a docstring, part of another text, a regular expression, or the
        help of an option.
        """
        above = module.parents.get(node)
        if isinstance(above, ast.Expr | ast.JoinedStr | ast.FormattedValue | ast.Compare):
            return True
        if isinstance(above, ast.keyword) and above.arg in OF_HELP:
            return True
        call = (
            above
            if isinstance(above, ast.Call)
            else module.parents.get(above)
            if above is not None
            else None
        )
        return isinstance(call, ast.Call) and name_of(call.func) in (
            "compile",
            "search",
            "Field",
            "add_parser",
            "sub",
        )

    def _takers(self) -> Takers:
        """Return the records and functions that accept a fix, with the name and the position of the
        argument.

        A name that begins with an underscore is known only in its own file.
        """
        takers: Takers = defaultdict(set)
        for module in self.modules:
            for node in ast.walk(module.tree):
                if isinstance(node, ast.ClassDef):
                    annotated = [
                        each.target for each in node.body if isinstance(each, ast.AnnAssign)
                    ]
                    names = [each.id for each in annotated if isinstance(each, ast.Name)]
                    wanted = OTHER_NAMES.get(node.name, "fix")
                    if wanted in names:
                        takers[node.name].add((wanted, names.index(wanted), module.path))
                elif isinstance(node, ast.FunctionDef):
                    arguments = [
                        each.arg for each in node.args.args if each.arg not in ("self", "cls")
                    ]
                    if "fix" in arguments:
                        owner = module.parents[node] if node.name == "__init__" else node
                        takers[owner.name].add(("fix", arguments.index("fix"), module.path))  # type: ignore[attr-defined]
        return takers

    def _given(self, module: Module, node: ast.AST, takers: Takers) -> Iterator[ast.expr | None]:
        match node:
            case ast.Call(func=func, args=args, keywords=keywords) if (
                name_of(func) not in NO_FIXES | GENERAL
            ):
                name = name_of(func)
                known = [each for each in takers.get(name, ()) if module.may_mean(name, each[2])]
                named = {"fix", *(each[0] for each in known)}
                yield from (keyword.value for keyword in keywords if keyword.arg in named)
                yield from (args[at] for _, at, _ in known if at < len(args))
            case ast.FunctionDef(name=name) if re.search(r"(?<!pre)(?<!suf)fix", name):
                if node.returns is not None and ast.unparse(node.returns) in ("str", "str | None"):
                    yield from (
                        each.value for each in ast.walk(node) if isinstance(each, ast.Return)
                    )
            case ast.Dict(keys=keys, values=values):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and key.value == "fix":
                        yield value
            case ast.Assign(targets=[ast.Name(id="fix" | "_FIX")], value=value):
                yield value

    def _follow(self, module: Module, node: ast.AST | None, path: Steps) -> None:
        """Collect the possible texts of an expression, or of the part of the expression at
        a path.
        """
        if node is None or (id(node), path) in self._seen:
            return
        self._seen.add((id(node), path))
        first, rest = (path[0], path[1:]) if path else (None, ())
        match node:
            case ast.Tuple(elts=values) | ast.List(elts=values) | ast.Set(elts=values):
                chosen = (
                    [values[first]] if isinstance(first, int) and first < len(values) else values
                )
                for value in chosen:
                    self._follow(
                        module, value.value if isinstance(value, ast.Starred) else value, rest
                    )
            case ast.Dict(values=values):
                for value in values:
                    self._follow(module, value, rest if first == ITEM else path)
            case ast.IfExp(body=one, orelse=other) | ast.BinOp(left=one, op=ast.Add(), right=other):
                self._follow(module, one, path)
                self._follow(module, other, path)
            case ast.BoolOp(values=values):
                for value in values:
                    self._follow(module, value, path)
            case ast.GeneratorExp(elt=value) | ast.ListComp(elt=value) | ast.SetComp(elt=value):
                self._follow(module, value, rest)
            case ast.Subscript(value=value, slice=ast.Constant(value=int() as at)):
                self._follow(module, value, (at, *path))
            case ast.Subscript(value=value):
                self._follow(module, value, (ITEM, *path))
            case ast.Starred(value=value) | ast.NamedExpr(value=value) | ast.Await(value=value):
                self._follow(module, value, path)
            case ast.Call():
                self._called(module, node, path)
            case ast.Name(id=name):
                self._named(module, node, name, path)
            case ast.Constant(value=value):
                if isinstance(value, str):
                    self._text(module, value)
            case ast.JoinedStr(values=parts):
                self._text(
                    module, "".join(p.value if isinstance(p, ast.Constant) else "{}" for p in parts)
                )  # type: ignore[misc]
            case ast.Attribute(value=ast.Name(id="RULE"), attr="fix"):
                for value, _ in bound(module.tree, "RULE"):
                    given = value.keywords if isinstance(value, ast.Call) else []
                    for keyword in given:
                        if keyword.arg == "fix":
                            self._follow(module, keyword.value, ())
            case ast.Attribute(attr=name) if name in FORWARDED:
                pass
            case _:
                self._lost(module, node)

    def _called(self, module: Module, call: ast.Call, path: Steps) -> None:
        name = name_of(call.func)
        inner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if name in THROUGH:
            step = (
                (ITEM, *path)
                if name in ("join", "filter", "next", "fromkeys") and path[:1] != (ITEM,)
                else path
            )
            for each in call.args if name != "filter" else call.args[1:]:
                self._follow(module, each, step)
            return
        if inner is not None and name in ("replace", "format", "strip", "rstrip", "removesuffix"):
            self._follow(module, inner, path)
            return
        if inner is not None and name == "get":
            self._follow(module, inner, (ITEM, *path))
            for each in call.args[1:]:
                self._follow(module, each, path)
            return
        if inner is not None and name in ("items", "values"):
            self._follow(
                module,
                inner,
                (ITEM, *path[2:]) if name == "items" and path[:2] == (ITEM, 1) else path,
            )
            return
        known = self.functions.get(name, [])
        here = [(owner, function) for owner, function in known if owner is module] or known
        texts = [
            (m, f) for m, f in here if f.returns is not None and "str" in ast.unparse(f.returns)
        ]
        of_records = [
            f for _, f in here if f.returns is not None and RECORD.search(ast.unparse(f.returns))
        ]
        if not texts and not of_records:
            self._lost(module, call)
        for owner, function in texts:
            for each in ast.walk(function):
                if isinstance(each, ast.Return | ast.YieldFrom):
                    self._follow(owner, each.value, path)
                elif isinstance(each, ast.Yield):
                    self._follow(owner, each.value, path[1:])

    def _named(self, module: Module, node: ast.AST, name: str, path: Steps) -> None:
        function = module.function_of(node)
        while function is not None:
            found = list(bound(function, name))
            for value, more in found:
                self._follow(module, value, (*more, *path))
            arguments = {each.arg for each in (*function.args.args, *function.args.kwonlyargs)}
            if name in arguments and name != "fix":
                self._lost(module, node)
            if found or name in arguments:
                return
            function = module.function_of(function)
        for each in (module, *self.modules):
            found = list(bound(each.tree, name))
            for value, more in found:
                self._follow(each, value, (*more, *path))
            if found:
                return
        self._lost(module, node)

    def _text(self, module: Module, text: str) -> None:
        if re.search(r"[A-Za-z]{2}", text) and module.path.name not in NO_MODULES:
            self.texts.setdefault(text, str(module.path.relative_to(ROOT)))

    def _lost(self, module: Module, node: ast.AST) -> None:
        if module.path.name not in NO_MODULES:
            self.unresolved.add(f"{module.path.name}: {ast.unparse(node)}")


def written(node: ast.expr) -> str:
    """Return a text as written in the code, with {} for each expression. Return "" if the node
    isn't a text.
    """
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
        )
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def bound(where: ast.AST, name: str) -> Iterator[tuple[ast.expr, Steps]]:
    """Yield the values of a name in a function or at the top level of a module, with the path to
    each value.
    """
    for node in where.body if isinstance(where, ast.Module) else ast.walk(where):
        pairs: list[tuple[ast.expr, ast.expr | None, Steps]] = []
        match node:
            case ast.Assign(targets=targets, value=value):
                pairs = [(target, value, ()) for target in targets]
            case (
                ast.AnnAssign(target=target, value=value)
                | ast.NamedExpr(target=target, value=value)
            ):
                pairs = [(target, value, ())]
            case ast.AugAssign(target=target, value=value):
                pairs = [(target, value, ())]
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                pairs = [(target, value, (ITEM,))]
        for target, value, path in pairs:
            for more in places(target, name):
                if value is not None:
                    yield value, (*path, *more)


def places(target: ast.expr, name: str) -> Iterator[Steps]:
    """Yield the positions of a name in the target of an assignment."""
    if isinstance(target, ast.Name) and target.id == name:
        yield ()
    elif isinstance(target, ast.Tuple):
        for index, part in enumerate(target.elts):
            yield from ((index, *more) for more in places(part, name))


def name_of(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def pattern_of(text: str) -> re.Pattern[str]:
    """Return the pattern that matches every fix created from a text. {} matches anything."""
    return re.compile(".*?".join(re.escape(part) for part in text.split("{}")), re.DOTALL)
