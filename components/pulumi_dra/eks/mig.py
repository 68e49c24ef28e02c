"""A MIG layout → the instances that a node makes at boot."""

from dra_planner import catalog


def mig_instances(machine: str, layout: str) -> list[list[str] | None]:
    """Return for each GPU its instances in creation order, None for one that stays whole; raises CatalogError."""
    return [
        None if geometry is None else [instance.profile.name for instance in geometry]
        for geometry in catalog.mig_layout(catalog.machine("eks", machine), layout)
    ]
