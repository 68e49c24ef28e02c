"""Lines of an HTML report don't break inside short names, and long names break between parts."""

from __future__ import annotations

import pytest

from dra_command.pens.html.line_breaks import with_unbroken_counts, wrapped

CEL = 'device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi"))'


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("pool l4", "pool l4"),
        ("on a3-highgpu-8g now", 'on <span class="nw">a3-highgpu-8g</span> now'),
        ("<b>", "&lt;b&gt;"),
        ("12% (6%–24%)", '12% <span class="nw">(6%–24%)</span>'),
        ("random (seed 3), settled", 'random <span class="nw">(seed 3)</span>, settled'),
        ("8 × NVIDIA H200", '<span class="nw">8 × NVIDIA</span> H200'),
        ("140.4 GiB each", '<span class="nw">140.4 GiB</span> each'),
        ("(USD 3.36 per hour)", '<span class="nw">(USD 3.36</span> per hour)'),
        ("up to 1,024 pods", 'up to <span class="nw">1,024 pods</span>'),
        ("B 2 GPUs, A 1 GPU", '<span class="nw">B 2 GPUs</span>, <span class="nw">A 1 GPU</span>'),
        ("A 4 MIG slices free", '<span class="nw">A 4 MIG slices</span> free'),
        ("10 more nodes", '<span class="nw">10 more nodes</span>'),
        ("p5 (8 × NVIDIA H200)", 'p5 <span class="nw">(8 × NVIDIA</span> H200)'),
        ("1 × gpu.nvidia.com", '<span class="nw">1 × gpu.nvidia.com</span>'),
        (
            "team-alpha/at-least-40-gb-with-operator",
            '<span class="nw">team-alpha/</span><wbr><span class="nw">at-least-40-gb-with-operator</span>',
        ),
        (f"{'a' * 30}/b.", f"{'a' * 30}/<wbr>b."),
        (f'"key: {"a" * 30}").', f"&#34;key: {'a' * 30}&#34;)."),
        (
            CEL,
            "device.capacity[<wbr>&#34;gpu.nvidia.com&#34;]<wbr>.memory.compareTo(<wbr>quantity(<wbr>&#34;80Gi&#34;))",
        ),
    ],
)
def test_lines_break_between_names_and_parts(text: str, html: str) -> None:
    assert wrapped(text) == html


@pytest.mark.parametrize(
    ("text", "unbroken"),
    [
        ("l4", "l4"),
        ("a10 13, l4 6", "a10\xa013, l4\xa06"),
        ("l4 +2", "l4\xa0+2"),
        ("4 pods (l4 3)", "4 pods (l4\xa03)"),
    ],
)
def test_counts_stay_with_their_names(text: str, unbroken: str) -> None:
    assert with_unbroken_counts(text) == unbroken
