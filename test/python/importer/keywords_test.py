# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Keywords that Python's torch takes and TorchScript does not know."""

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.arange(12.0).reshape(3, 4).sub(5).mul(0.7)


def of_methods(x: Tensor):
    y = x.sum(axis=0, keepdims=True) + x.mean(axis=1)[:, None]
    return y.norm(dim=-1), x.norm(p=1, dim=0, keepdim=True), x.argmax(axis=1), x.std(axis=0, correction=0)


def of_functions(x: Tensor):
    y = torch.cat([x, x], axis=1)
    z = torch.stack(tensors=[x, -x], axis=0)
    return y, z, torch.max(x, axis=1)[0], torch.mul(x1=x, x2=x), torch.add(a=x, other=x)


def of_python(x: Tensor):
    parts = torch.split(x, split_size_or_sections=2)
    return parts[1], torch.split(tensor=x, split_size_or_sections=[1, 3], dim=1)[0], torch.cdist(x, x, p=1)


def without_meaning(x: Tensor):
    return torch.zeros(2, 3, requires_grad=False) + torch.ones(2, 3, out=None), torch.sum(x, dim=0, out=None)


class Scale(nn.Module):
    """Whose methods have names of numpy's themselves."""

    def sum(self, x: Tensor, axis: int, dim: int) -> Tensor:
        return x.sum(dim) * (axis + 2)

    def forward(self, x: Tensor):
        return self.sum(x, axis=1, dim=0), F.normalize(x, dim=1)


@pytest.mark.parametrize("program", [of_methods, of_functions, of_python, without_meaning, Scale()])
def test_keywords(program):
    check(program, (X,), (X.flip(0),), compiled=program is of_methods)


class Both(nn.Module):
    """A method of the user's, and one of tensors, with the same name and keyword."""

    def sum(self, x: Tensor, axis: int, dim: int = 1) -> Tensor:
        return x.mean(axis=dim) * axis

    def forward(self, x: Tensor):
        return self.sum(x, axis=0), x.sum(axis=0)


def test_methods_of_the_users():
    check(Both(), (X,), (X.flip(0),), compiled=False)


def unknown(x: Tensor):
    return x.sum(axes=0)


def with_gradients(x: Tensor):
    return torch.zeros(2, requires_grad=True) + x.sum()


@pytest.mark.parametrize("program", [unknown, with_gradients])
def test_what_is_rejected(program):
    with pytest.raises(errors.SsaCompilerError):
        ssa_compiler.compile(program, (X,))
