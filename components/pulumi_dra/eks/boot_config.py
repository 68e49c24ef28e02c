"""What a GPU node of EKS does at boot, as the text that its launch template carries."""

import base64
from collections.abc import Sequence
from email.mime.multipart import MIMEMultipart
from email.mime.nonmultipart import MIMENonMultipart

NODE_CONFIG = """\
apiVersion: node.eks.aws/v1alpha1
kind: NodeConfig
spec:
  instance:
    localStorage:
      strategy: {strategy}
"""

MIG_SCRIPT = """\
#!/bin/bash
set -euo pipefail
# MIG mode and instances are set before kubelet starts, so the DRA driver finds them in place.
systemctl stop nvidia-persistenced.service || true
{devices}
systemctl start nvidia-persistenced.service || true
"""

BOUNDARY = "pulumi-dra"


def boot_config(*, mig: Sequence[Sequence[str] | None] = (), local_storage: str = "none") -> str:
    """Return base64 user data, or "" when nothing needs saying.

    `mig` holds, for each GPU in device order, its MIG instances in creation order ("3g.40gb", "3g.40gb"), or None
    for a GPU that stays whole. `local_storage` is none, raid0 or mount and says what nodeadm does with local disks.
    EKS merges its own node configuration with this as long as the launch template names no image.
    """
    parts: list[tuple[str, str]] = []
    if local_storage != "none":
        strategy = {"raid0": "RAID0", "mount": "Mount"}[local_storage]
        parts.append(("application/node.eks.aws", NODE_CONFIG.format(strategy=strategy)))
    if any(instances is not None for instances in mig):
        parts.append(("text/x-shellscript", mig_script(mig)))
    return base64.b64encode(_multipart(parts).encode()).decode() if parts else ""


def mig_script(mig: Sequence[Sequence[str] | None]) -> str:
    """Return the script that sets MIG mode and makes the instances of each GPU."""
    lines: list[str] = []
    for device, instances in enumerate(mig):
        if instances is None:
            continue
        lines.append(f"nvidia-smi -i {device} -mig 1")
        if instances:
            lines.append(f"nvidia-smi mig -i {device} -cgi {','.join(instances)} -C")
    return MIG_SCRIPT.format(devices="\n".join(lines))


def _multipart(parts: list[tuple[str, str]]) -> str:
    document = MIMEMultipart(boundary=BOUNDARY)
    for kind, text in parts:
        main, sub = kind.split("/")
        part = MIMENonMultipart(main, sub)
        part.set_payload(text)
        document.attach(part)
    return document.as_string()
