"""CEL selectors exactly as Kubernetes evaluates them.

    selector = compile('device.driver == "gpu.nvidia.com"', Dialect(minor=36))
    if isinstance(selector, Selector):
        outcome = selector.matches(device)

`compile` gives a `Selector`, or a `Refused` that says what the API server or the scheduler would refuse and why. A
selector's `matches` gives an `Outcome`: a match, no match, an error (which ends the pod's scheduling attempt), or
unknown when the answer hangs on a value that only the node knows. Importing this package is cheap; the parser is
loaded with the first compilation.
"""

from __future__ import annotations

from dra_planner.cel.dialect import Dialect
from dra_planner.cel.selector import ALL, BUDGET, DeviceError, Outcome, Refused, Selector, compile, explain, prepare

__all__ = [
    "ALL",
    "BUDGET",
    "DeviceError",
    "Dialect",
    "Outcome",
    "Refused",
    "Selector",
    "compile",
    "explain",
    "prepare",
]
