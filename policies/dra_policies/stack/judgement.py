"""The demand of a plan, judged again."""

from __future__ import annotations

from collections.abc import Sequence

from dra_policies.rules.view import StackView
from dra_policies.stack.resource import Resource


def judge_record(view: StackView) -> StackView:
    return view


def judge_stack(view: StackView, resources: Sequence[Resource]) -> StackView:
    return view
