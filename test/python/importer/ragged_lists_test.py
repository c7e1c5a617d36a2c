# mypy: disable-error-code="no-untyped-def"
"""Lists of dynamic length whose elements are tensors of different lengths."""

import pytest
import torch
from torch import Tensor

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([[3.0, 1.0], [1.0, 2.0], [2.0, 3.0], [5.0, 4.0]])


def concatenated(x, n: int):
    parts: list[Tensor] = []
    for k in range(n):
        parts.append(x[x[:, 0] > k])
    if len(parts) == 0:
        return x
    return torch.cat(parts)


def of_classes(x, score: float):
    """The loop is short enough to be written out, and skips some iterations."""
    boxes: list[Tensor] = []
    labels: list[Tensor] = []
    for c in range(x.size(1)):
        mask = x[:, c] > score
        if not mask.any():
            continue
        boxes.append(x[mask])
        labels.append(torch.full((int(mask.sum()),), c))
    if len(boxes) > 0:
        return torch.cat(boxes, dim=0), torch.cat(labels), len(boxes)
    return x.new_zeros((0, 2)), torch.zeros((0,), dtype=torch.long), 0


def read(x, n: int, at: int):
    parts: list[Tensor] = []
    for k in range(n):
        parts.append(x[: k + 1, 0])
    total = torch.zeros(())
    sizes: list[int] = []
    for part in parts:
        total = total + part.max() * part.size(0)
        sizes.append(part.size(0))
    return parts[at], parts[-1], total, sizes


def at_the_end(x, n: int):
    """It grows by more than one element, and shrinks."""
    parts = [x[:1]]
    for k in range(n):
        parts += [x[x[:, 1] > k], x[:k]]
        if k % 2 == 1:
            x = x + parts.pop().sum()
    copied = parts.copy()
    parts.append(x)
    return torch.cat(copied), torch.cat(parts), len(copied), len(parts)


def written(x, n: int):
    """A list holds tensors, no copies of them."""
    parts: list[Tensor] = []
    for k in range(n):
        y = x[x[:, 0] > k].clone()
        parts.append(y)
        y += 1
    parts[0].mul_(2)
    return torch.cat(parts)


def nested(x, n: int):
    """A loop in a loop, which leaves both."""
    done: list[Tensor] = []
    tokens = torch.zeros(1)
    for step in range(n):
        for value in x[:, 0]:
            if value > step:
                done.append(torch.cat([tokens, value.view(1)]))
        tokens = torch.cat([tokens, torch.ones(1) * step])
        if len(done) > 5:
            break
    if len(done) == 0:
        return tokens
    return done[int(tokens.sum()) % len(done)]


def returned(x, n: int):
    parts: list[Tensor] = []
    for k in range(n):
        parts.append(x[x[:, 0] > k])
    return parts, {"parts": parts}


def columns(x, n: int):
    """Tuples with tensors of different lengths."""
    found: list[tuple[Tensor, int]] = []
    for k in range(n):
        found.append((x[x[:, 0] > k], k))
    total = torch.zeros(2)
    for part, k in found:
        total = total + part.sum(0) * k
    return total, found


@pytest.mark.parametrize("program", [concatenated, at_the_end, nested, returned, columns])
@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_tensors_of_different_lengths(program, n):
    check(torch.jit.script(program), (X, 3), (X, n), (-X, n))


def test_classes_without_any_are_left_out():
    program = torch.jit.script(of_classes)
    check(program, *((X, score) for score in (0.0, 2.5, 4.5, 9.0)))


@pytest.mark.parametrize(("n", "at"), [(1, 0), (3, 1), (4, -2), (4, 3)])
def test_elements_are_read(n, at):
    check(torch.jit.script(read), (X, 2, 0), (X, n, at))


def test_an_index_out_of_range_is_an_error():
    compiled = ssa_compiler.compile(torch.jit.script(read), (X, 2, 0))
    for n, at in ((2, 2), (0, 0), (2, -3)):
        with pytest.raises(IndexError):
            compiled(X, n, at)


def test_nothing_to_concatenate_is_an_error():
    def program(x, n: int):
        parts: list[Tensor] = []
        for k in range(n):
            parts.append(x[x[:, 0] > k])
        return torch.cat(parts)

    compiled = ssa_compiler.compile(torch.jit.script(program), (X, 2))
    with pytest.raises((RuntimeError, ValueError)):
        compiled(X, 0)


def differ(x, n: int):
    parts: list[Tensor] = []
    for k in range(n):
        parts.append(x[x[:, 0] > k] if k % 2 == 0 else x[:k].t())
    return torch.cat(parts)


def stacked(x, n: int):
    parts: list[Tensor] = []
    for k in range(n):
        parts.append(x[x[:, 0] > k])
    return torch.stack(parts)


@pytest.mark.parametrize("program", [differ, stacked, written])
def test_others_are_unsupported(program):
    with pytest.raises(errors.SsaCompilerError):
        ssa_compiler.compile(torch.jit.script(program), (X, 3))
