"""A program that runs at every boot of an EKS node. Its systemd unit keeps the node from joining if
the program fails.
"""

# cloud-init runs this script only at the first boot. At later boots, systemd starts the unit. If
# the unit fails here, the start of nodeadm-run, which waits for the unit, fails too. The script
# also masks nodeadm-run, because it might have been queued before it required the unit.
START_SECONDS = 900  # a blocking start that waits for a unit after cloud-final would never end
_INSTALLER = """\
#!/bin/bash
set -euo pipefail
cat >{program_path} <<'PROGRAM'
{program}PROGRAM
chmod 0755 {program_path}
cat >/etc/systemd/system/{unit} <<'UNIT'
{unit_text}UNIT
systemctl daemon-reload
systemctl enable {unit}
{before}if ! timeout {start_seconds} systemctl start {unit}; then
  echo "{unit} failed, so this node doesn't join the cluster." | tee /dev/console >&2 || true
  journalctl --no-pager --unit {unit} | tee /dev/console >&2 || true
  systemctl mask --runtime --now nodeadm-run.service
  exit 1
fi
{after}"""


def unit_installer(
    *, unit: str, unit_text: str, program_path: str, program: str, before: str = "", after: str = ""
) -> str:
    """Return the cloud-init script that installs and starts a program and its unit.

    `before` and `after` are lines of the script around the start.
    """
    return _INSTALLER.format(
        program_path=program_path,
        program=program,
        unit=unit,
        unit_text=unit_text,
        before=before,
        after=after,
        start_seconds=START_SECONDS,
    )
