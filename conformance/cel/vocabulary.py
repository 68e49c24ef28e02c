"""The words from which random selectors and devices are generated."""

from __future__ import annotations

import json

DRIVER = "gpu.nvidia.com"
OTHER = "resource.kubernetes.io"
TEXTS = [
    "",
    "gpu",
    "a,b,,c",
    "Tesla",
    "NVIDIA H100 80GB HBM3",
    "grün",
    "MiXeD",
    "x y",
    "1g.10gb",
    "-1",
    "3",
    "1.5",
    "true",
]
QUANTITIES = [
    "80Gi",
    "81559Mi",
    "1",
    "1500m",
    "0",
    "1G",
    "0.5Gi",
    "40Gi",
    "1.5",
    "16Ei",
    "1e3",
    "-1",
    "100k",
    "2000m",
    "1n",
    "0.1n",
    "1.1Ki",
    "1e-3",
    "9223372036854775807",
    "9223372036854775808",
    "-8Ei",
    "1e19",
    "+5",
]
BAD_QUANTITIES = ["1e", "--1", "Mi", "40GB", "", "x", "1 Gi"]
VERSIONS = [
    "1.2.3-rc.1.x+b",
    "18446744073709551615.0.0",
    "1.2.3-0",
    "1.2.3",
    "550.54.15",
    "9.0.0",
    "12.4.0",
    "1.2.3-rc.1",
    "1.2.3+build.7",
    "0.0.0",
    "1.2.3-alpha.2",
]
BAD_VERSIONS = [
    "v1",
    "1",
    "v01.02.03",
    "1.2.3-01",
    "1.2.3-",
    "18446744073709551616.0.0",
    "1.2",
    "v1.2.3",
    "",
    "01.2.3",
    "1.2.x",
]
PATTERNS = ["^a", "H[0-9]+", ".*", "", "(a|b)+", "[", "\\\\d{2}", "g$", "(?i)tesla"]
ADDRESSES = [
    "192.168.1.20",
    "10.0.0.1",
    "::1",
    "fe80::1",
    "2001:db8::1",
    "256.1.1.1",
    "224.0.0.1",
    "::ffff:1.2.3.4",
    "",
]
NETWORKS = [
    "192.168.1.0/24",
    "10.0.0.0/8",
    "::/0",
    "fe80::/10",
    "1.2.3.4/33",
    "192.168.1.20/32",
    "x/8",
]
URLS = [
    "https://example.com:80/path?k=v&k=w",
    "/abs",
    "rel",
    "http://[::1]:443/",
    "https://a b",
    "ftp://u:p@h/x%20y",
    "",
]
MOMENTS = [
    "2026-01-02T03:04:05Z",
    "2020-02-29T23:59:59.123456789+02:00",
    "1969-12-31T00:00:00Z",
    "nope",
]
SPANS = ["1h", "90m", "1.5s", "-3ms", "0", "100us", "1x"]
FORMATS = [
    "%.12f",
    "%.99999999999f",
    "%X",
    "%e",
    "%.3e",
    "%s",
    "%d",
    "%s-%s",
    "%%",
    "%x",
    "%.2f",
    "a",
    "%b %o",
    "%s %s %s",
    "%q",
]
NAMES = ["type", "index", "cc", "ver", "ok", "missing", "productName", "memory", "strs", "ints"]


def quote(text: str) -> str:
    """Return the text as a literal."""
    return json.dumps(text, ensure_ascii=False)
