# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Keys of dicts that are tuples, read as values: in loops, lists, orders and sets."""

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

MANY, FEW, ONE, NONE = ([1, 2, 1, 2, 3, 1], [4, 4, 5, 0, 0, 0], [3, 3, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0])


def numbers(x):
    return [v for v in x.tolist() if v > 0]


def counts(x):
    ids, found = numbers(x), {}
    for pair in zip(ids, ids[1:]):  # noqa: RUF007
        found[pair] = found.get(pair, 0) + 1
    return found


def on_all(program) -> None:
    """Compare with eager for as many keys as there may be."""
    check(program, *[(torch.tensor(ids),) for ids in (MANY, FEW, ONE, NONE)])


def loops(x):
    found = counts(x)
    total, seen = 0, []
    for pair in found:
        total = total * 3 + pair[0] + 2 * pair[1]
    for (a, b), n in found.items():
        total = total * 3 + a - b + n
    for number, pair in enumerate(found.keys()):
        if number > 1:
            break
        seen.append((number, pair))
    return total, seen, [b for _, b in found], {pair: n for pair, n in found.items() if n > 1}


def lists(x):
    found = counts(x)
    swapped = {(b, a): n for (a, b), n in found.items()}
    return list(found), list(swapped.items()), sorted(found), any(a > 3 for a, _ in found)


def orders(x):
    found = counts(x)
    best = max(found, key=found.get) if found else (0, 0)
    other = min(found.items(), key=lambda item: (item[1], -item[0][0])) if found else ((0, 0), 0)
    first = next(iter(found)) if found else (0, 0)
    return best, other, first, sorted(found.items(), key=lambda item: (-item[1], item[0]))


def changes(x):
    found = counts(x)
    for pair in found:
        found[pair] += pair[0]
    for number, (pair, n) in enumerate(found.items()):
        found[pair] = n * number
    for pair in list(found):
        if pair[0] == 1:
            del found[pair]
        else:
            found[pair[1], pair[0]] = -1
    return found


def takes(x):
    found, total = counts(x), 0
    while found:
        (a, b), n = found.popitem()
        total = total * 3 + a - b + n
    return total


def sets(x):
    found = counts(x)
    pairs = {pair for pair in found if pair[0] < pair[1]}
    pairs.add((0, 0))
    return sorted(pairs), len(pairs & {pair for pair in found})  # noqa: C416


def updates(x):
    found, other = counts(x), counts(x.flip(0))
    copied = dict(found)
    copied.update(other)
    other.update({(1, 2): 9, (0, 0): 4})
    found.update(found)
    return found, copied, other, dict.fromkeys(copied, 0), list(dict.fromkeys(numbers(x)))


def triples(x):
    ids, found = numbers(x), {}
    for k in range(len(ids) - 2):
        found.setdefault((ids[k], ids[k + 1]), []).append(ids[k + 2])
    alone = {(v,): k for k, v in enumerate(ids)}
    return [a + b + sum(after) for (a, b), after in found.items()], list(alone), [v for (v,) in alone]


def known_keys(x):
    parts = {(i, j): x * i + j for i in range(2) for j in range(2)}
    named = {("a", 1): x.sum(), ("b", 2): x.max()}
    total = x * 0
    for (i, j), part in parts.items():
        total = total + part * (i + 2 * j)
    return total, list(parts), [part * k if name == "a" else part - k for (name, k), part in named.items()]


@pytest.mark.parametrize("program", [loops, changes, takes, known_keys])
def test_keys_are_read(program) -> None:
    on_all(program)


@pytest.mark.slow
@pytest.mark.parametrize("program", [lists, orders, sets, triples, updates])
def test_keys_in_lists_and_other_dicts(program) -> None:
    on_all(program)


class Merges:
    def __init__(self):
        self.ranks: dict[tuple[int, int], int] = {}

    def best(self, found):
        return min(found, key=lambda pair: self.ranks.get(pair, float("inf")))


def ranked(x):
    merges, found = Merges(), counts(x)
    for number, pair in enumerate(sorted(found, reverse=True)):
        if number % 2 == 0:
            merges.ranks[pair] = number
    if not found:
        return (0, 0), False, 0
    pair = merges.best(found)
    inverse = {rank: each for each, rank in merges.ranks.items()}
    return pair, pair in merges.ranks, inverse[0][1]


@pytest.mark.slow
def test_elements_or_infinity() -> None:
    on_all(ranked)


def default_of_another_type(x):
    found = {1: 2}
    for v in x.tolist():
        found[v] = v + 1
    rank = found.get(int(x[0]) + 1, 0.5)
    return rank, rank * 2


def test_a_default_of_another_type() -> None:
    on_all(default_of_another_type)


def grows(x):
    found = counts(x)
    for pair in found:
        found[pair[1], 9] = 1
    return found


def shown(x):
    return str(counts(x))


def kept_view(x):
    found = counts(x)
    keys = found.keys()
    found[0, 0] = 1
    return len(keys), list(keys)


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (grows, "changes its length while a for loop goes through it"),
        (shown, "the keys of a dict, which are tuples, as values"),
        (kept_view, "the keys of a dict, which are tuples, as values"),
    ],
)
def test_other_uses_are_rejected(program, says) -> None:
    with pytest.raises(errors.SsaCompilerError, match=says):
        ssa_compiler.compile(program, (torch.tensor(MANY),))
