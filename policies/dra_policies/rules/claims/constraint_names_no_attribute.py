"""A constraint on an attribute that no version of the NVIDIA driver publishes."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import Final

from dra_planner.claims.manifest_claims import written_claims
from dra_planner.drivers import nvidia
from dra_policies.rules.rule import Finding, Rule
from dra_policies.view.stack_view import StackView

_DOMAINS: Final = nvidia.DRIVER.domains


def check(view: StackView) -> Iterator[Finding]:
    known = _known()
    for claim in written_claims(view.manifests) if view.manifests else ():
        for constraint in claim.spec.constraints:
            for name in filter(None, (constraint.match_attribute, constraint.distinct_attribute)):
                if name in known or name.partition("/")[0] not in _DOMAINS:
                    continue
                near = _nearest(name)
                yield Finding(
                    message=f"{claim.title}: no known version of the NVIDIA DRA driver publishes "
                    f'"{name}", so no device satisfies the constraint',
                    fix=f'use "{near}"' if near else "use an attribute from docs/catalog.md",
                    place=claim.place,
                )


def _nearest(name: str) -> str:
    """Return the most similar attribute of the same domain, or ""."""
    domain, _, identifier = name.partition("/")
    own = sorted(each.partition("/")[2] for each in _known() if each.startswith(f"{domain}/"))
    lower = {each.lower(): each for each in own}
    return next(
        (f"{domain}/{lower[each]}" for each in get_close_matches(identifier.lower(), lower, n=1)),
        "",
    )


@cache
def _known() -> frozenset[str]:
    """Return the attributes that any version publishes."""
    releases = nvidia.driver_releases()
    own = {
        name for each in releases for gate in each.feature_gates for name in each.behind_gate(gate)
    }
    gated = {f"{_DOMAINS[0]}/{name}" for name in own}
    return frozenset(
        gated | {each.qualified_name for release in releases for each in release.attributes}
    )


RULE = Rule(
    id="constraint-names-no-attribute",
    description="A constraint uses an attribute that the NVIDIA DRA driver doesn't publish.",
    why="A device without the attribute never satisfies the constraint, so the claim is never "
    "allocated.",
    fix="Use an attribute from docs/catalog.md.",
    level="advisory",
    check=check,
)
