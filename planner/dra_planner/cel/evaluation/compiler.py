"""What the parts of the compiler ask of the whole."""

from __future__ import annotations

from typing import Protocol

from dra_planner.cel.dialect import Dialect
from dra_planner.cel.evaluation.state import Closure
from dra_planner.cel.tree import SyntaxNode


class Compiler(Protocol):
    """Compiles nodes to closures; knows which names are bound to which slots, and whether their
    values are lazy.

    `sees_form`: whether the expression can tell the form of a quantity.
    """

    dialect: Dialect
    sees_form: bool
    scopes: list[dict[str, tuple[int, bool]]]

    def compile(self, node: SyntaxNode, charged: bool = True) -> Closure:
        """The closure of a node. `charged`: whether reading a variable costs its 1 (not as a branch
        of ?:).
        """

    def new_slot(self) -> int:
        """A place for a local variable."""

    def is_attribute(self, node: SyntaxNode) -> bool:
        """Whether upstream's planner takes the node for an attribute: something read, not
        computed.
        """
