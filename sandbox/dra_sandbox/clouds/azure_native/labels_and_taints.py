"""Check labels and taints of AKS agent pools, with the error messages that users of the real AKS
report.
"""

from __future__ import annotations

import re

from dra_sandbox.clouds.label_syntax import is_key, is_value
from dra_sandbox.clouds.wire_values import Values

INVALID = "InvalidParameter: "


def labels_are_accepted(pool: Values) -> str | None:
    """Reject reserved or invalid labels.

    Sources: ams0/aks-nvme-ssd-provisioner issue 5, Azure/AKS issues 4613 and 1538 (syntax).
    """
    for key in pool.get("nodeLabels") or {}:
        domain = key.rpartition("/")[0]
        if domain == "kubernetes.azure.com":
            return (
                f"BadRequest: Invalid node label key {key}. The 'kubernetes.azure.com' prefix is "
                "preserved by aks "
                "system labels"
            )
        of_kubernetes = re.fullmatch(r"(.*\.)?(kubernetes\.io|k8s\.io)", domain)
        if of_kubernetes and not re.fullmatch(r"(.*\.)?(kubelet|node)\.kubernetes\.io", domain):
            return (
                "BadRequest: For Kubernetes version greater than or equal to 1.16, node label keys "
                "in the "
                "'kubernetes.io' or 'k8s.io' namespace must begin with an allowed prefix "
                "(kubelet.kubernetes.io, "
                "node.kubernetes.io)"
            )
        value = str((pool.get("nodeLabels") or {})[key])
        if not is_key(key) or not is_value(value):
            return (
                f"BadRequest: Node label '{key}: {value}' does not meet syntax and character "
                "specifications. Please "
                "see https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/ for "
                "more details."
            )
    return None


def taints_are_accepted(pool: Values) -> str | None:
    """Reject invalid taints, and taints that system pools don't support.

    Sources: Azure/AKS issue 2578 (system pools); learn.microsoft.com/azure/aks/use-node-taints
    (kubectl's format).
    """
    for taint in pool.get("nodeTaints") or []:
        if not re.fullmatch(r"[^=:]+(=[^:]*)?:(NoSchedule|PreferNoSchedule|NoExecute)", taint):
            return f'{INVALID}agentPoolProfile.nodeTaints: "{taint}" is not key=value:effect'
        key, _, value = taint.rpartition(":")[0].partition("=")
        if not is_key(key) or not is_value(value):
            return f'{INVALID}agentPoolProfile.nodeTaints: key or value of "{taint}" is not valid'
        ours = taint.startswith("CriticalAddonsOnly=") or taint.endswith(":PreferNoSchedule")
        if pool.get("mode") == "System" and not ours:
            return (
                "SystemPoolHasRestrictedTaint: Placing custom taints on system pool is not "
                "supported(except "
                "'CriticalAddonsOnly' taint or taint effect is 'PreferNoSchedule')"
            )
    return None
