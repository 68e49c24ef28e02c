"""Numbers of GPUs in the command lines of model servers and training launchers.

Sources: vllm-project/vllm:vllm/engine/arg_utils.py@v0.11,
sgl-project/sglang:python/sglang/srt/server_args.py@v0.5,
NVIDIA/TensorRT-LLM:tensorrt_llm/commands/serve.py@v1.0,
triton-inference-server/tensorrtllm_backend:scripts/ launch_triton_server.py@v1.0,
pytorch/pytorch:torch/distributed/run.py@v2.9, huggingface/text-generation-inference (launcher
arguments, v3.3), huggingface/accelerate (launch, v1.10), deepspeedai/DeepSpeed (launcher, v0.17).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from math import prod
from typing import Final

from msgspec import Struct

_WORD: Final = re.compile(r"[^\s'\"\\]+")
_MANY_NODES: Final = re.compile(
    r"(?:^|[/\s=])ray(?:\s|$)|multinode|--headless|--data-parallel-(?:address|start-rank|hybrid-lb|external-lb)"
)
_DIGITS: Final = 6  # a longer number can't be a number of GPUs


class ServerKind(Struct, frozen=True, kw_only=True):
    """A server: the word that identifies it in a command line, the flags whose values are
    multiplied, and the flag for its number of nodes.
    """

    name: str
    word: str
    factors: tuple[tuple[str, ...], ...]
    nodes: tuple[str, ...] = ()


class ServerGpus(Struct, frozen=True, kw_only=True):
    """The GPUs that a command line requests on one node, and the flags for them."""

    server: str
    gpus: int
    flags: str


SERVERS: Final = (
    ServerKind(
        name="SGLang",
        word="sglang",
        factors=(
            ("--tp-size", "--tp", "--tensor-parallel-size"),
            ("--pp-size", "--pipeline-parallel-size"),
        ),
        nodes=("--nnodes",),
    ),
    ServerKind(
        name="TensorRT-LLM",
        word="trtllm",
        factors=(("--tp_size", "--tp-size"), ("--pp_size", "--pp-size")),
    ),
    ServerKind(name="Triton", word="launch_triton_server", factors=(("--world_size",),)),
    ServerKind(
        name="torchrun", word="torchrun", factors=(("--nproc-per-node", "--nproc_per_node"),)
    ),
    ServerKind(
        name="torch.distributed",
        word="torch.distributed",
        factors=(("--nproc-per-node", "--nproc_per_node"),),
    ),
    ServerKind(
        name="Accelerate",
        word="accelerate",
        factors=(("--num_processes",),),
        nodes=("--num_machines",),
    ),
    ServerKind(name="DeepSpeed", word="deepspeed", factors=(("--num_gpus",),)),
    ServerKind(name="TGI", word="text-generation", factors=(("--num-shard",),)),
    ServerKind(name="TGI", word="", factors=(("--num-shard",),)),
    ServerKind(
        name="vLLM",
        word="",  # the entry point of vLLM images is vLLM itself, so only flags are given
        factors=(
            ("--tensor-parallel-size", "-tp"),
            ("--pipeline-parallel-size", "-pp"),
            ("--data-parallel-size-local", "--data-parallel-size", "-dp"),
        ),
    ),
)


def gpus_of_command(command: Sequence[str]) -> ServerGpus | None:
    """Return the GPUs that a container's command line requests, or None if it doesn't request any,
    or if the server uses several nodes.

    Flags whose values aren't numbers, such as variables, count as unknown, and the result is None.
    """
    text = "\n".join(command)
    if _MANY_NODES.search(text):
        return None
    flags = dict(_flags(_WORD.findall(text)))
    for kind in SERVERS:
        if kind.word not in text:
            continue
        found = [
            name
            for names in kind.factors
            if (name := next((each for each in names if each in flags), ""))
        ]
        if not found:
            continue
        values = [_number(flags[name]) for name in found]
        nodes = next((_number(flags[name]) for name in kind.nodes if name in flags), 1)
        known = [each for each in values if each]
        if not nodes or len(known) < len(values):
            return None
        shown = " ".join(f"{name} {flags[name]}" for name in found)
        return ServerGpus(server=kind.name, gpus=-(-prod(known) // nodes), flags=shown)
    return None


def _flags(words: Sequence[str]) -> Mapping[str, str]:
    """Return the values of flags, written as `--flag value` or `--flag=value`. The last value takes
    precedence.
    """
    found: dict[str, str] = {}
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        if word.startswith("-"):
            name, equals, value = word.partition("=")
            found[name] = value if equals else following
    return found


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) <= _DIGITS else None
