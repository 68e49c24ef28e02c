"""The interface of the compiler for its parts."""

from __future__ import annotations

from typing import Protocol

from dra_planner.cel.dialect import Dialect
from dra_planner.cel.evaluation.state import Closure
from dra_planner.cel.tree import SyntaxNode


class Compiler(Protocol):
    """Compiles nodes to closures.

    Stores the slots of local names, and whether their values are lazy. `sees_form` is True if the
    expression can detect the format of a quantity.
    """

    dialect: Dialect
    sees_form: bool
    scopes: list[dict[str, tuple[int, bool]]]

    def compile(self, node: SyntaxNode, charged: bool = True) -> Closure:
        """Return the closure of a node. If `charged` is True, reading a variable costs 1. It's
        False in a branch of ?:.
        """

    def new_slot(self) -> int:
        """Return a slot for a local variable."""

    def is_attribute(self, node: SyntaxNode) -> bool:
        """Return True if upstream's planner treats the node as an attribute, which is read and not
        computed.
        """
