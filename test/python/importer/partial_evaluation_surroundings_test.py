# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Tensors and state in global objects and closures of functions: these are read at each call, and stored after it."""

import copy

import pytest
import torch

import ssa_compiler

X = torch.tensor([1.0, 2.0, 3.0])


class Filter:
    def __init__(self, gain=2.0):
        self.gain, self.count = gain, 0
        self.matrix, self.last, self.history = torch.eye(3), None, []
        self.named = {"a": torch.ones(3), "b": torch.zeros(3)}

    def predicted(self, x):
        return self.matrix @ x * self.gain + self.named["a"] - self.named["b"]

    def updated(self, x, seen):
        for i in range(seen.shape[0]):
            if seen[i]:
                self.count += 1
                self.matrix = self.matrix * 0.5 + x
        return self.matrix.sum(), self.count

    def remembered(self, x):
        self.last = x if self.last is None else self.last * 0.5 + x
        self.history.append(x * 2)
        return self.last, torch.stack(self.history).sum(0)

    @property
    def norm(self):
        return self.matrix.sum() + self.named["a"].sum()

    def __call__(self, x):
        return x + self.matrix


class Other(Filter):
    def __call__(self, x):
        return x - self.matrix


FILTER, WEIGHT, BIAS, PARTS = Filter(), torch.ones(3, 3), torch.zeros(3), [torch.ones(3), torch.zeros(3)]
LOG, MEMO = [], {}


def reset():
    global FILTER, WEIGHT, BIAS
    FILTER, WEIGHT, BIAS = Filter(), torch.arange(9.0).view(3, 3), torch.zeros(3)
    PARTS[:] = [torch.ones(3), BIAS]
    LOG.clear()
    MEMO.clear()


def state():
    return copy.deepcopy((vars(FILTER), WEIGHT, BIAS, PARTS, LOG, MEMO))


def helper(x):
    return x @ WEIGHT + BIAS


def reads(x):
    def inner(y):
        return helper(y) @ WEIGHT

    return inner(x) * FILTER.norm + FILTER.predicted(x) + FILTER(x)


def goes_through(x, *, k=2):
    for part in PARTS:
        x = x * k + part
    return x + PARTS[1], torch.stack([part * x for part in PARTS])


def updates(x):
    return FILTER.updated(x, x > 2), FILTER.count


def remembers(x):
    return FILTER.remembered(x)


def writes(x):
    BIAS.add_(x)
    return BIAS, helper(x)


def logs(x):
    LOG.append(x + 1)
    if "first" not in MEMO:
        MEMO["first"] = x * 2
    return len(LOG), torch.stack(LOG).sum(0) + MEMO["first"]


def closes_over():
    weight = torch.ones(3, 3)

    def program(x):
        return x @ weight

    return program


def another_tensor():
    global WEIGHT
    WEIGHT = torch.full((3, 3), 3.0)


def another_dtype():
    global WEIGHT
    WEIGHT = torch.full((3, 3), 3.0, dtype=torch.float64)


def another_object():
    global FILTER
    FILTER = Filter(3.0)


def another_class():
    global FILTER
    FILTER = Other()


def another_number():
    FILTER.gain = 5.0


def more_parts():
    PARTS.append(torch.full((3,), 2.0))


def alike(a, b) -> bool:
    if isinstance(a, torch.Tensor):
        return isinstance(b, torch.Tensor) and a.dtype == b.dtype and a.shape == b.shape and torch.allclose(a, b)
    if isinstance(a, dict):
        return list(a) == list(b) and all(alike(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(alike, a, b))
    return type(a) is type(b) and a == b


@torch.no_grad()
def results(program, changes):
    """What calls return and leave behind, the first before all changes, and one behind each."""
    reset()
    found = []
    for change in (lambda: None, *changes):
        change()
        for x in (X.clone(), -X):
            try:
                found.append((program(x), state()))
            except RuntimeError as error:
                found.append((type(error).__mro__[-4].__name__, state()))
    return found


@pytest.mark.parametrize(
    ("program", "changes"),
    [
        (reads, [another_tensor, another_number, another_object, another_class]),
        (goes_through, [more_parts]),
        (updates, [another_object]),
        (remembers, [another_object]),
        (writes, [another_tensor]),
        (logs, [LOG.clear, MEMO.clear]),
        (closes_over(), []),
    ],
)
def test_changes_are_seen_and_stored(program, changes) -> None:
    expected = results(program, changes)
    reset()
    before = state()
    compiled = ssa_compiler.compile(program, (X,))
    assert alike(before, state())
    assert alike(expected, results(compiled, changes))


def test_another_dtype_is_another_program() -> None:
    reset()
    compiled = ssa_compiler.compile(helper, (X,))
    torch.testing.assert_close(compiled(X), helper(X))
    another_dtype()
    with pytest.raises(RuntimeError, match="same dtype"):
        helper(X)
    with pytest.raises(RuntimeError):
        compiled(X)


def test_the_very_tensor_is_returned() -> None:
    reset()
    assert ssa_compiler.compile(writes, (X,))(X)[0] is BIAS
