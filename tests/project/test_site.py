"""The site, as `make site` builds it: each page works with a screen reader and a keyboard.

If AXE_CORE is the path of axe's file and Chromium is installed, axe checks some of the pages in
light and dark mode.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

pytestmark = pytest.mark.programs

ROOT = Path(__file__).parents[2]
SITE = ROOT / "build" / "site"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
AXE = os.environ.get("AXE_CORE", "")
JUDGED = (
    "index",
    "search",
    "guide/verdicts",
    "catalog",
    "messages",
    "reference/command",
    "operations/upgrades",
)
JUDGE = """<!doctype html><body><script src="axe.js"></script><script>
(async () => {
  const axe = await (await fetch("axe.js")).text(), results = {};
  for (const name of PAGES) {
    const frame = document.createElement("iframe");
    frame.width = WIDTH;
    frame.height = 900;
    document.body.append(frame);
    await new Promise(loaded => { frame.onload = loaded; frame.src = "site/" + name + ".html"; });
    const page = frame.contentDocument, root = page.documentElement;
    const script = page.createElement("script");
    script.textContent = axe;
    page.head.append(script);
    const found = await frame.contentWindow.axe.run(page, {resultTypes: ["violations"]});
    results[name] = {
      sideways: root.scrollWidth - root.clientWidth,
      violations: found.violations.map(each => each.id + ": " + each.nodes.map(node => node.html).join(" ")),
      passes: found.passes.length,
    };
    frame.remove();
  }
  const end = document.createElement("pre");
  end.id = "results";
  end.textContent = JSON.stringify(results);
  document.body.append(end);
})();
</script>"""


def build(site: Path, *options: str) -> Path:
    """Build the site; pages that have not changed since the last build are not built again."""
    words = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html", *options]
    subprocess.run([*words, str(ROOT / "docs"), str(site)], check=True, timeout=300)
    return site


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """Return name → page of the site, which `make site` may have built."""
    return {
        str(page.relative_to(SITE).with_suffix("")): page.read_text(encoding="utf-8")
        for page in sorted(build(SITE).rglob("*.html"))
    }


def without(pages: dict[str, str], pattern: str, needed: str) -> list[str]:
    """Return the tags of each page that match a pattern and lack the text that they need."""
    return [
        f"{name}: {tag}"
        for name, text in pages.items()
        for tag in re.findall(pattern, text, re.DOTALL)
        if not re.search(needed, tag, re.DOTALL)
    ]


def test_every_page_has_one_title(pages: dict[str, str]) -> None:
    assert len(pages) > 50
    assert [name for name, text in pages.items() if text.count("<h1") != 1] == []


def test_sidebars_and_headings_outside_the_text_have_labels(pages: dict[str, str]) -> None:
    sidebars = {
        tuple(re.findall(r'<aside [^>]*aria-label="([^"]+)"', text)) for text in pages.values()
    }
    assert sidebars == {("Pages", "On this page")}
    assert without(pages, r"<aside [^>]*>", "aria-label=") == []
    assert without(pages, r'<[a-z]+ [^>]*role="heading"[^>]*>', "aria-level=") == []


def test_scrollable_blocks_are_focusable(pages: dict[str, str]) -> None:
    assert without(pages, r'<div class="highlight"><pre[^>]*>', 'tabindex="0"') == []
    assert without(pages, r'<div [^>]*class="table-wrapper[^>]*>', 'tabindex="0"') == []
    assert "tabindex" in pages["catalog"]


def test_cells_repeat_the_headings_of_their_columns_for_phones(pages: dict[str, str]) -> None:
    page = pages["guide/verdicts"]
    table = page[page.index("<table") :].partition("</table>")[0]
    assert 'class="labeled' in table
    assert (
        re.findall(r'<span class="label">([^<]*)</span>', table)
        == ["Meaning: ", "Exit status: "] * 3
    )


def test_cells_of_two_columns_have_labels_unless_they_are_obvious(pages: dict[str, str]) -> None:
    labels = {
        name: set(re.findall(r'<span class="label">([^<]*)</span>', pages[name]))
        for name in ("guide/ci", "verify", "glossary")
    }
    assert {"Step: ", "Fails if: ", "Object: ", "Rejects: "} < labels["guide/ci"]
    assert "Exit status: " in labels["verify"]
    assert "Meaning: " not in labels["verify"]
    assert labels["glossary"] == set()


def test_rows_with_many_cells_are_paragraphs_on_phones(pages: dict[str, str]) -> None:
    _, _, table = pages["catalog"].partition('class="labeled dense')
    row = table[table.index("<tbody>") :].partition("</tr>")[0]
    assert re.findall(r'<span class="label">([^<]*)</span>', row)[:2] == [
        "product name: ",
        "brand: ",
    ]


def test_long_tables_can_be_collapsed_and_are_open_without_scripts(pages: dict[str, str]) -> None:
    _, _, sources = pages["catalog"].partition('<section id="sources">')
    before, _, table = sources.partition("</summary>")
    rows = table.partition("</details>")[0].count("<tr") - 1
    assert rows > 200
    assert before.endswith(f'</h2>\n<details class="rows" open><summary>Table with {rows} rows')
    # the first page is a single long table, and the second consists of lists of options
    others = ("rules", "reference/command")
    assert not any('<details class="rows"' in pages[name] for name in others)


def test_options_in_sentences_have_no_line_breaks(pages: dict[str, str]) -> None:
    option = '<code class="docutils literal notranslate"><span class="option"><span class="pre">{}'
    assert option.format("--allow-unknown</span></span></code>") in pages["guide/ci"]
    assert option.format("--fail-on</span></span> <span") in pages["guide/ci"]


def test_short_names_in_code_have_no_line_breaks(pages: dict[str, str]) -> None:
    assert '<span class="pre whole">cannot-tell</span>' in pages["reference/custom-rules"]
    assert "whole" not in "".join(re.findall(r"<pre.*?</pre>", pages["rules"], re.DOTALL))


def test_tables_with_long_paths_are_lists_on_tablets(pages: dict[str, str]) -> None:
    early = {name for name, text in pages.items() if re.search('class="labeled[^"]* early', text)}
    assert {"security", "simulated-clouds", "traps"} <= early
    assert "guide/verdicts" not in early


def test_tables_with_long_words_have_smaller_letters(pages: dict[str, str]) -> None:
    assert re.search('class="labeled[^"]* tight', pages["catalog"])
    assert not re.search('class="labeled[^"]* tight', pages["glossary"])
    assert (
        '<td class="short"><p><span class="label">memory: </span>23034 Mi</p></td>'
        in pages["catalog"]
    )


def test_wide_pictures_can_be_scrolled_with_a_keyboard(pages: dict[str, str]) -> None:
    for name, words in (
        ("architecture", "How pulumi-dra creates and uses a plan"),
        ("guide/verdicts", "Nodes in the pool at each demand level"),
    ):
        found = re.findall(r'<div class="picture" (.*?)>\s*<p><img alt="(.*?)"', pages[name])
        ((attributes, alt),) = found
        assert attributes == f'tabindex="0" role="region" aria-label="Picture: {alt}"'
        assert alt.startswith(words)
    assert 'class="picture"' not in pages["index"]  # it has a narrow version


def test_signs_of_free_devices_are_visible_in_both_themes(pages: dict[str, str]) -> None:
    assert re.search('<span class="shade">░+</span>', pages["guide/verdicts"])
    assert not re.search(r'(?<!<span class="shade">)(?<!░)░', pages["guide/verdicts"])


def test_long_names_can_be_broken_except_in_code_blocks(pages: dict[str, str]) -> None:
    path = "components/<wbr>pulumi_<wbr>dra/<wbr>platform/<wbr>platform_<wbr>options.<wbr>py</span>"
    assert path in pages["decisions/0011-a-cloud-is-a-module"]
    code = re.findall(r"<pre.*?</pre>", "".join(pages.values()), re.DOTALL)
    assert len(code) > 100
    assert not any("<wbr>" in block for block in code)


def leads_somewhere(pages: dict[str, str], name: str, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (SITE / name).parent / path if path else SITE / f"{name}.html"
    if not target.is_file() or not anchor:
        return target.is_file()
    return f' id="{anchor}"' in pages[str(target.resolve().relative_to(SITE).with_suffix(""))]


def test_links_lead_to_pages_files_and_anchors_of_the_site(pages: dict[str, str]) -> None:
    links = {
        (name, unquote(unescape(link)))
        for name, text in pages.items()
        for link in re.findall(r'<a\b[^>]*\shref="([^"]*)"', text)
        if not re.match("[a-z]+:", link)
    }
    assert ("reference/fleet", "../fleet.json") in links
    assert sorted(link for link in links if not leads_somewhere(pages, *link)) == []


@pytest.mark.parametrize(
    ("repository", "folder", "file"),
    [
        (
            "https://git.example/acme/pulumi-dra",
            'In the <a class="reference external" '
            'href="https://git.example/acme/pulumi-dra/tree/main/examples/gitops/argo">',
            'href="https://git.example/acme/pulumi-dra/blob/main/CHANGELOG.md">',
        ),
        ("", "Argo CD example</span> in <code", ">CHANGELOG.md</span></code>"),
    ],
    ids=["known", "unknown"],
)
def test_other_files_are_in_the_repository(
    repository: str, folder: str, file: str, tmp_path: Path
) -> None:
    site = build(tmp_path, "-D", f"repository_url={repository}")
    assert folder in (site / "guide/ci.html").read_text(encoding="utf-8")
    assert file in (site / "upgrading.html").read_text(encoding="utf-8")


def test_every_column_of_a_table_has_a_header(pages: dict[str, str]) -> None:
    assert without(pages, r"<th\b[^>]*>.*?</th>", r">[^<>\s]") == []


class _Pages(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        """Log no requests."""


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[str]:
    """Serve the site and axe's file; yield the URL."""
    (tmp_path / "site").symlink_to(SITE)
    shutil.copy(AXE, tmp_path / "axe.js")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Pages, directory=str(tmp_path)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.skipif(
    CHROMIUM is None or not AXE, reason="there is no chromium, or AXE_CORE does not name axe.min.js"
)
@pytest.mark.parametrize("width", [320, 1280])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.usefixtures("pages")
def test_axe_reports_no_violations(width: int, dark: bool, origin: str, tmp_path: Path) -> None:
    text = JUDGE.replace("PAGES", json.dumps(JUDGED)).replace("WIDTH", str(width))
    (tmp_path / "judge.html").write_text(text, encoding="utf-8")
    words = [
        str(CHROMIUM),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=120000",
        "--dump-dom",
    ]
    words += [
        f"--user-data-dir={tmp_path / 'profile'}",
        f"--blink-settings=preferredColorScheme={0 if dark else 1}",
    ]
    done = subprocess.run(
        [*words, f"{origin}/judge.html"], capture_output=True, text=True, check=True, timeout=300
    )
    (output,) = re.findall(r'<pre id="results">(.*?)</pre>', done.stdout, re.DOTALL)
    judged = json.loads(unescape(output))
    assert {name: each["violations"] for name, each in judged.items()} == {
        name: [] for name in JUDGED
    }
    assert [name for name, each in judged.items() if each["sideways"] > 0] == []
    assert min(each["passes"] for each in judged.values()) > 20
