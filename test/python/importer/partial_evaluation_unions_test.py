# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Variables that have another type on another path: an int that becomes a float or a tensor in a branch of a loop."""

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([1.0, 3.0, 2.0])


def best_item(x, n):
    best, where = 0, -1
    for i in range(n):
        if x[i] > best:
            best = x[i].item()
            where = i
    return x * best, best, where


def best_tensor(x, n):
    best = 0
    for i in range(n):
        if x[i] > best:
            best = x[i]
    return best


def summed(x, n):
    loss = 0
    for i in range(n):
        loss += (x * i).sum()
    return {"loss": loss, "n": n}


def scaled(x, n):
    h = 1
    for i in range(n):
        if i % 2:
            h = x * i
        x = torch.mul(x, h)
    return x


def counted(x, n):
    m = -1
    while m < n:
        m = m + 0.5 if x.sum() > 5 else m + 1
    return m


def stopped(x, n):
    total = 0
    for i in range(n):
        total = total + x[i]
        if total > 3:
            break
    return x - total


def of_three_types(x, n):
    d = None
    for i in range(n):
        if d is None:
            d = 1
        elif i == 1:
            d = x * i
        else:
            d = 2.5
    return x if d is None else x * d


def doubled(v, x):
    return v * 2 if isinstance(v, int) else v + x


def passed(x, n):
    v = 3
    for i in range(n):
        v = doubled(v, x)
        if i == 1:
            v = x * 0.5
    return v


def asked(x, n):
    s = "a"
    for i in range(n):
        if x[i] > 2:
            s = i
    return -1 if isinstance(s, str) else s + 1


def reused(x, n):
    i = 5
    for i in range(n):
        x = x + i
    if x.sum() > 10:
        i = x
    return x * i


def asserted(x, n):
    v = -1
    for i in range(n):
        if v == -1 or x[i] > v:
            v = x[i].item()
    assert v > 0, f"bad {v}"
    return -v


def swapped(x, n):
    a, b = 0, 1.5
    for i in range(n):
        a, b = b, a
        if i == 2:
            b = x
    return a, [b * 2], x * a + b


PROGRAMS = [best_item, best_tensor, summed, scaled, counted, stopped, passed, asked, asserted, swapped]


@pytest.mark.parametrize("program", PROGRAMS)
def test_numbers_become_tensors_and_floats(program):
    calls = [(x, n) for x in (X, -X) for n in (3, 0, 1, 2)]
    check(program, *calls, compiled=program in (best_item, summed))


def test_none_beside_other_types():
    for n in (3, 0, 1, 2):
        check(of_three_types, (X, n), compiled=False)


def test_loop_variables():
    check(reused, *[(x, n) for x in (X, -X) for n in (3, 0, 1)], compiled=False)


def annotated(x: torch.Tensor, n: int):
    best = 0
    for i in range(n):
        if x[i] > best:
            best = x[i]
    return best


def test_what_the_importer_does_not_take_is_evaluated_partially():
    check(annotated, *[(x, n) for x in (X, -X) for n in (3, 0, 1)], compiled=False)


def returned_by_a_branch(x, n):
    for i in range(n):
        if x[i] > 1:
            return x[i].item()
    return 0


def in_a_loop_or_behind(x, n):
    for i in range(n):
        if x[i] > 1:
            return {"found": x[i] * 2, "times": [i, n]}
        if i == 1:
            return None
    if x.sum() > 0:
        return {"found": x, "times": []}
    return x * 2, n


def one_of_four(x, n):
    if n == 0:
        return x
    if n == 1:
        return [x, x + 1]
    best, total = 0, 0.0
    for i in range(n):
        total += x[i]
        if x[i] > best:
            best = x[i]
    if total > 5:
        return x, total
    return x, best, 1.5


def test_results_of_several_types_at_several_places():
    cases = [(x, n) for x in (X, -X, torch.tensor([0.5, 0.25, 4.0])) for n in (3, 0, 1, 2)]
    check(returned_by_a_branch, *cases, compiled=False)
    check(in_a_loop_or_behind, *cases, compiled=False)
    check(one_of_four, *cases, compiled=False)


@pytest.mark.slow
def test_compiled_results_of_several_types():
    check(in_a_loop_or_behind, *[(x, n) for x in (X, -X, torch.tensor([0.5, 0.25, 4.0])) for n in (3, 0, 1, 2)])


def unset(x, n):
    if x.sum() > 3:
        v = 1
    elif x.sum() > 2:
        v = 0.5
    return x * v


def some_results_and_the_end(x, n):
    if x[0] > n:
        return x
    if x[1] > n:
        return x, 1.5


@pytest.mark.parametrize("program", [some_results_and_the_end, unset])
def test_other_programs_are_rejected(program):
    with pytest.raises(errors.SsaCompilerError):
        ssa_compiler.compile(program, (X, 1), fullgraph=True)


