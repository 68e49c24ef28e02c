"""A name misspells another one label by label, so that names of other drivers aren't mistakes."""

import pytest

from dra_planner.drivers.protocol.misspelled_names import intended_name

KNOWN = ("gpu.nvidia.com", "mig.nvidia.com", "gpu.amd.com", "gpu.example.com", "big-gpu")
CASES = {
    "a letter is missing": ("gpu.nvdia.com", "gpu.nvidia.com"),
    "a letter is missing at the end": ("gpu.nvidia.co", "gpu.nvidia.com"),
    "two letters are swapped": ("gup.nvidia.com", "gpu.nvidia.com"),
    "a letter too many": ("gpus.nvidia.com", "gpu.nvidia.com"),
    "a dash instead of a dot": ("gpu-nvidia.com", "gpu.nvidia.com"),
    "the last label is missing": ("gpu.example", "gpu.example.com"),
    "a custom class": ("bigg-gpu", "big-gpu"),
    "another kind of device": ("npu.example.com", ""),
    "another vendor": ("gpu.arm.com", ""),
    "another domain of a vendor": ("gpu.example.org", ""),
    "a word in front": ("vfio.gpu.nvidia.com", ""),
    "a known name that is similar to another one": ("mig.nvidia.com", ""),
}


@pytest.mark.parametrize("case", CASES, ids=CASES)
def test_only_misspellings_have_an_intended_name(case: str) -> None:
    name, intended = CASES[case]

    assert intended_name(name, KNOWN) == intended
