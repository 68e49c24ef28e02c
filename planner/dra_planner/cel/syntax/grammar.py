"""The grammar of the installed cel-python, with other rules where Kubernetes' dialect differs.

    python -m dra_planner.cel.syntax.grammar

generates the parser's tables (`tables.json`) from it. Run it after changing the grammar. Only this
module needs lark and cel-python, and only checkouts contain them, because parsing reads the tables.

The module reads the grammar file of the installed cel-python. It replaces the terminals (signs
belong to expressions, escapes are checked, only whole words match), and the rules for the `?` of
optionals, trailing commas, backquoted fields, and chains of `!` and `-`. && and || have any number
of operands, so that a long chain isn't deep. Source of the syntax:
google/cel-go:parser/gen/CEL.g4@v0.26.0.
"""

from __future__ import annotations

import io
import json
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dra_planner.cel.syntax.tables import PATH

if TYPE_CHECKING:
    from lark import Lark

_IMPORTED = (
    "expr, conditionalor, conditionaland, relation, relation_lt, relation_le, relation_gt, "
    "relation_ge, relation_eq, "
    "relation_ne, relation_in, addition, addition_add, addition_sub, multiplication, "
    "multiplication_mul, "
    "multiplication_div, multiplication_mod, unary, member, member_dot, member_dot_arg, "
    "member_index, member_object, "
    "primary, dot_ident_arg, dot_ident, ident_arg, ident, paren_expr, list_lit, map_lit, exprlist, "
    "fieldinits, "
    "mapinits, literal, INT_LIT, UINT_LIT, FLOAT_LIT, STRING_LIT, MLSTRING_LIT, BYTES_LIT, "
    "BOOL_LIT, NULL_LIT, IDENT, "
    "WHITESPACE, COMMENT"
)

_ESCAPE = r"\\(?:[abfnrtv\"'\\?`]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-3][0-7]{2})"
_LINE = rf"\"(?:{_ESCAPE}|[^\\\"\n\r])*\"|'(?:{_ESCAPE}|[^\\'\n\r])*'"
_LINE_RAW = r"[rR]\"[^\"\n\r]*\"|[rR]'[^'\n\r]*'"
_BLOCK = (
    rf"\"\"\"(?:{_ESCAPE}|[^\\\"]|\"(?!\"\"))*\"\"\"|'''(?:{_ESCAPE}|[^\\']|'(?!''))*'''"
    r"|[rR]\"\"\"(?:[^\"]|\"(?!\"\"))*\"\"\"|[rR]'''(?:[^']|'(?!''))*'''"
)

_OVERRIDES = r"""
%override expr: conditionalor | conditionalor "?" conditionalor ":" expr
%override conditionalor: conditionaland | alternatives -> disjunction
alternatives: conditionaland "||" conditionaland | alternatives "||" conditionaland
%override conditionaland: relation | conjuncts -> conjunction
conjuncts: relation "&&" relation | conjuncts "&&" relation

%override relation: addition | compared addition
?compared: relation_lt | relation_le | relation_gt | relation_ge | relation_eq | relation_ne | relation_in
%override relation_in: relation _IN
%override addition: multiplication | added multiplication
?added: addition_add | addition_sub
%override multiplication: unary | multiplied unary
?multiplied: multiplication_mul | multiplication_div | multiplication_mod

%override unary: member | unary_nots member | unary_negs member | unary_nots "-" member -> unary_not_signed
!unary_nots: "!" | unary_nots "!"
!unary_negs: "-" | unary_negs "-"
%override exprlist: expr | exprlist "," expr

%extend member: member_dot_optional | member_index_optional
%override member_dot: member "." IDENT | member "." ESCAPED_IDENT
member_dot_optional: member "." "?" IDENT | member "." "?" ESCAPED_IDENT
member_index_optional: member "[" "?" expr "]"
%override member_object: member "{" "}" | member "{" "," "}" | member "{" fieldinits "}" | member "{" fieldinits "," "}"

%override list_lit: "[" "]" | "[" "," "]" | "[" listinits "]" | "[" listinits "," "]"
listinits: listinit | listinits "," listinit
listinit: expr | "?" expr -> listinit_optional
%override map_lit: "{" "}" | "{" "," "}" | "{" mapinits "}" | "{" mapinits "," "}"
%override mapinits: mapinit | mapinits "," mapinit
mapinit: expr ":" expr | "?" expr ":" expr -> mapinit_optional
%override fieldinits: fieldinit | fieldinits "," fieldinit
fieldinit: fieldname ":" expr | "?" fieldname ":" expr -> fieldinit_optional
fieldname: IDENT | ESCAPED_IDENT

%override INT_LIT.2: /0x[0-9a-fA-F]+|[0-9]+/
%override UINT_LIT.3: /(?:0x[0-9a-fA-F]+|[0-9]+)[uU]/
%override FLOAT_LIT.4: /[0-9]+\.[0-9]+(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+|\.[0-9]+(?:[eE][+-]?[0-9]+)?/
%override MLSTRING_LIT.6: /<block>/
%override STRING_LIT.5: /<line>|<line_raw>/
%override BYTES_LIT.7: /[bB](?:<block>|<line>|<line_raw>)/
%override BOOL_LIT.1: /(?:true|false)(?![_a-zA-Z0-9])/
%override NULL_LIT.1: /null(?![_a-zA-Z0-9])/
_IN.1: /in(?![_a-zA-Z0-9])/
%override WHITESPACE: /[\t\n\f\r ]+/
%override COMMENT: /\/\/[^\n]*/
ESCAPED_IDENT: /`[a-zA-Z0-9_.\-\/ ]+`/

%ignore WHITESPACE
%ignore COMMENT
"""


