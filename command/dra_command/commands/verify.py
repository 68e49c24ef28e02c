"""`pulumi-dra verify`: a live cluster against the fleet, and the catalogue rows that would mend a difference."""

from __future__ import annotations

import argparse
import dataclasses
import json

from dra_command.arguments import UsageError
from dra_command.formats.page import Page
from dra_command.inputs import read_inputs
from dra_command.status import Status
from dra_planner.manifests import read_manifests
from dra_planner.offers import CatalogRow, Verification, observe_offers, predict_offers, rows_to_add, verify_offers
from dra_planner.releases import features_of, parse_version
from dra_planner.sources import read_sources


def run(values: argparse.Namespace) -> int:
    """Print every difference between prediction and snapshot; 1 when there is one, 3 when no node was compared."""
    if not (values.stack or values.fleet):
        raise UsageError("there is nothing to compare with", fix="give --stack NAME or --fleet FILE")
    inputs = read_inputs(values, needs_capacity=True, needs_manifests=False)
    assert inputs.fleet is not None  # --stack or --fleet was given
    features = features_of(parse_version(inputs.kubernetes) if inputs.kubernetes else inputs.fleet.minor)
    snapshot = read_manifests(read_sources([values.observed]), features)
    observed = observe_offers(snapshot, features)
    found = verify_offers(predict_offers(inputs.fleet, features), observed)
    rows = rows_to_add(observed)
    if values.format == "json":
        print(_json(found, rows))
    else:
        _print(found, rows)
    if not found.holds:
        return Status.BROKEN
    return Status.FITS if found.compared or values.allow_unknown else Status.CANNOT_TELL


def _json(found: Verification, rows: tuple[CatalogRow, ...]) -> str:
    answer = {
        "version": 1,
        "verdict": "does-not-fit" if not found.holds else "fits" if found.compared else "cannot-tell",
        "compared": {pool: list(nodes) for pool, nodes in found.compared.items()},
        "pools_without_nodes": list(found.pools_without_nodes),
        "nodes_without_pool": list(found.nodes_without_pool),
        "differences": [dataclasses.asdict(each) for each in found.differences],
        "rows_to_add": [dataclasses.asdict(row) for row in rows],
    }
    return json.dumps(answer, indent=2, ensure_ascii=False)


def _print(found: Verification, rows: tuple[CatalogRow, ...]) -> None:
    with Page() as page:
        nodes = sum(map(len, found.compared.values()))
        if found.differences:
            page.line((f"{len(found.differences)} differences on {nodes} nodes.", "bold red"))
            heads = ("node", "what", "of", "predicted", "observed")
            cells = (
                (each.node or each.pool, each.aspect, " ".join(filter(None, (each.subject, each.field))),
                 each.predicted or "none", each.observed or "none")
                for each in found.differences
            )  # fmt: skip
            page.table(heads, cells)
        elif found.compared:
            page.line((f"{nodes} node{'s are' if nodes != 1 else ' is'} as predicted.", "bold green"))
        else:
            page.line(("No node of the snapshot belongs to a pool of the fleet.", "bold yellow"))
        if found.pools_without_nodes:
            page.text(f"pools without a node: {', '.join(found.pools_without_nodes)}")
        if found.nodes_without_pool:
            page.text(f"nodes of no pool: {', '.join(found.nodes_without_pool)}")
        if rows:
            page.gap()
            page.line(("Rows that the catalogue lacks", "bold"))
            for row in rows:
                page.text(f"data/{row.table}.csv: {row.line}", indent=2)
                page.text(row.reason, indent=4)
