"""RuntimeClasses change the pods that refer to them, in the same way as admission."""

from __future__ import annotations

import pytest

from dra_planner.claims.admission.runtime_classes import refuse_runtime_class, with_runtime_class
from dra_planner.manifests import Manifests
from dra_planner.manifests.parsing.runtime_classes import parse_runtime_class
from dra_planner.model import PodSpec, Toleration

KATA = parse_runtime_class(
    {
        "metadata": {"name": "kata"},
        "overhead": {"podFixed": {"cpu": "250m", "memory": "128Mi"}},
        "scheduling": {
            "nodeSelector": {"example.com/kata": "true"},
            "tolerations": [{"key": "kata", "operator": "Exists"}],
        },
    }
)
CLASSES = {"kata": KATA}
MANIFESTS = Manifests(runtime_classes=CLASSES)
OVERHEAD = {"cpu": 250, "memory": 128 * 2**20}


def test_admission_adds_overhead_selector_and_tolerations() -> None:
    own = Toleration("nvidia.com/gpu", "Exists")
    pod = PodSpec(runtime_class_name="kata", node_selector={"zone": "a"}, tolerations=(own,))
    made = with_runtime_class(pod, CLASSES)
    assert made.overhead == OVERHEAD
    assert made.node_selector == {"zone": "a", "example.com/kata": "true"}
    assert made.tolerations == (own, Toleration("kata", "Exists"))


def test_pod_without_a_known_class_is_unchanged() -> None:
    for pod in (PodSpec(), PodSpec(runtime_class_name="gvisor")):
        assert with_runtime_class(pod, CLASSES) == pod
        assert refuse_runtime_class(pod, MANIFESTS) is None


@pytest.mark.parametrize(
    ("pod", "message"),
    [
        (PodSpec(overhead=OVERHEAD), "without a RuntimeClass"),
        (
            PodSpec(runtime_class_name="kata", overhead={"cpu": 1}),
            'differs from the overhead of RuntimeClass "kata"',
        ),
        (
            PodSpec(runtime_class_name="kata", node_selector={"example.com/kata": "false"}),
            "example.com/kata=false",
        ),
    ],
)
def test_api_server_rejects_pods_that_contradict_their_class(pod: PodSpec, message: str) -> None:
    reason = refuse_runtime_class(pod, MANIFESTS)
    assert reason is not None
    assert message in reason.message


def test_equal_overhead_is_admitted() -> None:
    assert (
        refuse_runtime_class(PodSpec(runtime_class_name="kata", overhead=OVERHEAD), MANIFESTS)
        is None
    )