def make_tables() -> str:
    """Return the content of `tables.json`, which depends only on the grammar and the versions of
    lark and cel-python. Raises ModuleNotFoundError if they aren't installed.
    """
    import lark

    folder = _cel_python()
    grammar = _grammar()
    parser = lark.Lark(
        grammar,
        parser="lalr",
        lexer="basic",
        start="expr",
        import_paths=[str(folder)],
        propagate_positions=False,
        maybe_placeholders=True,
    )
    digest = sha256((folder / "cel.lark").read_bytes() + grammar.encode()).hexdigest()
    document = {"lark": lark.__version__, "grammar": digest, **_lexer(parser), **_automaton(parser)}
    lines = (f'"{key}": {_lines(value)}' for key, value in document.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lines(value: Any) -> str:
    """Return a value as JSON, with one line for each item of a list."""
    if isinstance(value, list):
        return "[\n" + ",\n".join(f" {json.dumps(item)}" for item in value) + "\n]"
    return json.dumps(value)


def _cel_python() -> Path:
    spec = find_spec("celpy")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(
            "cel-python isn't installed, but the grammar tables are generated from it"
        )
    return Path(next(iter(spec.submodule_search_locations)))


def _grammar() -> str:
    overrides = (
        _OVERRIDES.replace("<line_raw>", _regex(_LINE_RAW))
        .replace("<line>", _regex(_LINE))
        .replace("<block>", _regex(_BLOCK))
    )
    return f"%import cel ({_IMPORTED})\n{overrides}"


def _regex(pattern: str) -> str:
    return pattern.replace("/", r"\/")


def _lexer(parser: Lark) -> dict[str, Any]:
    """Return the terminals in the order in which they are tried, and the terminals
    between words.
    """
    terminals = sorted(
        parser.terminals,
        key=lambda t: (-t.priority, -t.pattern.max_width, -len(t.pattern.value), t.name),
    )
    return {
        "terminals": [[t.name, t.pattern.to_regexp()] for t in terminals],
        "ignored": sorted(parser.ignore_tokens),
    }


def _automaton(parser: Lark) -> dict[str, Any]:
    """Return the rules and states, numbered in a fixed order, because lark's order isn't
    guaranteed.
    """
    from lark.tools.serialize import serialize

    written = io.StringIO()
    serialize(parser, written)  # type: ignore[no-untyped-call]  # lark's tool for tables as JSON has no annotations
    document = json.loads(written.getvalue())
    table = document["data"]["parser"]["parser"]
    written_rules = {
        int(key): _rule(value)
        for key, value in document["memo"].items()
        if value["__type__"] == "Rule"
    }
    rules = sorted(set(written_rules.values()), key=json.dumps)
    numbers = {key: rules.index(rule) for key, rule in written_rules.items()}
    states: dict[int, dict[str, list[Any]]] = {
        int(state): dict(
            sorted((table["tokens"][token], action) for token, action in actions.items())
        )
        for state, actions in table["states"].items()
    }
    renamed = _in_order(states, table["start_states"]["expr"])
    symbols = [
        symbol for value in document["memo"].values() for symbol in value.get("expansion", ())
    ]
    return {
        "kept": sorted({symbol["name"] for symbol in symbols if symbol.get("filter_out") is False}),
        "rules": rules,
        "states": [_state(states[state], renamed, numbers) for state in renamed],
        "end": renamed[table["end_states"]["expr"]],
    }


_SHIFT: Final = 0


def _in_order(states: dict[int, dict[str, list[Any]]], start: int) -> dict[int, int]:
    """Return new numbers of the states, in the order in which they are reached from the start."""
    reached = [start]
    for state in reached:
        targets = (target for kind, target in states[state].values() if kind == _SHIFT)
        reached += [t for t in dict.fromkeys(targets) if t not in reached]
    return {state: number for number, state in enumerate(reached)}


def _state(
    actions: dict[str, list[Any]], renamed: dict[int, int], rules: dict[int, int]
) -> dict[str, Any]:
    """Return the next states by symbol, and the lookahead words of each rule's reduction."""
    goto = {symbol: renamed[target] for symbol, (kind, target) in actions.items() if kind == _SHIFT}
    reduce: dict[int, list[str]] = {}
    for symbol, (kind, target) in actions.items():
        if kind != _SHIFT:
            reduce.setdefault(rules[target["@"]], []).append(symbol)
    return {
        "goto": goto,
        "reduce": [[rule, " ".join(symbols)] for rule, symbols in sorted(reduce.items())],
    }


def _rule(rule: dict[str, Any]) -> tuple[str, str, int, tuple[int | None, ...]]:
    """Return the rule's result, its name (empty if it returns its only value), its length, and the
    values that it uses. A value is its position in the rule, or None for a missing optional part.
    """
    expansion, options = rule["expansion"], rule["options"]
    taken: list[int | None] = []
    places = iter(range(len(expansion)))
    for is_absent in options["empty_indices"] or [False] * len(expansion):
        place = None if is_absent else next(places)
        if place is None or options["keep_all_tokens"] or not expansion[place].get("filter_out"):
            taken.append(place)
    passes_on = options["expand1"] and not rule["alias"] and len(taken) == 1
    name = "" if passes_on else rule["alias"] or rule["origin"]["name"]
    return rule["origin"]["name"], name, len(expansion), tuple(taken)


if __name__ == "__main__":
    PATH.write_text(make_tables(), encoding="utf-8")
