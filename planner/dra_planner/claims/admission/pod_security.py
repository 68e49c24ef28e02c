"""Pods of controllers that Pod Security rejects.

The API server accepts the controller's object with only a warning, but then rejects all of its
pods. Source: kubernetes/kubernetes:staging/src/k8s.io/pod-security-admission/admission/admission.go
@v1.36.3.
"""

from __future__ import annotations

from typing import Final

from dra_planner.manifests import Manifests
from dra_planner.manifests.validation.pod_security import POD_SECURITY, pod_security_faults
from dra_planner.model import PodTemplate, Reason

_ENFORCE: Final = f"{POD_SECURITY}enforce"


def refuse_insecure(template: PodTemplate, namespace: str, manifests: Manifests) -> Reason | None:
    """Return why the Pod Security level of a namespace rejects the pods of a template, or None."""
    found = manifests.namespaces.get(namespace)
    level = found.labels.get(_ENFORCE, "") if found is not None else ""
    faults = pod_security_faults(template.written.get("spec") or {}, level)
    if not faults:
        return None
    return Reason(
        code="pod-security",
        message="the API server rejects the pods, because they violate the Pod Security level "
        f'"{level}" of namespace "{namespace}". Violations: {", ".join(faults)}',
        fix=f"correct these violations in the pod template, or set the {_ENFORCE} label of "
        f'namespace "{namespace}" to a less restrictive level',
        place=template.place,
    )
