"""The list of public names matches the code."""

from __future__ import annotations

import importlib
from pkgutil import iter_modules

import pytest

PACKAGES = [
    "dra_planner",
    "dra_planner.allocation",
    "dra_planner.cel",
    "dra_planner.fleet",
    "dra_planner.model",
    "dra_planner.offers",
    "dra_planner.plan",
    "dra_planner.planfile",
    "dra_planner.slices",
    "dra_policies.rules",
]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_listed_name_exists_and_the_list_is_sorted(package: str) -> None:
    module = importlib.import_module(package)
    assert all(hasattr(module, name) for name in module.__all__)
    assert sorted(module.__all__) == sorted(set(module.__all__))


def test_every_hosted_component_can_be_imported_by_name() -> None:
    import pulumi_dra
    from pulumi_dra.component_host import hosted_components

    names = [component.__name__ for component in hosted_components()]
    assert set(pulumi_dra.COMPONENTS) <= set(names)
    assert names == sorted(set(names))
    assert [getattr(pulumi_dra, name) for name in names] == hosted_components()


@pytest.mark.parametrize("package", [name for name in PACKAGES if name.startswith("dra_planner")])
def test_lazy_names_are_listed_and_are_not_modules(package: str) -> None:
    # Importing a module sets its name in the package: a name loaded on first use would be hidden by
    # it.
    module = importlib.import_module(package)
    homes = getattr(module, "_HOMES", {})
    assert set(homes) <= set(module.__all__)
    assert not set(homes) & {each.name for each in iter_modules(module.__path__)}
