"""Kernels with more operands than IREE's runtime passes to one: 32 buffers, 64 numbers of 32 bits; and not translated
ones.

And longer chains of branches than IREE's analyses follow.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from iree.compiler import ir
from torch import Tensor

from ssa_compiler.backend.ir.bindings import walk
from ssa_compiler.backend.verify.kernel_access import dispatch_lines
from ssa_compiler.backend.verify.kernel_limits import find_untranslated
from ssa_compiler.testing import check


def many_tensors(tensors: list[Tensor]) -> Tensor:
    total = tensors[0].clone()
    for tensor in tensors:
        total = total * 0.5 + tensor
    return total


def many_numbers(x: Tensor, numbers: list[float]) -> Tensor:
    for number in numbers:
        x = x * number + 1
    return x


def a_tensor_of_many_numbers(numbers: list[float]) -> Tensor:
    return torch.tensor(numbers) * 2


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (many_tensors, ([torch.randn(5) for _ in range(70)],)),
        (many_numbers, (torch.randn(5), [0.5 + n / 100 for n in range(70)])),
        (a_tensor_of_many_numbers, ([n / 7 for n in range(40)],)),
    ],
    ids=lambda given: given.__name__ if callable(given) else "",
)
@pytest.mark.slow
def test_more_operands_than_a_kernel_may_have(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    assert check(function, arguments, compiled=True).compiled.explain().callbacks == ()


def many_branches(x: Tensor, bounds: list[int], n: int) -> Tensor:
    for bound in bounds:
        if n > bound:
            x = x * 0.5
    return x


def test_a_tensor_that_more_branches_hand_on_than_an_analysis_takes_steps() -> None:
    given = (torch.randn(5), list(range(36)), 3)
    assert check(many_branches, given, compiled=True).compiled.explain().callbacks == ()


def softened(x: Tensor, y: Tensor) -> Tensor:
    hot = (x - 1).exp()
    return hot / hot.sum(1, keepdim=True) + y.flip(0)


def test_kernels_that_are_not_translated_are_found() -> None:
    """The message has no line: it shows the functions of the whole executable."""
    artifact = check(softened, (torch.rand(3, 4), torch.rand(3, 4)), compiled=True).compiled.artifact
    with ir.Context() as context, ir.Location.unknown():
        stream = ir.Module.parse(artifact.stream, context)
        names = re.findall(r'stream\.executable\.export"\(\) <\{[^}]*sym_name = "([^"]+)"', artifact.stream)
        assert len(names) > 1
        shown = "".join(
            f'    "llvm.func"() <{{CConv = #llvm.cconv<ccc>, sym_name = "{name}"}}> ({{\n'
            f'      %1 = "llvm.add"(%0, %0) : (i64, i64) -> i64\n{body}'
            for name, body in zip(names, ['      %2 = "builtin.unrealized_conversion_cast"(%1) : (i64) -> index\n', ""])
        )
        message = "<unknown>:0: error: LLVM Translation failed for operation: builtin.unrealized_conversion_cast\n"
        (found,) = find_untranslated(stream, message + shown)
        dispatches = [op for op in walk(stream.operation) if op.name == "stream.async.dispatch"]
        expected = [dispatch_lines(op, stream) for op in dispatches if names[0] in str(op.attributes["entry_points"])]
        assert [found] == expected
        assert found
        assert find_untranslated(stream, message) == []
