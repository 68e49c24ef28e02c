"""The HTML reports in a real browser: no horizontal scrolling at 320 pixels, and no findings by
axe.

Golden files are opened as they are; reports of a rehearsal, a matrix, and a portfolio are created
here.

Skipped without Chromium; axe runs where AXE_CORE names its file (`npm pack axe-core` brings
`axe.min.js`).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from command_project import Project
from made_up_rehearsals import rehearsal

from dra_command.rehearse.html import rehearse_html

GOLDEN = Path(__file__).parents[1] / "golden"
EXAMPLES = Path(__file__).parents[3] / "examples"
CHROMIUM = next(
    filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None
)
AXE = os.environ.get("AXE_CORE", "")
REPORTS = ("plan.html", "plan-fits.html", "plan-cannot-tell.html", "check.html", "explain.html")
PORTFOLIO = """\
stacks: [{fleet: fleet.yaml, workloads: [vision.yaml]}]
scenarios: [{name: growth-2, replicas: 2}, {name: a-longer-name-of-a-scenario, priceFactor: 1.2}]
ask: {simulate: off, curves: {workloads: [serve/vision], most: 4}}
"""
MADE = ("rehearsal", "matrix", "portfolio")
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
FRAME = """<!doctype html><body><iframe id="frame" width="WIDTH" height="900"></iframe><script>
const frame = document.getElementById("frame");
frame.onload = async () => {
  const page = frame.contentDocument, root = page.documentElement;
   const measured = {folded: root.scrollWidth - root.clientWidth};
  page.querySelectorAll("details").forEach(each => each.open = true);
  measured.open = root.scrollWidth - root.clientWidth;
  measured.rooms = root.clientWidth;
  const axe = AXE;
  if (axe) {
    const script = page.createElement("script");
    script.textContent = axe;
    page.head.append(script);
    const found = await frame.contentWindow.axe.run(page, {resultTypes: ["violations"]});
    measured.violations = found.violations.map(each => each.id + ": " + each.nodes.map(node => node.html).join(" "));
    measured.passes = found.passes.length;
  }
  const end = document.createElement("pre");
  end.id = "measured";
  end.textContent = JSON.stringify(measured);
  document.body.append(end);
};
frame.srcdoc = PAGE;
</script>"""

pytestmark = [
    pytest.mark.programs,
    pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on PATH"),
]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Every page by the name of its report."""
    project = Project(tmp_path_factory.mktemp("project"))
    for path in (EXAMPLES / "eighty-gi").iterdir():
        project.write(path.name, path.read_text(encoding="utf-8"))
    words = ("vision.yaml", "--fleet", "fleet.yaml")
    project.write("portfolio.yaml", PORTFOLIO)
    made = {
        "rehearsal": rehearse_html(rehearsal()),
        "matrix": project.run(
            "plan", *words, "--matrix", "kubernetes=1.34,1.36", "--format", "html"
        ).out,
        "portfolio": project.run("portfolio", "portfolio.yaml", "-q", "--format", "html").out,
    }
    assert all("<h1" in page for page in made.values())
    return {name: (GOLDEN / name).read_text(encoding="utf-8") for name in REPORTS} | made


def seen(tmp_path: Path, page: str, width: int, *, dark: bool, axe: str = "") -> dict[str, Any]:
    page = POLICY.sub("", page)

    def literal(text: str) -> str:
        return json.dumps(text).replace("</", "<\\/")

    wrapped = FRAME.replace("WIDTH", str(width)).replace("AXE", literal(axe) if axe else '""', 1)
    path = tmp_path / "frame.html"
    path.write_text(wrapped.replace("PAGE", literal(page)), encoding="utf-8")
    words = [
        str(CHROMIUM),
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=30000",
        "--dump-dom",
    ]
    words += [
        f"--user-data-dir={tmp_path / 'profile'}",
        f"--blink-settings=preferredColorScheme={0 if dark else 1}",
    ]
    done = subprocess.run(
        [*words, path.as_uri()], capture_output=True, text=True, check=True, timeout=120
    )
    (measured,) = re.findall(r'<pre id="measured">(.*?)</pre>', done.stdout, re.DOTALL)
    result: dict[str, Any] = json.loads(unescape(measured))
    return result


@pytest.mark.parametrize("report", [*REPORTS, *MADE])
@pytest.mark.parametrize("width", [320, 1280])
def test_nothing_scrolls_sideways(
    report: str, width: int, pages: dict[str, str], tmp_path: Path
) -> None:
    measured = seen(tmp_path, pages[report], width, dark=False)
    assert measured["rooms"] > width - 40
    assert (measured["folded"], measured["open"]) == (0, 0)


@pytest.mark.skipif(not AXE, reason="AXE_CORE does not name axe.min.js")
@pytest.mark.parametrize("report", [*REPORTS, *MADE])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_reports_no_violations(
    report: str, dark: bool, pages: dict[str, str], tmp_path: Path
) -> None:
    measured = seen(
        tmp_path, pages[report], 1280, dark=dark, axe=Path(AXE).read_text(encoding="utf-8")
    )
    assert measured["violations"] == []
    assert measured["passes"] > 20
