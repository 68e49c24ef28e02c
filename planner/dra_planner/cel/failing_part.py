"""Find the part of a selector that causes its error on a device."""

from __future__ import annotations

from typing import Any

from dra_planner.cel.checking.read_paths import paths_read
from dra_planner.cel.cost.effort import METER
from dra_planner.cel.device import DeviceView, prepare
from dra_planner.cel.dialect import Dialect
from dra_planner.cel.evaluation.evaluator import compile_tree
from dra_planner.cel.evaluation.state import State
from dra_planner.cel.results import Path
from dra_planner.cel.selector import BUDGET, Selector
from dra_planner.cel.stack_depth import room_for
from dra_planner.cel.syntax.printer import spell
from dra_planner.cel.tree import Fold, SyntaxNode, depth
from dra_planner.cel.values import CelError, CostExceeded, Panic, UnknownError


def failing_part(selector: Selector, device: Any, error: str) -> SyntaxNode | None:
    """Return the smallest part of the selector that fails on the device with this error.

    Returns None if no part fails by itself, for example if the result isn't a bool, or if the error
    is inside a macro. Raises `DeviceError` if the device isn't in a form of `Selector.matches`.
    """
    view = prepare(device)
    with room_for(depth(selector.tree)):
        found: SyntaxNode | None = None
        parts: tuple[SyntaxNode, ...] = (selector.tree,)
        while failing := [each for each in parts if _error(each, selector.dialect, view) == error]:
            found, parts = failing[0], _parts(failing[0])
        return found


def source_text(selector: Selector, node: SyntaxNode) -> str:
    """Return a part of the selector with the quotation marks of the selector, or "" if the part
    can't be printed.
    """
    text = spell(node) or ""
    quoted = text.replace('"', "'")
    return quoted if quoted in selector.text else text


def path_read(node: SyntaxNode) -> Path:
    """Return the path of the device that a part reads, or () if it isn't exactly one path."""
    paths = paths_read(node)
    return next(iter(paths)) if len(paths) == 1 else ()


def _parts(node: SyntaxNode) -> tuple[SyntaxNode, ...]:
    """Return the parts of a node, except for parts of a macro that read the macro's variables."""
    return (node.range,) if isinstance(node, Fold) else node.children()


def _error(node: SyntaxNode, dialect: Dialect, view: DeviceView) -> str:
    """Return the error of a part, or "" if it doesn't fail."""
    METER.spent = 0
    try:
        closure, slots = compile_tree(node, dialect)
        closure(State(view, view.quantities(), slots, BUDGET))
    except CelError as error:
        return error.message
    except (CostExceeded, Panic, UnknownError):
        return ""
    return ""
