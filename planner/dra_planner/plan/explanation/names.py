"""Names of the claims, pods, and pools that can be explained, and the lookup of a given name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from msgspec import Struct

from dra_planner.errors import PlannerError
from dra_planner.model import Shape, ShapeClaim, WorkloadRef, generated_claim_name
from dra_planner.plan.judgement.judgement import Judgement
from dra_planner.wording import noun, use_one_of

MOST_NAMES: Final = 12
"""The largest number of names in a message."""


class FoundClaim(NamedTuple):
    """A claim, its pod shape, and its workloads. Equal pods share a shape."""

    shape: Shape
    claim: ShapeClaim
    workloads: frozenset[WorkloadRef]


class ExplainableNames(Struct, frozen=True):
    """Everything that `explain` accepts: claims and pods as NAMESPACE/NAME, and pools."""

    claims: tuple[str, ...]
    pods: tuple[str, ...]
    pools: tuple[str, ...]


def explainable_names(judgement: Judgement) -> ExplainableNames:
    """Return the names of all claims, workloads, and pools of a plan. Each claim has one name."""
    claims = {
        _first_name(shape, claim) for shape in judgement.demand.shapes for claim in shape.claims
    }
    return ExplainableNames(
        claims=tuple(sorted(claims)),
        pods=workload_names(judgement),
        pools=tuple(offer.name for offer in judgement.offers),
    )


def workload_names(judgement: Judgement) -> tuple[str, ...]:
    """Return NAMESPACE/NAME of every workload, sorted."""
    refs = {ref for shape in judgement.demand.shapes for ref in workloads_of(shape)}
    refs |= {each.member.workload for each in judgement.demand.blocked}
    return tuple(sorted({f"{ref.namespace}/{ref.name}" for ref in refs}))


def workloads_of(shape: Shape) -> frozenset[WorkloadRef]:
    """Return the workloads whose pods have a shape."""
    return frozenset(member.workload for member in shape.members)


def full_name(name: str, known: Iterable[str]) -> str:
    """Return a name with its namespace.

    A name that exists in only one namespace gets this namespace. Other names get default.
    """
    if "/" in name:
        return name
    found = {each for each in known if each.partition("/")[2] == name}
    return found.pop() if len(found) == 1 else f"default/{name}"


def find_claim(judgement: Judgement, name: str) -> tuple[str, FoundClaim]:
    """Return the claim with a name, and its full name for messages.

    `name` can also be the name of a pod's claim, of its entry in a pod, or of a
    ResourceClaimTemplate. Raises PlannerError with the existing claims if the claim isn't found, or
    with the template's claims if there are several.
    """
    claims = dict(_claims(judgement))
    templates = list(_by_template(judgement))
    name = full_name(name, [*claims, *(each for each, _ in templates)])
    if name in claims:
        return _title(claims[name]), claims[name]
    entries = [each for entry, each in _by_entry(judgement) if entry == name]
    created = [each for template, each in templates if template == name]
    for found in (entries, created):
        if len(found) == 1:
            return _title(found[0]), found[0]
    if created:
        names = sorted({_first_name(each.shape, each.claim) for each in created})
        raise PlannerError(
            f'"{name}" is ambiguous, because the template generates {len(created)} claims',
            fix=use_some("claim", names),
        )
    here = use_some("claim", explainable_names(judgement).claims)
    short = {each.partition("/")[2]: each for each in (*(each for each, _ in templates), *claims)}
    nearest = get_close_matches(name.partition("/")[2], short, 1)
    known = f'did you mean "{short[nearest[0]]}"?' if nearest else here
    raise PlannerError(f'no workload has a claim "{name}"', fix=known)


def use_some(singular: str, names: Sequence[str]) -> str:
    """Return the fix that lists names, for example "use pod a/b" or "use one of these pods: …"."""
    if not names:
        return f"pass manifests that contain a {singular}"
    if len(names) == 1:
        return use_one_of(singular, names)
    return f"use one of these {noun(2, singular)}: {some_names(names)}"


def some_names(names: Sequence[str]) -> str:
    """Return the first names as text, and the number of other names."""
    if len(names) <= MOST_NAMES:
        return ", ".join(names) or "none"
    return f"{', '.join(names[:MOST_NAMES])}, and {len(names) - MOST_NAMES} more"


def _first_name(shape: Shape, claim: ShapeClaim) -> str:
    """Return the full name of a claim of the first workload of a shape."""
    return claim.title(min(workloads_of(shape)))


def _title(found: FoundClaim) -> str:
    return found.claim.title(min(found.workloads))


def _by_entry(judgement: Judgement) -> Iterator[tuple[str, FoundClaim]]:
    """Yield the claims of pods by the names of their entries in the pods, as reasons print them."""
    for shape in judgement.demand.shapes:
        for claim in shape.claims:
            if claim.shared is None:
                name = f"{shape.namespace}/{claim.name}"
                yield name, FoundClaim(shape, claim, workloads_of(shape))


def _by_template(judgement: Judgement) -> Iterator[tuple[str, FoundClaim]]:
    """Yield the claims of shapes by the ResourceClaimTemplates of their pods."""
    for shape in judgement.demand.shapes:
        templates = {str(key) for member in shape.members for key in member.templates}
        for template in sorted(templates):
            for claim in shape.claims:
                if claim.shared is None:
                    yield template, FoundClaim(shape, claim, workloads_of(shape))


def _claims(judgement: Judgement) -> Iterator[tuple[str, FoundClaim]]:
    """Yield every name of a claim: its own name, or the generated names for its entries in pods."""
    for shape in judgement.demand.shapes:
        for claim in shape.claims:
            if claim.shared is not None:
                yield str(claim.shared), FoundClaim(shape, claim, workloads_of(shape))
                continue
            for member in shape.members:
                ref = member.workload
                pods = (ref.name, ref.pod_name(0)) if member.figures.steady else (ref.name,)
                for pod in dict.fromkeys(pods):
                    name = f"{ref.namespace}/{generated_claim_name(pod, claim.name)}"
                    yield name, FoundClaim(shape, claim, frozenset((ref,)))