def of_nothing(x, n):
    t = None
    for i in range(n):
        if i == 0:  # noqa: SIM108
            t = 1
        else:
            t = 0.5 * i
        x = x * t
    return x, t


def doubled_list(x, n):
    q = None
    for i in range(n):
        q = float(x[i])
    return [q] * 2, len([q])


def measured(x, n):
    q = None
    if n > 0:
        q = [x, x]
    return len(q)


def test_none_and_other_types():
    for n in (2, 0, 1, 3):
        check(of_nothing, (X, n), compiled=False)
    check(doubled_list, *[(X, n) for n in (2, 0)], compiled=False)
    program = ssa_compiler.compile(measured, (X, 1))
    assert program(X, 1) == 2
    with pytest.raises(TypeError):
        program(X, 0)


def one_of_two(x, n):
    for _ in range(n):
        q = x.sum() > 3
    return (n > 1 and 5), (q and 1), (n or 2.5)


def test_and_gives_one_of_its_operands():
    check(one_of_two, *[(X, n) for n in (1, 2, 3)], compiled=False)


def lead(x):
    return max(x.sum(), 0.0)


def hinge(x, margin=0.5):
    hinge = [max(v - margin, x[0] * 0) for v in x]
    total = 0.0
    while max(total, -1.0) < 2 and len(hinge):
        total = total + max(hinge.pop(), 0.125)
    return total


def highest(x, n: int):
    best = 0.0
    for i in range(n):
        best = max(best, x[i])
    return best


def extremes(x, n: int):
    a = x[:n]
    y = max(min(a.sum(), n, 1.5), -2)
    z = max((x.mean(), n))
    w = min(x[0], x[1])
    w += 1
    return y * 2, z, x, w


def ambiguous(x, n: int):
    return max(x[:n], 0.0) if n else max(0.0, x)


@pytest.mark.slow
def test_min_and_max_return_a_tensor_or_a_number():
    x = torch.tensor([-1.0, 2.0, 0.3, 4.0])
    nan = float("nan")
    check(lead, (x,), (-x,), (x * 0,))
    check(hinge, (x,), (-x,), (x, 0.1))
    check(highest, (x, 3), (x, 0), (x, 1), (-x, 4), (x, 4))
    nans = torch.tensor([nan, 1, 2, 3]), torch.tensor([1, nan, 2, 3])
    check(extremes, (x, 3), (x, 0), (x, 1), (-x, 4), (x, 4), (nans[0], 1), (nans[1], 2))
    check(ambiguous, (x, 1), (-x, 1), (x, 4), (x, 0))


def _counted_up(x, n: int):
    total, rows = 0, 0
    for t in range(n):
        total = total + x[t]
        rows += 1
        if total.sum() > 2:
            break
    rate = total / (rows + 1)
    return rate, rate.argmax(0), rows


def test_a_number_has_no_methods_of_tensors() -> None:
    """Without a trip it is still a number, and Python raises."""
    for n in (3, 0, 1, 5):
        check(_counted_up, (torch.rand(5, 3), n))


def ancestral(sigma, after, eta):
    if not eta:
        return after, 0.0
    up = torch.minimum(after, eta * (after * sigma) ** 0.5)
    return (after**2 - up**2).clamp(min=0) ** 0.5, up


def sampled(x, n: int, eta: float):
    for _ in range(n):
        down, up = ancestral(x.sum().abs(), x.abs().max(), eta)
        x = x * down + up * 2
    return x


class Walk:
    def __init__(self):
        self.steps, self.at = 0, torch.zeros(3)

    def step(self, x, most):
        self.steps += 1
        self.at = self.at + x
        distance = self.at.abs().sum()
        reward = 10.0 if distance > most else -0.1 * distance
        return self.at, reward, distance > most or self.steps > 3


def rewards(x, n: int):
    walk, total, seen = Walk(), 0.0, torch.zeros(5)
    for k in range(n):
        _, reward, done = walk.step(x * k, 20)
        seen[k] = reward
        total = total + reward
        if done:
            break
    return total, seen, walk.at


def half_or_itself(x, k):
    if x.sum() > k:
        return x
    return k * 0.5


def of_two_calls(x, k: int):
    return half_or_itself(x, k) * 2 + half_or_itself(-x, k), [half_or_itself(x, k)]


def test_functions_return_several_types():
    check(sampled, *[(X / 3, n, eta) for n in (2, 0, 1) for eta in (1.0, 0.0)], compiled=False)
    check(rewards, *[(X, n) for n in (3, 0, 1, 5)], compiled=False)
    check(of_two_calls, *[(x, k) for x in (X, -X) for k in (0, 7, -7)], compiled=False)
