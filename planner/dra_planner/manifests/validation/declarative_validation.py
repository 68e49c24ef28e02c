"""What releases with `declared_validation` find by the declarations of their types.

Their written rules stop at what they refuse whole: a request with both forms, a list that is too
long. The declared ones are looked at in any case. Source:
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
    """Yield those of the faults that the declarations tell."""
    return (violation for violation in found if _is_declared(violation))


def _is_declared(violation: Violation) -> bool:
    pattern = _FAULTS.get(violation.reason)
    return bool(_ANY_FAULT.search(violation.field) or (pattern and pattern.search(violation.field)))
