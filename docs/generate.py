"""Write generated pages and options: `docs/generate.py [PAGE…]`, all pages by default.

`make docs-check` fails if a page is stale.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import layout
import pictures
import platform_options
import reference_pages

ROOT = Path(__file__).parent.parent


def _printed_by(page: str, *command: str) -> Callable[[], None]:
    """Return the function that writes the page that a command prints."""

    def write() -> None:
        done = subprocess.run(
            [sys.executable, *command], cwd=ROOT, check=True, capture_output=True, text=True
        )
        (ROOT / page).write_text(done.stdout, encoding="utf-8")

    return write


def _write_platform_options() -> None:
    (ROOT / platform_options.PAGE).write_text(platform_options.text(), encoding="utf-8")


def _write_layout() -> None:
    (ROOT / layout.PAGE).write_text(layout.page(), encoding="utf-8")


def _write_schemas() -> None:
    subprocess.run(
        [sys.executable, "-m", "dra_command.schemas", "docs/schema"], cwd=ROOT, check=True
    )


def _write_reference() -> None:
    (ROOT / "docs/reference").mkdir(exist_ok=True)
    for name, text in reference_pages.pages().items():
        (ROOT / "docs/reference" / name).write_text(text, encoding="utf-8")


_MODULES = {
    "docs/catalog.md": "dra_planner.drivers.catalog_page",
    "docs/configuration.md": "dra_policies.configuration.page",
    "docs/reference/custom-rules.md": "dra_policies.configuration.custom.page",
    "docs/messages.md": "dra_planner.catalog.messages_page",
    "docs/rules.md": "dra_policies.rules.page",
}
_COMPONENTS = "docs/schema/components.json"
_OPTION_NAMES = "planner/dra_planner/data/platform_options.json"
PAGES: dict[str, Callable[[], None]] = {
    platform_options.PAGE: _write_platform_options,
    _OPTION_NAMES: _printed_by(
        _OPTION_NAMES,
        "-c",
        "from pulumi_dra.platform.option_names import text; print(text(), end='')",
    ),
    layout.PAGE: _write_layout,
    **{page: _printed_by(page, "-m", module) for page, module in _MODULES.items()},
    _COMPONENTS: _printed_by(
        _COMPONENTS, "-c", "import pulumi_dra.component_host as h; print(h.schema_text(), end='')"
    ),
    "docs/schema/": _write_schemas,
    "docs/reference/": _write_reference,  # reads the schemas above
    "docs/*.svg": pictures.main,
}
"""The function that writes each page. Pages come after the pages that they read."""


def main(pages: Sequence[str]) -> None:
    """Write the given pages, or all pages. Raises SystemExit for a page that isn't generated."""
    if unknown := sorted(set(pages) - PAGES.keys()):
        raise SystemExit(f"{unknown[0]} isn't generated. Choose from {', '.join(PAGES)}")
    for page, write in PAGES.items():
        if page in (pages or PAGES):
            write()
            print(page)


if __name__ == "__main__":
    main(sys.argv[1:])
