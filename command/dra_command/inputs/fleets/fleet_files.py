"""The file that `--fleet` names: a fleet, or a cluster as Terraform, eksctl, Karpenter, or Cluster
API describe it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from dra_command.inputs.fleets.shared_catalog import find_shared_catalog
from dra_command.pens.terminal.page import print_note
from dra_planner.documents.stream import split_stream
from dra_planner.documents.variables import fill_in_defaults
from dra_planner.documents.yaml_reader import Fault, read_yaml
from dra_planner.errors import FleetError, Place
from dra_planner.fleet import Fleet, is_url, read_fleet_file
from dra_planner.sources import read_file

if TYPE_CHECKING:
    from dra_planner.fleet_sources import ImportedFleet

_MARKS = (
    "format_version",
    "lineage",
    "node_groups",
    "node_pools",
    "eksctl.io/",
    "karpenter.sh/",
    "cluster.x-k8s.io/",
)
# an object of Kubernetes, after comments and separators
_MANIFEST = re.compile(r"(?:\s*(?:#[^\n]*|---[^\n]*)\n)*(?:apiVersion|kind):")
_SUFFIXES = (".yaml", ".yml", ".json")
_MOST_NODES = 2_000_000  # the JSON of a Terraform state contains every attribute of every resource


def read_fleet_of(path: str, *, quiet: bool, config: str = "") -> Fleet:
    """Return the fleet of a file, of a URL, or of a name under `fleets` in the configuration, by
    default the nearest pulumi-dra.yaml.

    Notes about facts that another tool's file doesn't contain go to standard error. Raises
    PlannerError if the file can't be read, or doesn't describe a fleet.
    """
    if is_url(path) or not Path(path).exists():
        from dra_command.inputs.fleets.shared_fleets import find_shared_fleet  # noqa: PLC0415  (loads all rules)

        if (shared := find_shared_fleet(path, config)) is not None:
            return shared
    found = read_other_tools_fleet(path)
    if found is None:
        return read_fleet_file(Path(path), find_shared_catalog(path, config))
    for note in () if quiet else found.notes:
        print_note(f"{path}: {note}")
    return found.fleet


def read_remote_fleet(url: str) -> Fleet:
    """Return the fleet at a URL; raises PlannerError."""
    return read_fleet_of(url, quiet=True)


def read_other_tools_fleet(
    path: str,
    *,
    region: str = "",
    kubernetes: str = "",
    cluster: str = "",
    target: str = "FOLDER",
    machines: Sequence[str] = (),
) -> ImportedFleet | None:
    """Return the fleet that another tool's file, or the files of a folder, describe; None if the
    file has a different format.

    `target` contains the other arguments of `init`, for the command in a fix. `machines` contains
    the machine types to choose if the file allows many. Raises PlannerError.
    """
    _require_no_terraform_code(Path(path))
    files = [(file, *_with_defaults(text)) for file, text in _texts_of(path).items()]
    if not any(_is_marked(text) for _, text, _ in files):
        if _MANIFEST.match(files[0][1]):
            raise FleetError(
                "is a Kubernetes manifest, not a fleet",
                place=Place(path),
                fix="pass the manifest as PATH, and a fleet with --fleet",
            )
        return None
    from dra_planner.fleet_sources import read_imported_fleet  # noqa: PLC0415  (loads the readers of every tool)

    found = read_imported_fleet(
        [each for file, text, _ in files for each in _documents(text, file)],
        file=path,
        region=region,
        kubernetes=kubernetes,
        cluster=cluster,
        learned=find_shared_catalog(path),
        target=target,
        machines=machines,
    )
    defaults = {name: value for *_, given in files for name, value in given.items()}
    if found is None or not defaults:
        return found
    shown = ", ".join(f"{name}={value}" for name, value in defaults.items())
    return replace(
        found, notes=(*found.notes, f"these variables have their default values: {shown}")
    )


def _texts_of(path: str) -> dict[str, str]:
    """Return the text of a file, or of the YAML files and of the other tools' JSON files of a
    folder, by path.
    """
    if not Path(path).is_dir():
        return {path: read_file(path).text}
    files = sorted(each for each in Path(path).iterdir() if each.suffix in _SUFFIXES)
    texts = {str(each): read_file(str(each)).text for each in files}
    found = {
        file: text for file, text in texts.items() if not file.endswith(".json") or _is_marked(text)
    }
    if not found:
        raise FleetError(
            "this folder doesn't contain any YAML or Terraform JSON files",
            place=Place(path),
            fix="pass a file, or a folder with these files",
        )
    return found


def _is_marked(text: str) -> bool:
    """Return whether a text can be a file of another tool."""
    return any(mark in text for mark in _MARKS)


def _with_defaults(text: str) -> tuple[str, dict[str, str]]:
    """Return YAML with the defaults of its variables. (Terraform's JSON can contain scripts with
    variables.)
    """
    return (text, {}) if text.lstrip().startswith("{") else fill_in_defaults(text)


def _require_no_terraform_code(path: Path) -> None:
    """Raise FleetError for Terraform source files, because only Terraform can evaluate them."""
    is_code = path.suffix == ".tf" or (path.is_dir() and any(path.glob("*.tf")))
    if is_code:
        from dra_planner.fleet_sources import TERRAFORM_FIX  # noqa: PLC0415  (loads the readers of every tool)

        raise FleetError(
            "is Terraform code, which only Terraform can evaluate",
            place=Place(str(path)),
            fix=TERRAFORM_FIX,
        )


def _documents(text: str, path: str) -> list[Any]:
    documents = []
    for document, _ in split_stream(text):
        try:
            documents.append(read_yaml(document, most_nodes=_MOST_NODES)[0])
        except Fault as fault:
            raise FleetError(
                f"can't be read: {fault.message}", place=Place(path, fault.line), fix=fault.fix
            ) from None
    listed = [
        each["items"]
        for each in documents
        if isinstance(each, dict) and isinstance(each.get("items"), list)
    ]
    return [*documents, *(item for items in listed for item in items)]
