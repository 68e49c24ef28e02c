"""GPUs in the command lines of servers and launchers, compared with claims."""

from __future__ import annotations

import pytest
import yaml

from dra_planner.claims.server_flags import gpus_of_command
from dra_planner.manifests import Manifests
from dra_planner.plan import read_checked
from dra_planner.releases import features_of
from dra_planner.sources import Source
from dra_policies.rules.claims.server_flags_differ_from_claim import RULE
from dra_policies.view.manifest_view import view_of

F36 = features_of(36)
COMMANDS = {
    "vllm serve m --tensor-parallel-size 4": ("vLLM", 4),
    "vllm serve m -tp 2 -pp 2": ("vLLM", 4),
    "vllm serve m -tp 2 --data-parallel-size 2": ("vLLM", 4),
    "--model m --tensor-parallel-size=8": ("vLLM", 8),
    "python -m sglang.launch_server --tp 16 --nnodes 2": ("SGLang", 8),
    "python -m sglang.launch_server --tp-size 4": ("SGLang", 4),
    "trtllm-serve m --tp_size 4 --pp_size 2": ("TensorRT-LLM", 8),
    "python3 launch_triton_server.py --world_size 2": ("Triton", 2),
    "torchrun --nproc-per-node 8 train.py": ("torchrun", 8),
    "torchrun --nproc_per_node=4 --nnodes=2 train.py": ("torchrun", 4),
    "python -m torch.distributed.run --nproc-per-node 2 t.py": ("torch.distributed", 2),
    "accelerate launch --num_processes 16 --num_machines 2 t.py": ("Accelerate", 8),
    "deepspeed --num_gpus 4 t.py": ("DeepSpeed", 4),
    "text-generation-launcher --num-shard 2": ("TGI", 2),
}
UNKNOWN = [
    "sleep infinity",
    "vllm serve m --tensor-parallel-size $TP",
    "vllm serve m --tensor-parallel-size",
    "torchrun --nproc-per-node gpu train.py",
    "ray start --head && vllm serve m --tensor-parallel-size 16",
    "vllm serve m --data-parallel-size 16 --data-parallel-address 10.0.0.1",
    "accelerate launch --num_processes 16 --num_machines $N t.py",
    "nginx -tp",
    f"vllm serve m --tensor-parallel-size {'9' * 5000}",
]


@pytest.mark.parametrize(("command", "expected"), COMMANDS.items())
@pytest.mark.parametrize("shell", [False, True], ids=["words", "shell"])
def test_gpus_are_read_from_a_command_line(
    command: str, expected: tuple[str, int], shell: bool
) -> None:
    words = ["sh", "-c", f"export A=1 && \\\n exec {command}"] if shell else command.split()
    found = gpus_of_command(words)
    assert found is not None
    assert (found.server, found.gpus) == expected


@pytest.mark.parametrize("command", UNKNOWN, ids=lambda command: command[:60])
def test_an_unspecified_number_of_gpus_is_unknown(command: str) -> None:
    assert gpus_of_command(command.split()) is None
    assert gpus_of_command(["sh", "-c", command]) is None


def findings(args: str, request: dict[str, object], kind: str = "Pod") -> list[str]:
    objects = [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "gpus"},
            "spec": {"spec": {"devices": {"requests": [{"name": "gpus", **request}]}}},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "server"},
            "spec": {
                "resourceClaims": [{"name": "gpus", "resourceClaimTemplateName": "gpus"}],
                "containers": [
                    {
                        "name": "main",
                        "image": "registry.example/s",
                        "args": args.split(),
                        "resources": {"claims": [{"name": "gpus"}]},
                    }
                ],
            },
        },
    ]
    manifests: Manifests = read_checked([Source("m.yaml", yaml.safe_dump_all(objects))], F36)
    return [each.message for each in RULE.check(view_of(manifests, F36))]


def exactly(count: int = 1, name: str = "gpu.nvidia.com") -> dict[str, object]:
    return {"exactly": {"deviceClassName": name, "count": count}}


def test_a_gpu_count_other_than_the_claims_is_reported() -> None:
    assert findings("--tensor-parallel-size 4", exactly(4)) == []
    (more,) = findings("--tensor-parallel-size 4", exactly(2))
    assert more.endswith(
        "which needs 4 GPUs, but its claims request 2 GPUs, so the server doesn't start"
    )
    (fewer,) = findings("--tensor-parallel-size 2", exactly(4))
    assert fewer.endswith("so the other GPUs stay idle")


def test_mig_devices_of_one_gpu_are_not_connected() -> None:
    (found,) = findings("--tensor-parallel-size 2", exactly(2, "mig.nvidia.com"))
    # request whole GPUs, or set the flags to 1
    assert "NCCL can't connect MIG devices on the same GPU" in found
    assert findings("--tensor-parallel-size 2", exactly(2)) == [], (
        "request whole GPUs, or set the flags to 1"
    )
    assert findings("--tensor-parallel-size 1", exactly(1, "mig.nvidia.com")) == []


def test_claims_with_an_unknown_number_of_gpus_are_skipped() -> None:
    everything = {"exactly": {"deviceClassName": "gpu.nvidia.com", "allocationMode": "All"}}
    first = {"firstAvailable": [{"name": "a", "deviceClassName": "gpu.nvidia.com", "count": 2},
                                {"name": "b", "deviceClassName": "gpu.nvidia.com"}]}  # fmt: skip
    for request in (everything, first, exactly(1, "network.example.com")):
        assert findings("--tensor-parallel-size 4", request) == []
