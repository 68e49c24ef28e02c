"""CEL selectors exactly as Kubernetes evaluates them.

    selector = compile('device.driver == "gpu.nvidia.com"', Dialect.of(features_of(36), "stored"))
    if isinstance(selector, Selector):
        outcome = selector.matches(device)

`compile` returns a `Selector`, or a `RejectedSelector` with the reason why the API server or the
scheduler would reject it. A selector's `matches` returns a `SelectorOutcome`: a match, no match, an
error (which ends the pod's scheduling attempt), or unknown when the answer depends on a value that
is known at run time only.

The way of an expression, one package per step, each importing only those before it:

    dialect, types, values, tree, device    what the steps share
    syntax       string → tree: the parser and its tables, macros; and back to a string
    libraries    the operators and functions on values
    checking     types, overloads, limits on literals; what the tree reads
    cost         the estimate before, the price while running, and the work that neither counts
    evaluation   tree → closures, and the state of one evaluation
    selector     the compiled selector on devices
    advice       what to write instead of what was refused
    compilation  the steps in their order
    explanation  a selector taken apart, term by term

The names below are loaded on first use, so that importing the package costs nothing.
"""

from __future__ import annotations

from dra_planner.cel.checking.read_paths import ALL
from dra_planner.cel.compilation import compile
from dra_planner.cel.device import DeviceError, prepare
from dra_planner.cel.dialect import Dialect
from dra_planner.cel.explanation import explain
from dra_planner.cel.results import (
    RejectedSelector,
    SelectorExplanation,
    SelectorOutcome,
    SelectorTerm,
    ValuesAt,
)
from dra_planner.cel.selector import BUDGET, Selector

__all__ = [
    "ALL",
    "BUDGET",
    "DeviceError",
    "Dialect",
    "RejectedSelector",
    "Selector",
    "SelectorExplanation",
    "SelectorOutcome",
    "SelectorTerm",
    "ValuesAt",
    "compile",
    "explain",
    "prepare",
]


def __dir__() -> list[str]:
    return __all__
