"""The page in docs is the one that the tables give."""

from __future__ import annotations

from pathlib import Path

from dra_planner import catalog
from dra_planner.drivers import nvidia
from dra_planner.drivers.catalog_page import render_page

PAGE = Path(__file__).parents[3] / "docs" / "catalog.md"


def test_page_is_up_to_date() -> None:
    assert PAGE.read_text() == render_page(), (
        "run: python -m dra_planner.drivers.catalog_page > docs/catalog.md"
    )


def test_page_lists_every_machine_type_and_gpu() -> None:
    page = render_page()
    for cloud in catalog.cloud_titles():
        assert all(f"`{machine.name}`" in page for machine in catalog.machines(cloud))
    assert all(f"`{gpu.id}`" in page for gpu in nvidia.gpus())
