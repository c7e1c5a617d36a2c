# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Dicts whose keys are tuples, above all memos: `if key not in self._cache: self._cache[key] = ...`."""

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X, WIDE = torch.arange(6.0).view(2, 3), torch.ones(3, 3)
MEMO = {}


class Store:
    """An object that is no module."""

    def __init__(self):
        self.kept, self.hits = {}, 0

    def grid(self, h, w):
        if (h, w) in self.kept:
            self.hits += 1
            return self.kept[h, w]
        self.kept[h, w] = torch.arange(h * w).view(h, w) * 1.0
        return self.kept[h, w]


class Memo(nn.Module):
    def __init__(self):
        super().__init__()
        self._cache, self.store = {}, Store()
        self.table = {(2, 3): torch.ones(2), (3, 3): torch.zeros(3)}

    def cached(self, x, name="a"):
        key = (x.shape[0], (x.shape[1], name), x.device)
        if key not in self._cache:
            self._cache[key] = x.sum(0)
        return self._cache[key]

    def forward(self, x):
        y = self.cached(x) + self.cached(x.T, "{}").sum()
        return y * self.table[(x.shape[0], x.shape[1])].sum() + self.store.grid(x.shape[0], x.shape[1])


def state(model):
    return model._cache, model.table, model.store.kept, model.store.hits


def alike(a, b) -> bool:
    if isinstance(a, torch.Tensor):
        return bool(a.shape == b.shape and torch.allclose(a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(alike(a[key], b[key]) for key in a)
    return all(map(alike, a, b)) if isinstance(a, tuple) else bool(a == b)


@pytest.mark.slow
@torch.no_grad()
def test_memos() -> None:
    model, expected = Memo(), Memo()
    compiled = ssa_compiler.compile(model, (X,))
    assert alike(state(model), state(expected))
    for number, x in enumerate((X, X + 1, WIDE, X, X)):
        if number == 3:
            for each in (model, expected):
                each._cache.clear()
                each.store.kept[2, 3] = torch.full((2, 3), 7.0)
        assert alike(compiled(x.clone()), expected(x.clone()))
        assert alike(state(model), state(expected))
    with pytest.raises(KeyError):
        expected(torch.ones(4, 3))
    with pytest.raises((KeyError, errors.SsaCompilerError)):
        compiled(torch.ones(4, 3))


def grid(h, w):
    if (h, w) not in MEMO:
        MEMO[(h, w)] = torch.arange(h * w).view(h, w) * 1.0
    return MEMO[(h, w)]


def adds_grid(x):
    return x + grid(x.shape[0], x.shape[1])


def test_a_global_memo() -> None:
    MEMO.clear()
    compiled = ssa_compiler.compile(adds_grid, (X,))
    assert not MEMO
    for x, keys in ((X, [(2, 3)]), (WIDE, [(2, 3), (3, 3)]), (X, [(2, 3), (3, 3)])):
        torch.testing.assert_close(compiled(x), x + torch.arange(float(x.numel())).view(x.shape))
        assert list(MEMO) == keys


def local(x):
    parts = {(i, j): x * i + j for i in range(2) for j in range(2)}
    parts[(1,)] = parts.pop((0, 0)) if x.dim() == 1 else x
    parts.setdefault((1, 1), x)
    parts["a", 1.5] = parts.get((7, 7), x) + parts.get((0, 1), x)
    return parts


def pairs(x):
    parts = {(i, j): x * i + j for i in range(2) for j in range(2)}
    other = dict(parts)
    other[5, x.shape[0]] = other.pop((0, 0)) + other.setdefault((1, 1), x)
    del other[0, 1]
    total = other.get((7, 7), x)
    for part in other.values():
        total = total + part
    return other, len(parts), (5, 2) in other, (True, 1) in other, total


def reads_argument(x, parts):
    parts[x.shape[0], 2] = x
    return parts[(x.shape[0], 1)] + len(parts)


def no_such_key(x):
    parts = {(x.shape[0], 1): x}
    return parts[x.shape[0], 2]


def test_dicts_of_the_program_and_of_the_caller() -> None:
    check(pairs, (X,), (X + 1,))
    check(local, (X,), (X + 1,), compiled=False)
    check(local, (X[0],), compiled=False)
    check(reads_argument, (X, {(2, 1): X}), (X, {(2, 1): X + 1}), compiled=False)
    with pytest.raises(errors.ProgramError, match=r"\(2, 2\)"):
        ssa_compiler.compile(no_such_key, (X,))


class ReadsKeys(Memo):
    def forward(self, x):
        self._cache[x.shape[0], 1] = x
        for key in self._cache:
            x = x + key[0]
        return x


def test_keys_of_a_memo_are_read() -> None:
    model, expected = ReadsKeys(), ReadsKeys()
    compiled = ssa_compiler.compile(model, (X,))
    for x in (X, X + 1):
        torch.testing.assert_close(compiled(x), expected(x))


class ReadsKeysOfSeveralLengths(Memo):
    def forward(self, x):
        self._cache[x.shape[0], 1] = x
        self._cache[x.shape[0],] = x
        return x, list(self._cache)


class OfData(Memo):
    def forward(self, x):
        self._cache[int(x.sum()), 1] = x
        return x


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (ReadsKeysOfSeveralLengths, "the keys of a dict, which are tuples, as values"),
        (OfData, "dynamic index or key"),
    ],
)
def test_other_uses_are_rejected(kind, says) -> None:
    with pytest.raises(errors.SsaCompilerError, match=says):
        ssa_compiler.compile(kind(), (X,))


def mixed(x):
    parts = {}
    parts[1, 2] = x
    parts["a"] = x
    return parts


def mixed_at_once(x):
    return {"a": x, (1, 2): x}


@pytest.mark.parametrize("program", [mixed, mixed_at_once])
def test_dicts_with_some_tuples_as_keys_are_rejected(program) -> None:
    with pytest.raises(errors.ScriptError, match="a dict with keys of which some are tuples"):
        ssa_compiler.compile(program, (X,))
