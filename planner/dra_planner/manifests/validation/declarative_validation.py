"""Errors that declarations in the API types find, in versions with `declared_validation`.

Handwritten rules stop at a value that they reject as a whole, such as a request with both forms or
a list that is too long. Declared rules are always evaluated. Source:
kubernetes/kubernetes:pkg/apis/resource/v1/zz_generated.validations.go@v1.37.0.
"""

from __future__ import annotations

import re
from typing import Final

from dra_planner.manifests.validation.violations import Violation, Violations

_ANY_FAULT: Final = re.compile(
    r"\.(allocationMode|tolerations\[\d+\]\.(key|operator|effect)|firstAvailable\[\d+\]\.deviceClassName"
    r"|taints\[\d+\]\.effect|consumesCounters\[\d+\]\.counterSet)$"
)
_FAULTS: Final = {
    "FieldValueTooMany": re.compile(
        r"\.(selectors|firstAvailable|consumesCounters|bindingConditions|bindingFailureConditions)$"
    ),
    "FieldValueDuplicate": re.compile(r"\.(firstAvailable|consumesCounters)\[\d+\]$"),
    "FieldValueTooLong": re.compile(r"\.attributes\[[^\]]*\]\.strings\[\d+\]$"),
    "FieldValueRequired": re.compile(r"\.counters$"),
    "FieldValueInvalid": re.compile(r"\.(counters|attributes\[[^\]]*\])$"),
}


def declared(found: Violations) -> Violations:
    """Yield the errors that the declarations find."""
    return (violation for violation in found if _is_declared(violation))


def _is_declared(violation: Violation) -> bool:
    pattern = _FAULTS.get(violation.reason)
    return bool(_ANY_FAULT.search(violation.field) or (pattern and pattern.search(violation.field)))
