"""Limit the work that the CEL cost doesn't count.

Upstream's cost counts calls, so a cheap call can take long: comparing nested lists that bindings
have doubled repeatedly, adding numbers with twenty thousand digits, or compiling a new pattern in
every iteration. This work is counted here, in units of about a tenth of a microsecond, and the
evaluation ends if there is too much. Ordinary expressions use a few hundred units.
"""

from __future__ import annotations

import threading
from typing import Final

from dra_planner.cel.values import CostExceeded

LIMIT: Final = 200_000


class EffortExceeded(CostExceeded):
    """The evaluation needs more work than allowed. No operator absorbs this error."""


class _Meter(threading.local):
    spent = 0


METER: Final = _Meter()
"""The work of the evaluation in this thread. It's set to 0 when an evaluation begins."""


def spend(units: int) -> None:
    """Count work before it is done. Raises `EffortExceeded`."""
    METER.spent += units
    if METER.spent > LIMIT:
        raise EffortExceeded
