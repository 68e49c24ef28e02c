"""The HTML reports in a real browser: nothing to scroll sideways at 320 pixels, and nothing that axe finds.

Skipped without Chromium; axe runs where AXE_CORE names its file (`npm pack axe-core` brings `axe.min.js`).
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

GOLDEN = Path(__file__).parent / "golden"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
AXE = os.environ.get("AXE_CORE", "")
REPORTS = ("plan.html", "plan-fits.html", "plan-cannot-tell.html", "check.html", "explain.html")
POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy"[^>]*>')
FRAME = """<!doctype html><body><iframe id="frame" width="WIDTH" height="900"></iframe><script>
const frame = document.getElementById("frame");
frame.onload = async () => {
  const page = frame.contentDocument, root = page.documentElement;
  const said = {folded: root.scrollWidth - root.clientWidth};
  page.querySelectorAll("details").forEach(each => each.open = true);
  said.open = root.scrollWidth - root.clientWidth;
  said.rooms = root.clientWidth;
  const axe = AXE;
  if (axe) {
    const script = page.createElement("script");
    script.textContent = axe;
    page.head.append(script);
    const found = await frame.contentWindow.axe.run(page, {resultTypes: ["violations"]});
    said.violations = found.violations.map(each => each.id + ": " + each.nodes.map(node => node.html).join(" "));
    said.passes = found.passes.length;
  }
  const end = document.createElement("pre");
  end.id = "said";
  end.textContent = JSON.stringify(said);
  document.body.append(end);
};
frame.srcdoc = PAGE;
</script>"""

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium on PATH")


def seen(tmp_path: Path, report: str, width: int, *, dark: bool, axe: str = "") -> dict[str, Any]:
    page = POLICY.sub("", (GOLDEN / report).read_text(encoding="utf-8"))

    def literal(text: str) -> str:
        return json.dumps(text).replace("</", "<\\/")

    wrapped = FRAME.replace("WIDTH", str(width)).replace("AXE", literal(axe) if axe else '""', 1)
    path = tmp_path / "frame.html"
    path.write_text(wrapped.replace("PAGE", literal(page)), encoding="utf-8")
    words = [str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=30000", "--dump-dom"]
    words += [f"--user-data-dir={tmp_path / 'profile'}", f"--blink-settings=preferredColorScheme={0 if dark else 1}"]
    done = subprocess.run([*words, path.as_uri()], capture_output=True, text=True, check=True, timeout=120)
    (said,) = re.findall(r'<pre id="said">(.*?)</pre>', done.stdout, re.DOTALL)
    result: dict[str, Any] = json.loads(unescape(said))
    return result


@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("width", [320, 1280])
def test_nothing_scrolls_sideways(report: str, width: int, tmp_path: Path) -> None:
    said = seen(tmp_path, report, width, dark=False)
    assert said["rooms"] > width - 40
    assert (said["folded"], said["open"]) == (0, 0)


@pytest.mark.skipif(not AXE, reason="AXE_CORE does not name axe.min.js")
@pytest.mark.parametrize("report", REPORTS)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing(report: str, dark: bool, tmp_path: Path) -> None:
    said = seen(tmp_path, report, 1280, dark=dark, axe=Path(AXE).read_text(encoding="utf-8"))
    assert said["violations"] == []
    assert said["passes"] > 20
