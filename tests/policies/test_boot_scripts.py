"""Labels and taints of nodes that a boot script passes to kubelet."""

from __future__ import annotations

import pytest

from dra_planner.model import Taint
from dra_policies.stack.boot_scripts import labels_of_script, taints_of_script

JOINS = ("bootstrap.sh",)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (
            "/etc/eks/bootstrap.sh c --kubelet-extra-args '--node-labels=a=b,pool=gpu'",
            {"a": "b", "pool": "gpu"},
        ),
        ("/etc/eks/bootstrap.sh $CLUSTER --kubelet-extra-args '--node-labels=a=b'", {"a": "b"}),
        ("/etc/eks/bootstrap.sh c", {}),
        (
            "# --node-labels=old=1\n/etc/eks/bootstrap.sh c --kubelet-extra-args --node-labels=a=b",
            {"a": "b"},
        ),
        ("# /etc/eks/bootstrap.sh c", None),
        ("/etc/eks/bootstrap.sh c --kubelet-extra-args '--node-labels=a=b,pool=$POOL'", None),
        ('/etc/eks/bootstrap.sh c --kubelet-extra-args "$EXTRA_ARGS"', None),
        ("/etc/eks/bootstrap.sh c --kubelet-extra-args --node-labels=zone=$(zone)", None),
        ("echo hello", None),
        ("", None),
    ],
)
def test_labels_are_read_only_if_the_script_states_them(
    script: str, expected: dict[str, str] | None
) -> None:
    assert labels_of_script(script, JOINS) == expected


def test_taints_are_read_only_if_the_script_states_them() -> None:
    stated = (
        "/etc/eks/bootstrap.sh c --kubelet-extra-args --register-with-taints=gpu=true:NoSchedule"
    )
    computed = "/etc/eks/bootstrap.sh c --kubelet-extra-args --register-with-taints=$TAINTS"

    assert taints_of_script(stated, JOINS) == (Taint("gpu", "true", "NoSchedule"),)
    assert taints_of_script(computed, JOINS) is None
