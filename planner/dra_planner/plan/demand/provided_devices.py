"""Devices and resources on a fleet's nodes, to recognize the names of other vendors' devices."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from dra_planner.claims import extended_resources
from dra_planner.claims.extended_resources import IMPLICIT_PREFIX
from dra_planner.drivers import driver_of, is_other_resource, publishers_of
from dra_planner.drivers.protocol.misspelled_names import is_misspelling
from dra_planner.model import PodSpec
from dra_planner.offers import Offer

_OF_KUBERNETES: Final = frozenset({"kubernetes.io", "k8s.io"})
"""Domains of names that no driver can own. A resource with such a domain is a mistake."""


class Provided(Struct, frozen=True):
    """Devices and resources on the nodes of some pools.

    `drivers` publish their devices, `resources` are the extended resources on the nodes, and
    `domains` are the domains of both and of the same vendors' device plugins.
    """

    drivers: frozenset[str]
    resources: frozenset[str]
    domains: frozenset[str]

    @classmethod
    def of(cls, offers: Iterable[Offer]) -> Provided:
        """Return the devices and resources on the nodes of these offers."""
        offers = tuple(offers)
        drivers = frozenset(part.driver for offer in offers for part in offer.slices)
        resources = frozenset(name for offer in offers for name in offer.node.allocatable)
        members = filter(None, map(driver_of, drivers))
        plugins = (name for each in members for name in each.plugin_resources)
        named = (name.partition("/")[0] for name in (*resources, *plugins) if "/" in name)
        domains = _OF_KUBERNETES.union(map(_domain, (*drivers, *named)))
        return cls(drivers, resources, domains)

    def is_of_another_vendor(self, name: str) -> bool:
        """Return whether the name of a class or driver ("gpu.intel.com") is outside the known
        domains.

        Names similar to a known domain count as misspelled.
        """
        return "." in name and not self._knows_domain(name)

    def is_of_others(self, resource: str) -> bool:
        """Return whether an extended resource is neither on the nodes nor a resource of their
        vendors. Its domain can be one word, such as rdma. The implicit resource of a class belongs
        to the class's vendor.
        """
        if resource in self.resources:
            return False
        if resource.startswith(IMPLICIT_PREFIX):
            return not self._knows_domain(resource.removeprefix(IMPLICIT_PREFIX))
        return not self._knows_domain(resource.partition("/")[0]) or is_other_resource(resource)

    def unknown_resources(self, pod: PodSpec) -> frozenset[str]:
        """Return the resources of others that a pod requests, and that don't count the devices of
        any known driver. Whether a node has such a resource doesn't depend on its machine type.
        """
        return frozenset(
            name
            for name in extended_resources(pod)
            if self.is_of_others(name) and not publishers_of(name)
        )

    def _knows_domain(self, name: str) -> bool:
        domain = _domain(name)
        return domain in self.domains or any(is_misspelling(domain, each) for each in self.domains)


def _domain(name: str) -> str:
    return ".".join(name.split(".")[-2:])
