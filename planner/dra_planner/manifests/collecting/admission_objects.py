"""Admission policies and webhooks, and the objects that they can change or reject."""

from __future__ import annotations

from typing import Final

from dra_planner.manifests.manifests import AdmissionPolicies
from dra_planner.manifests.objects import KubernetesObject

GROUP: Final = "admissionregistration.k8s.io"
_OTHERS: Final = frozenset(
    {
        "MutatingAdmissionPolicy",
        "MutatingAdmissionPolicyBinding",
        "MutatingWebhookConfiguration",
        "ValidatingWebhookConfiguration",
    }
)
_ENGINES: Final = frozenset({"kyverno.io", "policies.kyverno.io", "constraints.gatekeeper.sh"})


class AdmissionObjects:
    """The policies and bindings of the manifests, and the created objects."""

    def __init__(self) -> None:
        self._policies: list[KubernetesObject] = []
        self._bindings: list[KubernetesObject] = []
        self._others: list[KubernetesObject] = []
        self._created: list[KubernetesObject] = []

    def add_policy(self, item: KubernetesObject) -> None:
        self._policies.append(item)

    def add_binding(self, item: KubernetesObject) -> None:
        self._bindings.append(item)

    def note(self, item: KubernetesObject, *, exists: bool) -> None:
        """Store policies, and every object that isn't in the cluster yet."""
        if (item.group == GROUP and item.kind in _OTHERS) or item.group in _ENGINES:
            self._others.append(item)
        if not exists:
            self._created.append(item)

    def found(self) -> AdmissionPolicies:
        """Return the policies, and the objects if there are any policies."""
        if not self._policies and not self._others:
            return AdmissionPolicies()
        return AdmissionPolicies(
            policies=tuple(self._policies),
            bindings=tuple(self._bindings),
            others=tuple(self._others),
            created=tuple(self._created),
        )
