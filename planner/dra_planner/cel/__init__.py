"""Evaluate CEL selectors in the same way as Kubernetes.

    selector = compile('device.driver == "gpu.nvidia.com"', Dialect.of(features_of(36), "stored"))
    if isinstance(selector, Selector):
        outcome = selector.matches(device)

`compile` returns a `Selector`, or a `RejectedSelector` with the reason why the API server or the
scheduler would reject it. A selector's `matches` returns a `SelectorOutcome`: a match, no match, an
error (which ends the pod's scheduling attempt), or unknown if the answer depends on a value that is
known only at run time.

The steps of an expression. Each is a package or module that imports only those above it:

    dialect, types, values, tree, device    shared by all steps
    syntax       text → tree: the parser, its tables, and macros; and tree → text
    libraries    the operators and functions on values
    checking     types, overloads, checks of literals, and the paths that the tree reads
    cost         the estimate, the run-time cost, and the work that neither counts
    evaluation   tree → closures, and the state of an evaluation
    selector     a compiled selector, evaluated on devices
    advice       fixes for rejected selectors
    compilation  runs the steps in order
    explanation  a selector explained term by term

The names below are loaded on first use, so importing the package is fast.
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
