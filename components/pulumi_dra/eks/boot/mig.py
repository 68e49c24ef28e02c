"""MIG on EKS: a systemd unit that runs at every boot before kubelet. A node without its MIG
configuration doesn't join.
"""

from collections.abc import Sequence

from dra_planner import catalog
from dra_planner.drivers import nvidia
from pulumi_dra.eks.boot.systemd_unit import unit_installer

UNIT = "pulumi-dra-mig.service"
PROGRAM_PATH = "/usr/local/sbin/pulumi-dra-mig"

# The image starts kubelet only through nodeadm-run, after cloud-final
# (awslabs/amazon-eks-ami:templates/al2023/runtime@81fec2e). The unit that loads the driver differs
# between images: nvidia-kmod-load up to v20260720, nvidia-setup from v20260917 (pull request 2819).
# `After=` skips units that an image doesn't have, and the program waits for the driver itself, so a
# third name works too. `Requires=` would keep the node from joining on every image without that
# unit. MIG instances don't survive a reboot (NVIDIA/k8s-device-plugin issue 343), so the unit runs
# at every boot.
UNIT_TEXT = f"""\
[Unit]
Description=MIG instances on this node's GPUs
After=nvidia-kmod-load.service nvidia-setup.service nvidia-fabricmanager.service
Before=nvidia-persistenced.service set-nvidia-clocks.service nodeadm-run.service kubelet.service

[Service]
Type=oneshot
RemainAfterExit=true
ExecStart={PROGRAM_PATH}
StandardOutput=journal+console
StandardError=journal+console

[Install]
WantedBy=multi-user.target
RequiredBy=nodeadm-run.service
"""

# The program changes only settings that differ, so it can run at any time before pods start. It
# fails if a GPU doesn't reach the requested state. A pending mode takes effect after the GPU is
# reset.
PROGRAM = """\
#!/bin/bash
set -euo pipefail

# wait_for_driver: return when the driver answers, fail when it doesn't within DRIVER_SECONDS
wait_for_driver() {
  local end=$((SECONDS + ${DRIVER_SECONDS:-300}))
  until nvidia-smi -L >/dev/null 2>&1; do
    if [ "$SECONDS" -ge "$end" ]; then
      echo "The NVIDIA driver doesn't answer, so this node can't create its MIG instances and doesn't join." >&2
      nvidia-smi -L >&2 || true
      exit 1
    fi
    sleep 1
  done
}

mode() { nvidia-smi -i "$1" --query-gpu=mig.mode.current --format=csv,noheader; }

# instances GPU -lgi|-lci: the profiles of its GPU or compute instances, sorted; an empty list is valid
instances() { { nvidia-smi mig -i "$1" "$2" || true; } | sed -nE 's/.* MIG ([^ ]+) .*/\\1/p' | sort; }

is_laid_out() {
  [ "$(instances "$1" -lgi)" = "$2" ] && [ "$(instances "$1" -lci | wc -l)" = "$(printf '%s' "$2" | grep -c .)" ]
}

# lay_out GPU PROFILE…: MIG mode on, and exactly these instances, created in this order
lay_out() {
  local gpu=$1 wanted
  shift
  wanted=$(printf '%s\\n' "$@" | sed '/^$/d' | sort)
  if [ "$(mode "$gpu")" != Enabled ]; then
    nvidia-smi -i "$gpu" -mig 1
    [ "$(mode "$gpu")" = Enabled ] || nvidia-smi -i "$gpu" --gpu-reset
    [ "$(mode "$gpu")" = Enabled ] || { echo "GPU $gpu: MIG mode cannot be turned on" >&2; exit 1; }
  fi
  if is_laid_out "$gpu" "$wanted"; then return; fi
  nvidia-smi mig -i "$gpu" -dci >/dev/null || true
  nvidia-smi mig -i "$gpu" -dgi >/dev/null || true
  if [ $# -gt 0 ]; then nvidia-smi mig -i "$gpu" -cgi "$(IFS=,; echo "$*")" -C; fi
  is_laid_out "$gpu" "$wanted" || { echo "GPU $gpu doesn't have its MIG instances: $*" >&2; exit 1; }
}

"""


def mig_program(mig: Sequence[Sequence[str] | None]) -> str:
    """Return the program that configures MIG. None means that the GPU doesn't change."""
    calls = [
        " ".join(["lay_out", str(gpu), *each]) for gpu, each in enumerate(mig) if each is not None
    ]
    return PROGRAM + "".join(f"{call}\n" for call in ["wait_for_driver", *calls])


def mig_installer(mig: Sequence[Sequence[str] | None]) -> str:
    """Return the cloud-init script that installs and starts the program and its unit.

    `mig` holds, for each GPU in device order, its instances in creation order ("3g.40gb",
    "3g.40gb"), or None.
    """
    return unit_installer(
        unit=UNIT,
        unit_text=UNIT_TEXT,
        program_path=PROGRAM_PATH,
        program=mig_program(mig),
        before="systemctl stop nvidia-persistenced.service || true\n",
        after="systemctl start nvidia-persistenced.service || true\n",
    )


def mig_instances(machine: str, layout: str) -> list[list[str] | None]:
    """Return the MIG instances of each GPU in creation order, or None for a GPU that stays whole.
    Raises CatalogError.
    """
    return [
        None if geometry is None else [instance.profile.name for instance in geometry]
        for geometry in nvidia.mig_layout(catalog.machine("eks", machine), layout)
    ]
