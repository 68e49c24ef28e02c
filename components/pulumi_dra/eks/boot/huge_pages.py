"""Huge pages on EKS, reserved at every boot before kubelet starts, because kubelet reports them at
start.

A node that gets fewer pages than planned, for example because memory is fragmented, doesn't join.
"""

from collections.abc import Mapping

from pulumi_dra.eks.boot.systemd_unit import unit_installer

UNIT = "pulumi-dra-huge-pages.service"
PROGRAM_PATH = "/usr/local/sbin/pulumi-dra-huge-pages"
FOLDER = "/sys/kernel/mm/hugepages"
"""kernel.org/doc/html/latest/admin-guide/mm/hugetlbpage.html: one folder per size, which contains
the number of pages.
"""

# The image starts the kubelet only through nodeadm-run
# (awslabs/amazon-eks-ami:templates/al2023/runtime@81fec2e), and the kubelet detects huge pages when
# it starts (kubernetes.io/docs/tasks/manage-hugepages/scheduling-hugepages).
UNIT_TEXT = f"""\
[Unit]
Description=Huge pages on this node, as planned for its pool
Before=nodeadm-run.service kubelet.service

[Service]
Type=oneshot
RemainAfterExit=true
ExecStart={PROGRAM_PATH}

[Install]
WantedBy=multi-user.target
RequiredBy=nodeadm-run.service
"""

PROGRAM = f"""\
#!/bin/bash
set -euo pipefail

# reserve KILOBYTES COUNT: exactly COUNT pages of a size
reserve() {{
  local file={FOLDER}/hugepages-$1kB/nr_hugepages found
  echo "$2" >"$file"
  found=$(cat "$file")
  [ "$found" -ge "$2" ] || {{ echo "$found of $2 huge pages of $1 kB could be reserved" >&2; exit 1; }}
}}

"""
# larger pages first, while contiguous memory is available
_KILOBYTES = {"1Gi": 1024 * 1024, "2Mi": 2 * 1024}


def huge_pages_program(pages: Mapping[str, int]) -> str:
    """Return the program that reserves the number of pages of each size ("2Mi", "1Gi")."""
    calls = [
        f"reserve {size} {pages[name]}" for name, size in _KILOBYTES.items() if pages.get(name)
    ]
    return PROGRAM + "".join(f"{call}\n" for call in calls)


def huge_pages_installer(pages: Mapping[str, int]) -> str:
    """Return the cloud-init script that installs and starts the program and its unit."""
    return unit_installer(
        unit=UNIT, unit_text=UNIT_TEXT, program_path=PROGRAM_PATH, program=huge_pages_program(pages)
    )
