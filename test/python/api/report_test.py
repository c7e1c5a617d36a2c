"""The report has every op of the program that writes exactly once, and says what became of it."""

from __future__ import annotations

import re
from collections import Counter

import pytest
import torch
from torch import Tensor

import ssa_compiler
from programs import PROGRAMS
from ssa_compiler.importer import import_program
from ssa_compiler.pipeline import run_pipeline
from ssa_compiler.report import Report, report_mutations

_WRITE = re.compile(r'torch\.(?:operator "(?:torch\.)?)?((?:aten|prims)\.\w+_(?:\.\w+)?)[" ]')


def report(model: object, *arguments: object) -> tuple[Report, str]:
    """The report of a program, and its `scf` stage."""
    stages = run_pipeline(import_program(model, arguments, {}).module).stages
    return report_mutations(stages["scf"]), stages["scf"]


@pytest.mark.parametrize("name", sorted(PROGRAMS))
def test_every_write_is_reported_once(name: str) -> None:
    program = PROGRAMS[name]
    found, scf = report(program.make(), *next(iter(program.calls())))
    written = Counter(_WRITE.findall(scf))
    assert Counter(mutation.op for mutation in found.mutations) == written
    for mutation in found.mutations:
        assert mutation.fate not in ("rejected", "unconverted")
        assert mutation.location is not None
        assert (mutation.fate == "copy") == any(copy.place == "update" for copy in mutation.copies)


def kept(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        old = y.clone()
        y[i] = 1.0
        y[0] += old.sum()
    return y


def test_the_reader_is_named() -> None:
    found, _ = report(kept, torch.zeros(4, 3), 2)
    first, second = found.mutations
    assert (first.fate, second.fate) == ("copy", "in place")
    line = kept.__code__.co_firstlineno
    assert first.location is not None
    assert first.location.line == line + 4
    update = next(copy for copy in first.copies if copy.place == "update")
    assert f":{line + 5})" in update.reason
    start = next(copy for copy in first.copies if copy.place == "loop")
    assert "'x'" in start.reason
    assert start.asked_for is not None
    assert start.asked_for.line == line + 1
    assert "2 writes, 2 copies needed" in str(found)


def chosen(x: Tensor, c: int) -> Tensor:
    a = x.clone()
    b = x + 1.0
    v = a[0]
    if c > 0:
        v = b[1]
    v += 1.0
    return a + b


def test_a_choice_says_of_how_many() -> None:
    found, _ = report(chosen, torch.zeros(4, 3), 1)
    (mutation,) = found.mutations
    assert mutation.alternatives == 2


def test_the_copies_of_kernels_are_told_apart() -> None:
    whole = ssa_compiler.compile(kept, (torch.zeros(4, 3), 2))
    assert whole.explain().kernel
    found = whole.report()
    assert found.kernel_copies_made == found.copies_made
    made = found.copies_made
    assert str(found).endswith(
        f"{made} copies in the compiled program, {found.loop_copies_made} in loops\n    {made} are of buffers in native "
        "kernels; compile with kernels=False to compare with the copies needed"
    )
    dispatched = ssa_compiler.compile(kept, (torch.zeros(4, 3), 2), kernels=False).report()
    assert (dispatched.copies_made, dispatched.kernel_copies_made) == (len(dispatched.copies), 0)
    assert str(dispatched).endswith("in loops")
