"""Write every generated page, and the options that are made of components; `make docs-check` fails on stale ones."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pictures
import platform_options
import reference_pages

ROOT = Path(__file__).parent.parent

PAGES: dict[str, list[str]] = {
    "docs/catalog.md": ["-m", "dra_planner.drivers.catalog_page"],
    "docs/configuration.md": ["-m", "dra_policies.configuration.page"],
    "docs/messages.md": ["-m", "dra_planner.catalog.messages_page"],
    "docs/rules.md": ["-m", "dra_policies.rules.page"],
    "docs/schema/components.json": ["-c", "import pulumi_dra.hosting as h; print(h.schema_text(), end='')"],
}


def main() -> None:
    """Write the pages whose generator prints them, the schemas, and the reference pages that are made of these."""
    (ROOT / platform_options.PAGE).write_text(platform_options.text(), encoding="utf-8")
    print(platform_options.PAGE)
    for page, command in PAGES.items():
        text = subprocess.run([sys.executable, *command], cwd=ROOT, check=True, capture_output=True, text=True).stdout
        (ROOT / page).write_text(text, encoding="utf-8")
        print(page)
    subprocess.run([sys.executable, "-m", "dra_command.schemas", "docs/schema"], cwd=ROOT, check=True)
    print("docs/schema/")
    (ROOT / "docs/reference").mkdir(exist_ok=True)
    for name, text in reference_pages.pages().items():  # made of the schemas above
        (ROOT / "docs/reference" / name).write_text(text, encoding="utf-8")
    print("docs/reference/")
    pictures.main()
    print("docs/*.svg")


if __name__ == "__main__":
    main()
