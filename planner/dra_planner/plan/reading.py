"""Manifests read with their selectors compiled: the one place that knows both the reader and
CEL.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from dra_planner.cel import Dialect, RejectedSelector, compile
from dra_planner.manifests import Manifests, SelectorRefusal, read_manifests
from dra_planner.releases import Features
from dra_planner.sources import Source

_MOST_KEPT: Final = 4096  # answers to different selectors
_TOO_COMPLEX: Final = "too complex, exceeds cost limit"
"""Source of the wording:
kubernetes/kubernetes:pkg/apis/resource/validation/validation.go@v1.36.3.
"""


def read_checked(sources: Iterable[Source], features: Features) -> Manifests:
    """Return all that the sources say; what the API server would refuse, selectors included, is
    among `diagnostics`.

    Raises ManifestError where a text cannot be read at all, with `others` for further faults.
    """
    return read_manifests(sources, features, check_selector=check_selector)


@lru_cache(maxsize=_MOST_KEPT)
def check_selector(expression: str, features: Features) -> SelectorRefusal | None:
    """Return why the API server of this release refuses a selector, None where it takes it.

    None as well for a selector that uses what our CEL does not support: nobody can say, and a doubt
    refuses nothing.
    """
    compiled = compile(expression, Dialect.of(features, environment="new"))
    if not isinstance(compiled, RejectedSelector) or compiled.kind == "unsupported":
        return None
    is_cost = compiled.kind == "cost"
    return SelectorRefusal(
        _TOO_COMPLEX if is_cost else compiled.message, compiled.fix or "", is_forbidden=is_cost
    )
