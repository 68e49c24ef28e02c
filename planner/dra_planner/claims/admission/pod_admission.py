"""The pod fields that admission sets, and the pods that it rejects."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from dra_planner.claims.admission.limit_ranges import refuse as refuse_by_limits
from dra_planner.claims.admission.limit_ranges import with_defaults as with_limit_defaults
from dra_planner.claims.admission.missing_objects import refuse_missing
from dra_planner.claims.admission.pod_security import refuse_insecure
from dra_planner.claims.admission.priorities import refuse_priority
from dra_planner.claims.admission.runtime_classes import refuse_runtime_class, with_runtime_class
from dra_planner.claims.extended_resources import tolerate_extended_resources
from dra_planner.claims.queue_flavors import flavor_of, with_flavor
from dra_planner.manifests import Manifests
from dra_planner.model import LimitRange, PodSpec, PodTemplate, Reason, Workload


class PodAdmission(Struct, frozen=True):
    """The admission of pods.

    `tolerates_extended_resources` means that admission adds tolerations for the taints of requested
    extended resources.
    """

    manifests: Manifests
    tolerates_extended_resources: bool

    def created(self, template: PodTemplate, workload: Workload) -> PodTemplate:
        """Return the template with the additions of admission and of a queue."""
        spec = with_limit_defaults(template.spec, self._limits(workload.meta.namespace))
        spec = with_runtime_class(spec, self.manifests.runtime_classes)
        spec = with_flavor(spec, flavor_of(spec, workload, self.manifests.queues))
        if self.tolerates_extended_resources:
            spec = tolerate_extended_resources(spec)
        return replace(template, spec=spec)

    def refusal(self, template: PodTemplate, created: PodSpec, workload: Workload) -> Reason | None:
        """Return why admission rejects the pods of a template, which are `created` with its
        additions, or why they never run without an object that doesn't exist, or None.
        """
        namespace = workload.meta.namespace
        return (
            refuse_priority(created, self.manifests)
            or refuse_by_limits(created, self._limits(namespace))
            or refuse_runtime_class(template.spec, self.manifests)
            or refuse_insecure(template, namespace, self.manifests)
            or refuse_missing(workload, template, self.manifests)
        )

    def _limits(self, namespace: str) -> list[LimitRange]:
        return [each for each in self.manifests.limit_ranges if each.meta.namespace == namespace]
