"""The page for language models links to pages that exist, and names the tools that the MCP server
has.
"""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "llms.txt").read_text(encoding="utf-8")


def test_page_follows_the_llms_txt_format() -> None:
    title, blank, summary = TEXT.splitlines()[:3]
    assert title == "# pulumi-dra"
    assert blank == ""
    assert summary.startswith("> ")
    assert re.findall(r"^## (.*)$", TEXT, re.MULTILINE) == ["Guide", "Reference", "Optional"]


def test_links_point_to_pages() -> None:
    links = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert len(links) > 15
    assert [link for link in links if not (DOCS / link).is_file()] == []


def test_tools_match_the_server() -> None:
    server = (DOCS.parent / "command/dra_command/mcp/server.py").read_text(encoding="utf-8")
    tools = set(re.findall(r"@_tool\(server\)\n    def (\w+)", server))
    (named,) = re.findall(r"\(tools: ([^)]*)\)", TEXT)
    assert set(re.split(r",\s+", named)) == tools
