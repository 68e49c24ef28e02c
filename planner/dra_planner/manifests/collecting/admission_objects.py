"""ValidatingAdmissionPolicies, their bindings, and the objects that they can deny."""

from __future__ import annotations

from dra_planner.manifests.manifests import AdmissionPolicies
from dra_planner.manifests.objects import KubernetesObject

GROUP = "admissionregistration.k8s.io"


class AdmissionObjects:
    """The policies and bindings of the manifests, and the created objects."""

    def __init__(self) -> None:
        self._policies: list[KubernetesObject] = []
        self._bindings: list[KubernetesObject] = []
        self._created: list[KubernetesObject] = []

    def add_policy(self, item: KubernetesObject) -> None:
        self._policies.append(item)

    def add_binding(self, item: KubernetesObject) -> None:
        self._bindings.append(item)

    def note(self, item: KubernetesObject, *, exists: bool) -> None:
        """Store an object unless it's already in the cluster."""
        if not exists:
            self._created.append(item)

    def found(self) -> AdmissionPolicies:
        """Return the policies. Without any, the objects aren't needed."""
        if not self._policies:
            return AdmissionPolicies()
        return AdmissionPolicies(
            policies=tuple(self._policies),
            bindings=tuple(self._bindings),
            created=tuple(self._created),
        )
