"""Generated portfolios: small stacks that differ, in scenarios that matter to them."""

from __future__ import annotations

import random
from pathlib import Path

from gpu_manifests import deployment, template

FLEET = """\
cloud: eks
region: us-east-1
kubernetes: "1.34"
systemPool: {{machine: m7i.large}}
drivers: {{nvidia: {{version: 25.8.1}}}}
pools:
  - {{name: gpu, machine: {machine}, count: {{min: 0, max: {most}}}}}
"""


def write_portfolio(folder: Path, stacks: int, scenarios: int, more: str = "") -> Path:
    """Write this number of stacks and scenarios (in addition to `as-is`) to a folder, and return
    the path of the portfolio file.
    """
    dice = random.Random(stacks)
    (folder / "fleets").mkdir(parents=True)
    (folder / "work").mkdir()
    entries = []
    for at in range(stacks):
        machine = dice.choice(("g6.xlarge", "g6.2xlarge", "g6e.2xlarge"))
        name = f"c{at:05d}"
        fleet = FLEET.format(machine=machine, most=dice.randint(2, 8))
        (folder / "fleets" / f"{name}.yaml").write_text(fleet)
        (folder / "work" / f"{name}.yaml").write_text(
            f"{template()}---\n{deployment(replicas=dice.randint(1, 4))}"
        )
        entries.append(f"  - {{fleet: fleets/{name}.yaml, workloads: [work/{name}.yaml]}}\n")
    futures = [
        f"  - {{name: grow-{at}, replicas: {1 + at / 10}}}\n" for at in range(1, scenarios + 1)
    ]
    file = folder / "portfolio.yaml"
    head = "scenarios:\n" if futures else ""
    file.write_text(f"stacks:\n{''.join(entries)}{head}{''.join(futures)}{more}")
    return file
