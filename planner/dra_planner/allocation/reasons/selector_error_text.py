"""The sentences about a selector that fails on a device, for all commands and rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dra_planner.allocation.node.template import Template
from dra_planner.allocation.reasons.selector_causes import SelectorCause, find_cause
from dra_planner.allocation.search.attempt_errors import AttemptError
from dra_planner.claims.requested_drivers import named_drivers
from dra_planner.drivers import driver_of
from dra_planner.model import Shape
from dra_planner.wording import listed, noun

_CONSEQUENCE: Final = "A CEL error ends the pod's scheduling cycle, even if other devices match"
_FORMS: Final = {"quantity": "quantity", "semver": "semantic version"}
_KINDS: Final = {"attributes": "attribute", "capacity": "capacity", "": ""}
_OTHER_KINDS: Final = {"attributes": "a capacity", "capacity": "an attribute", "": ""}


def request_place(shape: Shape, claim: int, request: str) -> str:
    """Return the place of a request in a pod. If the pod has only one claim, the claim isn't
    named.
    """
    of_claim = f' of claim "{shape.claims[claim].name}"' if len(shape.claims) > 1 else ""
    return f'request "{request}"{of_claim}'


def selector_error_text(error: AttemptError, shape: Shape, template: Template) -> tuple[str, str]:
    """Return a clause about a selector's error, and the sentences that follow it.

    The clause names the selector, the cause, and the error. The error must have a selector.
    """
    failed = error.selector
    assert failed is not None  # see above
    subject = f"selector {failed.term.position} of {_owner(error, shape)}"
    if failed.stage == "compile":
        return f"{subject} doesn't compile, so scheduling fails: {failed.error}", ""
    cause = find_cause(error, template)
    details = [_hint(cause), _CONSEQUENCE, *_published(cause)]
    clause = f'{subject} {_cause_text(cause)} (CEL error: "{failed.error}")'
    return clause, ". ".join(filter(None, details))


def guard_of_driver(error: AttemptError, shape: Shape, template: Template) -> str:
    """Return the fix for a selector that reads attributes of one driver and fails on devices of
    another driver, which its class also matches. Returns "" for other errors.
    """
    failed, cause = error.selector, find_cause(error, template)
    if failed is None or cause.domain in ("", cause.driver) or driver_of(cause.domain) is None:
        return ""
    if cause.driver in named_drivers(_expressions_of_classes(shape, template)):
        return ""  # the class is for the other driver, so the selector is the mistake
    return (
        f"begin the selector of {_owner(error, shape)} with `device.driver == '{cause.domain}' &&`, "
        f"so that it doesn't fail on devices of {cause.driver}"
    )


def _expressions_of_classes(shape: Shape, template: Template) -> Iterator[str]:
    """Yield the selectors of all classes that a pod's claims request."""
    names = {
        way.device_class_name
        for claim in shape.claims
        for request in claim.spec.requests
        for way in request.alternatives
    }
    for name in names & template.classes.keys():
        yield from (each.expression for each in template.classes[name].selectors)


def _owner(error: AttemptError, shape: Shape) -> str:
    assert error.selector is not None  # only called for errors of selectors
    if error.selector.term.owner:
        return f"DeviceClass {error.selector.term.owner}"
    names = [str(each.shared or f"{shape.namespace}/{each.name}") for each in shape.claims]
    return request_place(shape, names.index(error.claim), error.request)


def _cause_text(cause: SelectorCause) -> str:
    """Return the predicate of the sentence, whose subject is the selector."""
    kind = _KINDS[cause.reads]
    name = cause.name if cause.domain == cause.driver else f"{cause.domain}/{cause.name}"
    match cause.kind:
        case "other-kind":
            other = _OTHER_KINDS[cause.reads]
            as_kind = "an attribute" if cause.reads == "attributes" else "a capacity"
            return f'reads "{name}" as {as_kind}, but {cause.driver} publishes it as {other}'
        case "other-domain":
            return (
                f'reads the {kind} "{cause.domain}/{cause.name}", but {cause.driver} publishes '
                f'"{cause.instead}/{cause.name}"'
            )
        case "some-devices":
            return f'reads the {kind} "{name}", which only some devices on the node publish'
        case "similar-name" | "renamed" | "not-published":
            return f'reads the {kind} "{name}", which {cause.driver} doesn\'t publish'
        case "invalid-literal" if cause.function in _FORMS:
            return f'fails, because "{cause.name}" isn\'t a valid {_FORMS[cause.function]}'
        case "version-as-text":
            return (
                f"compares {cause.name}, which is a version, with text or a number: `{cause.part}`"
            )
        case "no-bool":
            return "doesn't return true or false"
        case _:
            return f"fails at `{cause.part}`" if cause.part else "fails"


def _hint(cause: SelectorCause) -> str:
    """Return the sentence about the name that was probably meant, or ""."""
    if cause.kind == "similar-name":
        return f'The driver publishes a similar {_KINDS[cause.reads]}, "{cause.instead}"'
    return cause.instead[:1].upper() + cause.instead[1:] if cause.kind == "renamed" else ""


def _published(cause: SelectorCause) -> list[str]:
    """Return the sentences with all names that the driver publishes, if no name is similar."""
    if cause.kind != "not-published":
        return []
    kinds = (("attribute", cause.attributes), ("capacity", cause.capacities))
    return [
        f"Published {noun(len(names), kind)}: {listed(names)}" for kind, names in kinds if names
    ]
