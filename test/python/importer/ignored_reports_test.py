"""Python functions in a program, by the names that the user knows."""

# Annotations are evaluated: TorchScript reads those of ignored functions as they are.
import inspect
import re

import pytest
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.testing import check

X = torch.arange(12.0).reshape(3, 4)


@torch.jit.ignore
def through_numpy(x: Tensor) -> Tensor:
    return torch.from_numpy(x.numpy() * 2)


class Logged(nn.Module):
    @torch.jit.ignore
    def keep(self, x: Tensor) -> Tensor:
        return x + 1

    @torch.jit.unused
    def double_(self, x: Tensor) -> None:
        x.mul_(2)

    def forward(self, x: Tensor, n: int) -> Tensor:
        y = x.clone()
        for _ in range(n):
            y = self.keep(y)
            self.double_(y)
        y[0] = 0
        print(n)
        return torch.special.zeta(y, 2.0)


def in_a_result(x: Tensor) -> Tensor:
    y = through_numpy(x)
    y[0] = 1
    return y


def test_explain_names_the_users_functions() -> None:
    compiled = ssa_compiler.compile(Logged(), (X, 2))
    compiled(X, 3)
    explained = compiled.explain()
    first = inspect.getsourcelines(Logged.forward)[1]
    assert [str(use).rpartition("/")[2] for use in explained.callbacks] == [
        f"ignored_reports_test.py:{first + 3}: Logged.keep ran 3 times in Python: it is marked @torch.jit.ignore",
        f"ignored_reports_test.py:{first + 4}: Logged.double_ ran 3 times in Python: it is marked @torch.jit.unused",
        f"ignored_reports_test.py:{first + 6}: print ran once in Python: compiled code cannot print",
        f"ignored_reports_test.py:{first + 7}: aten::special_zeta.other_scalar ran once in PyTorch: "
        "torch-mlir has no such op",
    ]
    assert explained.kernel_reason == "Logged.keep runs in Python"
    assert not re.search(r"ssa_ignored|functionalized", f"{explained} {compiled.report()}")


def test_strict_names_the_users_functions() -> None:
    with pytest.raises(ssa_compiler.UnsupportedOpError, match=r": Logged\.keep: it is marked @torch\.jit\.ignore\n"):
        ssa_compiler.compile(Logged(), (X, 2), strict=True)


def test_the_report_of_writes_names_the_users_functions() -> None:
    assert "writes the result of through_numpy (" in str(ssa_compiler.compile(in_a_result, (X,)).report())


def seeded(x: Tensor) -> Tensor:
    torch.manual_seed(0)
    return x + torch.rand(4)


def test_other_callbacks_have_their_own_reason() -> None:
    reasons = {use.op: use.reason for use in ssa_compiler.compile(seeded, (X,)).explain().callbacks}
    assert reasons == {
        "aten::manual_seed": "it sets PyTorch's random stream",
        "aten::rand": "it draws from PyTorch's random stream",
    }


@torch.jit.ignore
def scaled(x: Tensor, *, scale: float = 2.0) -> Tensor:
    return x * scale


def calls_by_keyword(x: Tensor) -> Tensor:
    return scaled(x, scale=3.0)


def test_keyword_only_parameters_are_named() -> None:
    with pytest.raises(
        ssa_compiler.errors.ScriptError, match=r"an ignored function with keyword-only parameters; .*leave out the \\*"
    ):
        ssa_compiler.compile(calls_by_keyword, (torch.ones(2),))


@torch.jit.ignore
def passed_on(x: Tensor) -> Tensor:
    return x


def returns_passed_on(x: Tensor) -> Tensor:
    return passed_on(x)


def returns_passed_on_twice(x: Tensor) -> Tensor:
    return passed_on(x * 2)


def test_the_callers_tensor_is_not_returned_as_a_copy() -> None:
    check(returns_passed_on_twice, (X,))
    compiled = ssa_compiler.compile(returns_passed_on, (X,))
    with pytest.raises(ssa_compiler.errors.ProgramError, match="returned its argument, the caller's tensor"):
        compiled(X)
