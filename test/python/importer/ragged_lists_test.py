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


def grown(x, n: int):
    parts: list[Tensor] = []
    for k in range(n):
        parts.append(x[x[:, 0] > k] * (k + 1))
    return parts


def replaced(x, n: int, at: int):
    parts = grown(x, n)
    parts[at] = x[:2] + 5
    return torch.cat(parts), len(parts), parts


def inserted(x, n: int, at: int):
    parts = grown(x, n)
    parts.insert(at, x[:2] + 5)
    return torch.cat(parts), len(parts), parts


def removed(x, n: int, at: int):
    parts = grown(x, n)
    found = parts.pop(at)
    del parts[0]
    parts.append(x * 3)
    return parts, found


def sliced(x, n: int, at: int):
    parts = grown(x, n)
    some = parts[at:]
    some.append(x * 2)
    return [p * 1 for p in some], [p * 1 for p in parts[:at]], parts[1:-1], torch.cat(some)


@pytest.mark.parametrize("program", [replaced, inserted, removed, sliced])
def test_elements_at_any_place(program):
    places = [(X, n, at) for n in (0, 1, 2, 4) for at in (0, 1, -1, -2, 3, 9, -9)]
    check(torch.jit.script(program), (X, 3, 1), *places)


def joined(x, n: int):
    parts = grown(x, n)
    alike: list[Tensor] = []
    for k in range(n):
        alike.append(x * k)
    first = [x * 5, x[:0] * 1] + parts + alike  # noqa: RUF005 (TorchScript has no unpacking)
    parts.extend(alike)
    parts += [x[1:] * 9]
    parts.extend(parts)
    alike.extend(parts)
    return torch.cat(first), torch.cat(parts), torch.cat(alike), [len(first), len(parts), len(alike)]


def changed_in_a_loop(x, n: int):
    parts = grown(x, n)
    for k in range(n):
        parts.insert(k // 2, x[: k % 4] + k)
        parts[-1] = parts[0] + 1
        if k % 3 == 2:
            del parts[1]
    return parts, torch.cat(parts)


def empty_elements(x, n: int):
    parts: list[Tensor] = []
    for k in range(n):
        parts.append(x[x[:, 0] > k + 3])
    kept = parts[1:]
    kept.append(x[:0])
    return torch.cat(kept), len(kept), parts


def chosen(x, n: int):
    parts = grown(x, n)
    others = grown(x * 2, n)
    either = parts if n > 1 else others
    return torch.cat(either + [x * 1]), len(either)  # noqa: RUF005 (TorchScript has no unpacking)


@pytest.mark.parametrize("program", [joined, changed_in_a_loop, empty_elements, chosen])
def test_lists_that_are_joined_and_changed(program):
    check(torch.jit.script(program), *((X, n) for n in (3, 0, 1, 2, 6)))


def stacked(x, n: int, last: int):
    parts: list[Tensor] = []
    for k in range(n):
        parts.append(x[x[:, 0] > (last if k == 2 else 1)] * (k + 1))
    return torch.stack(parts), torch.stack(parts, 1), torch.stack(parts, -1), torch.cat(parts, 1)


def test_stacked_where_lengths_are_equal():
    counts = [(3, 1), (0, 1), (1, 1), (2, 4), (3, 4), (5, 2)]
    checked = check(torch.jit.script(stacked), *((X, n, last) for n, last in counts))
    found = [type(error).__name__ for error in checked.errors]
    assert found == ["NoneType", "RuntimeError", "NoneType", "NoneType", "RuntimeError", "RuntimeError"]


def of_other_shapes(x, n):
    parts: list[Tensor] = []
    for k in range(int(n)):
        parts.append(x[:, : k % 3])
    return torch.cat(parts, 1)


def of_other_types(x, n):
    parts = grown(x, int(n))
    parts.append(x.long())
    return len(parts)


def backwards(x, n):
    parts = grown(x, int(n))
    parts.reverse()
    return parts


def written(x, n):
    """A list holds tensors, no copies of them."""
    parts: list[Tensor] = []
    for k in range(int(n)):
        y = x[x[:, 0] > k].clone()
        parts.append(y)
        y += 1
    return torch.cat(parts)


def written_in_the_list(x, n):
    first = x.clone()
    parts = [first]
    for k in range(int(n)):
        parts.append(x[:k] * 2)
    parts[0].add_(1)
    return parts, first


def written_twice_there(x, n):
    parts: list[Tensor] = []
    for k in range(int(n)):
        y = x[x[:, 0] > k]
        parts.append(y)
        parts.append(y)
    parts[0].add_(1)
    return parts


def written_after_it_is_put_there(x, n):
    parts = grown(x, int(n))
    y = x * 2
    parts[0] = y
    y += 1
    return parts


def written_in_another_list(x, n):
    parts = grown(x, int(n))
    others = [x * 1]
    others.extend(parts)
    parts[0] += 1
    return others


def of_the_caller(x, parts: list[Tensor]):
    for k in range(int(x[0, 0])):
        parts.append(x[x[:, 0] > k])
    return len(parts)


@pytest.mark.parametrize(
    ("program", "line"),
    [
        (of_other_shapes, 2),
        (of_other_types, 2),
        (backwards, 2),
        (written, 6),
        (written_in_the_list, 1),
        (written_twice_there, 4),
        (written_after_it_is_put_there, 4),
        (written_in_another_list, 4),
    ],
)
def test_others_are_unsupported(program, line):
    with pytest.raises(errors.SsaCompilerError, match="unsupported: ") as found:
        check(program, (X, torch.tensor(3)))
    assert found.value.location.line == program.__code__.co_firstlineno + line


def test_a_list_of_the_callers_is_unsupported():
    with pytest.raises(errors.SsaCompilerError, match="list"):
        check(torch.jit.script(of_the_caller), (X, [X * 1]))


def written_alone(x, n: int):
    """Nobody else has the tensors that are written."""
    parts = grown(x, n)
    for part in parts:
        part.mul_(3)
    parts[0].add_(1)
    parts[-1][:1] = 9
    return parts, torch.cat(parts)


def test_elements_are_written():
    check(torch.jit.script(written_alone), *((X, n) for n in (3, 0, 1, 2, 6)))


def of_other_strides(x, n):
    alike: list[Tensor] = []
    for _ in range(int(n)):
        alike.append(x[:2].t())
    return alike[0].is_contiguous(), alike[0].stride(0)


def test_strides_that_the_list_does_not_keep_are_unsupported():
    with pytest.raises(errors.SsaCompilerError, match="layout depends"):
        check(of_other_strides, (X, torch.tensor(3)))
