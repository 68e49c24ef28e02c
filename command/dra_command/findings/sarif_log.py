"""The frame of SARIF logs: their schema, and the categories that separate runs."""

from __future__ import annotations

from typing import Final

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_CATEGORY: Final = "pulumi-dra"


def category_id(*parts: str) -> str:
    """Return the ID that keeps the results of several runs apart. Code scanning replaces the
    earlier results of a category, and rejects a file that has two runs of one category. The part
    before the last slash is the category.

    Source: github/codeql-action:src/upload-lib.ts@v2 (populateRunAutomationDetails).
    """
    return "/".join((_CATEGORY, *filter(None, parts), ""))
