"""Lines of an HTML report don't break inside short names, and long names break between parts."""

from __future__ import annotations

import pytest

from dra_command.pens.html.line_breaks import wrapped

CEL = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi"))'


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("pool l4", "pool l4"),
        ("on a3-highgpu-8g now", 'on <span class="nw">a3-highgpu-8g</span> now'),
        ("<b>", "&lt;b&gt;"),
        (f"{'a' * 30}/b.", f"{'a' * 30}/<wbr>b."),
        (f'"key: {"a" * 30}").', f"&#34;key: {'a' * 30}&#34;)."),
        (
            CEL,
            "device<wbr>.capacity[<wbr>&#34;gpu.nvidia.com&#34;]<wbr>.memory<wbr>.compareTo(<wbr>quantity(<wbr>&#34;80Gi&#34;))",
        ),
    ],
)
def test_lines_break_between_names_and_parts(text: str, html: str) -> None:
    assert wrapped(text) == html
