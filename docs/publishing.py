"""Write the files that other indexes need for a release: a krew plugin, and entries for
SchemaStore.

    .venv/bin/python docs/publishing.py --home https://github.com/acme/pulumi-dra --to FOLDER

FOLDER receives kubectl-dra.tar.gz to attach to the release, dra.yaml for krew-index
(krew.sigs.k8s.io/docs/developer-guide/plugin-manifest), and schemastore.json with the objects to
add to `schemas` in src/api/json/catalog.json of SchemaStore.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import io
import json
import re
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import yaml

from dra_planner.package_version import semantic_version

ROOT = Path(__file__).parents[1]
ARCHIVE = "kubectl-dra.tar.gz"
PLUGIN = """\
#!/bin/sh
# `kubectl dra`: runs the released package with uv, which downloads it once.
if ! command -v uvx >/dev/null 2>&1; then
  echo "kubectl dra needs uv: https://docs.astral.sh/uv/getting-started/installation" >&2
  exit 2
fi
exec uvx --from "pulumi-dra==VERSION" kubectl-dra "$@"
"""
FILES = {
    "fleet": ("Fleet of GPU node pools for Kubernetes DRA", ["*.fleet.yaml"]),
    "configuration": ("Rules and exemptions of pulumi-dra", ["pulumi-dra.yaml"]),
    "plan-file": ("Saved plan of pulumi-dra", ["*.plan.json"]),
}
"""Published schemas of files with distinctive names: description and patterns."""


def version() -> str:
    """Return the version of the package."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return str(project["version"])


def tag() -> str:
    """Return the tag of the release."""
    return f"v{semantic_version(version())}"


def release_notes(home: str) -> str:
    """Return the changelog's section of the version, with absolute links.

    Raises ValueError if there is none.
    """
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## {re.escape(version())} .*?\n(.*?)(?=^## |\Z)", changes, re.M | re.S)
    if found is None:
        raise ValueError(f"CHANGELOG.md has no section {version()}")
    return re.sub(r"\]\((?!https?:)", f"]({home}/blob/{tag()}/", found[1]).strip() + "\n"


def plugin_archive() -> bytes:
    """Return the archive of the krew plugin; the same version always gives the same bytes."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, text, mode in (
            ("kubectl-dra", PLUGIN.replace("VERSION", version()), 0o755),
            ("LICENSE", (ROOT / "LICENSE").read_text(encoding="utf-8"), 0o644),
        ):
            content = text.encode()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode
            archive.addfile(entry, io.BytesIO(content))
    return gzip.compress(packed.getvalue(), mtime=0)


def krew_manifest(home: str, archive: bytes) -> dict[str, Any]:
    """Return the plugin's manifest for krew-index; `home` is the URL of the repository."""
    systems = {"key": "os", "operator": "In", "values": ["darwin", "linux"]}
    return {
        "apiVersion": "krew.googlecontainertools.github.com/v1alpha2",
        "kind": "Plugin",
        "metadata": {"name": "dra"},
        "spec": {
            "version": tag(),
            "homepage": home,
            "shortDescription": "Plan GPU node pools for ResourceClaims",
            "description": "Reports whether ResourceClaims (Dynamic Resource Allocation) fit the "
            "node pools\nof a cluster, how many nodes they need, and what the nodes cost.\n",
            "caveats": "Needs uv: https://docs.astral.sh/uv/getting-started/installation\n",
            "platforms": [
                {
                    "selector": {"matchExpressions": [systems]},
                    "uri": f"{home}/releases/download/{tag()}/{ARCHIVE}",
                    "sha256": hashlib.sha256(archive).hexdigest(),
                    "bin": "kubectl-dra",
                }
            ],
        },
    }


def schema_store_entries(home: str) -> list[dict[str, Any]]:
    """Return the entries for SchemaStore's catalog; the schemas stay in the repository."""
    raw = home.replace("https://github.com/", "https://raw.githubusercontent.com/")
    return [
        {
            "name": f"pulumi-dra {name}",
            "description": description,
            "fileMatch": patterns,
            "url": f"{raw}/main/docs/schema/{name}.json",
        }
        for name, (description, patterns) in FILES.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--home", required=True, help="URL of the repository on GitHub")
    parser.add_argument("--to", type=Path, required=True, metavar="FOLDER")
    parser.add_argument(
        "--notes", action="store_true", help="also write notes.md, the changelog of the version"
    )
    given = parser.parse_args()
    given.to.mkdir(parents=True, exist_ok=True)
    archive = plugin_archive()
    (given.to / ARCHIVE).write_bytes(archive)
    manifest = yaml.safe_dump(krew_manifest(given.home, archive), sort_keys=False)
    (given.to / "dra.yaml").write_text(manifest, encoding="utf-8")
    if given.notes:
        (given.to / "notes.md").write_text(release_notes(given.home), encoding="utf-8")
    entries = json.dumps(schema_store_entries(given.home), indent=2)
    (given.to / "schemastore.json").write_text(f"{entries}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
