"""Read manifests and compile their selectors. Only this module uses both the reader and CEL."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from dra_planner.cel import Dialect, RejectedSelector, compile
from dra_planner.manifests import Manifests, SelectorRefusal, read_manifests
from dra_planner.releases import Features
from dra_planner.sources import Source

_MOST_KEPT: Final = 4096  # cached results for different selectors
_TOO_COMPLEX: Final = "too complex, exceeds cost limit"
"""Source of the wording:
kubernetes/kubernetes:pkg/apis/resource/validation/validation.go@v1.36.3.
"""


def read_checked(sources: Iterable[Source], features: Features) -> Manifests:
    """Return the contents of the sources.

    `diagnostics` contains the errors that the API server would report, including errors in
    selectors. Raises ManifestError if a text can't be read, with further errors in `others`.
    """
    return read_manifests(sources, features, check_selector=check_selector)


@lru_cache(maxsize=_MOST_KEPT)
def check_selector(expression: str, features: Features) -> SelectorRefusal | None:
    """Return why this version's API server rejects a selector, or None if it accepts the selector.

    Returns None also for a selector with features that this CEL implementation doesn't support,
    because uncertainty isn't a rejection.
    """
    compiled = compile(expression, Dialect.of(features, environment="new"))
    if not isinstance(compiled, RejectedSelector) or compiled.kind == "unsupported":
        return None
    is_cost = compiled.kind == "cost"
    return SelectorRefusal(
        _TOO_COMPLEX if is_cost else compiled.message, compiled.fix or "", is_forbidden=is_cost
    )
