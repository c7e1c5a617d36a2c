"""Variables that loops assign and nobody reads again: they are no names of what is written."""

from __future__ import annotations

import torch
from torch import Tensor

from ssa_compiler.importer.control.unread_results import unread_results
from ssa_compiler.testing import check

A = torch.tensor([[4.0, 1.0], [1.0, 3.0]])
B = torch.tensor([1.0, 2.0])


def conjugate_gradient(a: Tensor, b: Tensor, n: int, tolerance: float) -> tuple[Tensor, Tensor]:
    """The preconditioner is the identity: `z` is another name of `r`, until `r` is written."""
    x = torch.zeros_like(b)
    r = b - a @ x
    z = r
    p = z.clone()
    product = torch.dot(r, z)
    for k in range(n):
        step = a @ p
        rate = product / torch.dot(p, step)
        x += rate * p
        r -= rate * step
        if r.norm() < tolerance:
            break
        if k % 2 == 1:
            r = b - a @ x
        z = r
        previous, product = product, torch.dot(r, z)
        p = z + (product / previous) * p
    return x, r


def test_a_name_that_is_given_anew_before_it_is_read() -> None:
    calls = [(A, B, n, tolerance) for n in (0, 1, 2, 5) for tolerance in (0.0, 1e-3, 10.0)]
    check(conjugate_gradient, *calls)


def read_at_the_end(a: Tensor, b: Tensor, n: int, tolerance: float) -> Tensor:
    """Here `z` is read: what it names may be written."""
    r = b.clone()
    z = r.clone()
    for _ in range(n):
        r -= a @ r * 0.1
        if r.norm() < tolerance:
            break
        r = r * 1.0
        z = z + r
    return z


def test_what_is_read_behind_the_loop_is_carried() -> None:
    check(read_at_the_end, *[(A, B, n, tolerance) for n in (0, 1, 3) for tolerance in (0.0, 1.5)])


def test_results_that_are_read() -> None:
    graph = torch.jit.script(conjugate_gradient).graph
    (loop,) = graph.findAllNodes("prim::Loop")
    names = [value.debugName() for value in loop.outputs()]
    unread = unread_results(graph)
    carried = {name.partition(".")[0] for name in names if name not in unread}
    assert {"x", "r", "p", "product"} <= carried
    assert {"z", "step", "rate", "previous"} & carried == set()
    assert unread_results(torch.jit.script(added).graph) == frozenset()


def added(x: Tensor) -> Tensor:
    return x + 1
