"""The grammar: that of the installed cel-python, with the rules replaced in which Kubernetes' dialect differs.

The grammar file of cel-python is read where it is installed. Replaced are the terminals (signs belong to expressions,
escapes are checked, whole words only), the places for `?` of optionals, trailing commas, backquoted fields and chains
of `!` and `-`; and && and || take any number of operands, so that a long chain is a flat one.
Source of the syntax: google/cel-go:parser/gen/CEL.g4@v0.26.0.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lark import Lark

_IMPORTED = (
    "expr, conditionalor, conditionaland, relation, relation_lt, relation_le, relation_gt, relation_ge, relation_eq, "
    "relation_ne, relation_in, addition, addition_add, addition_sub, multiplication, multiplication_mul, "
    "multiplication_div, multiplication_mod, unary, member, member_dot, member_dot_arg, member_index, member_object, "
    "primary, dot_ident_arg, dot_ident, ident_arg, ident, paren_expr, list_lit, map_lit, exprlist, fieldinits, "
    "mapinits, literal, INT_LIT, UINT_LIT, FLOAT_LIT, STRING_LIT, MLSTRING_LIT, BYTES_LIT, BOOL_LIT, NULL_LIT, IDENT, "
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


def tables(builder: object) -> Lark:
    """The parser's tables, with the methods of `builder` as callbacks, one per rule. They take some 100 ms to make."""
    from lark import Lark

    spec = find_spec("celpy")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("cel-python is not installed: its grammar is needed to read selectors")
    folder = Path(next(iter(spec.submodule_search_locations)))
    overrides = (
        _OVERRIDES.replace("<line_raw>", _regex(_LINE_RAW))
        .replace("<line>", _regex(_LINE))
        .replace("<block>", _regex(_BLOCK))
    )
    return Lark(
        f"%import cel ({_IMPORTED})\n{overrides}",
        parser="lalr",
        transformer=builder,  # callbacks are looked up in it by name
        lexer="basic",
        start="expr",
        import_paths=[str(folder)],
        propagate_positions=False,
        maybe_placeholders=True,
    )


def _regex(pattern: str) -> str:
    return pattern.replace("/", r"\/")
