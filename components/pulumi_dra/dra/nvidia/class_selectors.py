"""CEL selectors of the predefined DeviceClasses, and a check of custom selectors."""

from dra_planner import cel
from dra_planner.drivers.nvidia import GPU_DRIVER
from dra_planner.releases import features_of

DRIVER = GPU_DRIVER
DEVICES = ("gpu", "mig", "any")
"""A whole GPU, a MIG device, or either."""


def class_selectors(
    *, device: str = "", memory_gib_at_least: int = 0, mig_profile: str = ""
) -> list[str]:
    """Return the selectors for a set of conditions, starting with the most general. Empty if there
    are no conditions.

    Memory is a quantity, so it's compared with compareTo, because `>=` doesn't compile. Whole GPUs
    and MIG devices both have `memory`, and only MIG devices have `profile`.
    """
    kind = "mig" if mig_profile else device
    selectors: list[str] = []
    if kind or memory_gib_at_least:
        selectors.append(f'device.driver == "{DRIVER}"')
    if kind in ("gpu", "mig"):
        selectors.append(f'device.attributes["{DRIVER}"].type == "{kind}"')
    if mig_profile:
        selectors.append(f'device.attributes["{DRIVER}"].profile == "{mig_profile}"')
    if memory_gib_at_least:
        wanted = f'quantity("{memory_gib_at_least}Gi")'
        selectors.append(f'device.capacity["{DRIVER}"].memory.compareTo({wanted}) >= 0')
    return selectors


def refusal_of(expression: str, minor: int) -> str:
    """Return the reason why Kubernetes 1.<minor> would reject this selector, or ""."""
    compiled = cel.compile(expression, cel.Dialect.of(features_of(minor), environment="new"))
    # don't reject a selector if the result is uncertain
    if not isinstance(compiled, cel.RejectedSelector) or compiled.kind == "unsupported":
        return ""
    return compiled.message + (f"; {compiled.fix}" if compiled.fix else "")
