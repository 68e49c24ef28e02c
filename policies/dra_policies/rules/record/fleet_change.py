"""How fixes describe a change of the fleet, from which a new plan follows."""

from __future__ import annotations

from typing import Final

FLEET: Final = (
    "the fleet definition (`pulumi-dra:fleet` in the stack configuration, or the fleet file)"
)
PLAN_AGAIN: Final = "update the plan with `pulumi-dra plan --stack STACK --write`"
