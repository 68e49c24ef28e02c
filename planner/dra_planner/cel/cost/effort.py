"""Work that cost does not pay for.

Upstream's cost counts calls, so that a call may be cheap and its work long all the same: comparing
lists within lists that bindings have doubled again and again, sums of numbers of twenty thousand
digits, a new pattern for every turn of a loop. Such work is counted here, in units of about a tenth
of a microsecond, and ends the evaluation when it gets out of hand. What a person writes takes some
hundred units.
"""

from __future__ import annotations

import threading
from typing import Final

from dra_planner.cel.values import CostExceeded

LIMIT: Final = 200_000


class EffortExceeded(CostExceeded):
    """More work than one evaluation may make; nothing absorbs this."""


class _Meter(threading.local):
    spent = 0


METER: Final = _Meter()
"""What the evaluation of this thread has spent; set to 0 when one begins."""


def spend(units: int) -> None:
    """Counts work before it is done. Raises `EffortExceeded`."""
    METER.spent += units
    if METER.spent > LIMIT:
        raise EffortExceeded
