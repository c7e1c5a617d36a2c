"""Register moves of the compiled program: wrong ones are found, and programs that would have them are right."""

from __future__ import annotations

import subprocess
from pathlib import Path

import iree.runtime
import pytest
import torch
from iree.compiler import ir
from torch import Tensor

from ssa_compiler.backend import compiler_path, resolve_target
from ssa_compiler.backend.driver import compilation
from ssa_compiler.backend.verify.register_moves import find_bad_moves, find_bad_moves_in_text
from ssa_compiler.backend.verify.register_rewrite import find_shared_registers, rewrite_moves
from ssa_compiler.errors import ToolError
from ssa_compiler.testing import check


def _fill_in_branches(x: Tensor, y: Tensor, n: int, k: int) -> tuple[Tensor, Tensor]:
    t = x + torch.tanh(x)
    if k % 3 == 0:
        t.zero_()
    else:
        t.transpose(0, 1).fill_(2.0)
    v = y.select(0, n % 4)
    return t + 0.0, v + 0.0


def _two_tensors_from_a_branch(x: Tensor, y: Tensor, n: int, k: int) -> tuple[Tensor, Tensor]:
    y = y.clone()
    v2 = x.chunk(2, dim=0)[1]
    t3 = x + x.diagonal(0, 0, 1).clone()
    t4 = y[1:]
    v5 = t3.chunk(2, dim=1)[1]
    for i in range(2):
        if i % 2 == 0:
            v2.diagonal(0, 0, 1).masked_fill_(v2.diagonal(0, 0, 1) > 4.0, -1.0)
        else:
            t3.chunk(2, dim=1)[1].masked_fill_(t3.chunk(2, dim=1)[1] > 7.0, -1.0)
            t4[::2].mul_(0.5)
    return y + 0.0, v5 + 0.0


def _nothing_to_wait_for_in_one_branch(x: Tensor, y: Tensor, n: int) -> tuple[Tensor, Tensor]:
    t = torch.zeros([4, 4])
    if n == 0:
        x.expand([2, 4, 4]).zero_()
    elif n <= 1:
        t.scatter_add_(0, torch.tensor([[2]]), torch.full([1, 4], -3.0))
    return t, y


def _work_list(x: Tensor, n: int) -> Tensor:
    waiting = [0]
    while len(waiting) > 0 and n > 0:
        n -= 1
        place = waiting.pop(0)
        for i in range(2):
            if bool(x[i] >= 0):
                continue
            x[i] = x[place] + 1
            waiting.append(i)
    return x


def test_a_constant_lives_through_all_trips() -> None:
    """Of `and` one side is a constant, which a branch forwards to a block that consists of the next branch."""
    check(_work_list, *((torch.full((2,), -1), n) for n in (4, 0, 1, 2, 3, 9)))


def test_an_empty_reference_does_not_get_the_register_of_another() -> None:
    calls = [(torch.randn(4, 4), torch.randn(4, 4), n) for n in (2, 0, 1)]
    compiled = check(_nothing_to_wait_for_in_one_branch, *calls).compiled
    assert find_bad_moves(compiled.artifact.path) == []


@pytest.mark.parametrize(
    ("function", "problem"),
    [(_fill_in_branches, "is overwritten before it is read"), (_two_tensors_from_a_branch, "has been moved away")],
)
def test_program_is_right_although_plain_iree_moves_wrongly(
    function: object, problem: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Barriers in branches, which are there for speed, hide the second mistake.
    monkeypatch.setattr(compilation, "reuse_captures", lambda module: 0)
    calls = [(torch.randn(4, 3) * 5, torch.randn(4), n, k) for n, k in ((2, 1), (0, 0), (3, 2))]
    compiled = check(function, *calls).compiled  # type: ignore[arg-type]
    assert find_bad_moves(compiled.artifact.path) == []
    source, output = tmp_path / "plain.mlir", tmp_path / "plain.vmfb"
    source.write_text(compiled.artifact.module)
    flags = resolve_target("cpu").flags
    subprocess.run([compiler_path(), str(source), *flags, "-o", str(output)], check=True)
    found = find_bad_moves(str(output))
    assert found
    assert problem in found[0]


_READ_ON_ENTRY = """
vm.module public @m {{
  vm.global.{type} private mutable @taken : {type}
  vm.export @f
  vm.func private @f(%c: i32, %n: {type}, %k: {type}) -> {type} {{
    vm.cond_br %c, ^taken, ^other
  ^taken:
    vm.global.store.{type} %n, @taken : {type}
    vm.br ^join(%n : {type})
  ^other:
    vm.br ^join(%k : {type})
  ^join(%m: {type}):
    %r = vm.sub.{type} %m, %n : {type}
    {after}
    vm.return %r : {type}
  }}
}}
"""
_READ_ON_ENTRY_IN_LOOP = """
vm.module public @m {{
  vm.global.{type} private mutable @given : {type}
  vm.global.{type} private mutable @taken : {type}
  vm.export @f
  vm.func private @f(%c: i32, %n: {type}, %k: {type}) -> {type} {{
    %one = vm.const.{type} 1
    vm.global.store.{type} %n, @given : {type}
    vm.br ^body(%one : {type})
  ^body(%trips: {type}):
    %v = vm.global.load.{type} @given : {type}
    vm.cond_br %c, ^taken, ^other
  ^taken:
    vm.global.store.{type} %v, @taken : {type}
    vm.br ^join(%v : {type})
  ^other:
    vm.br ^join(%k : {type})
  ^join(%m: {type}):
    %r = vm.sub.{type} %m, %v : {type}
    %left = vm.sub.{type} %trips, %one : {type}
    %more = vm.cmp.nz.{type} %left : {type}
    vm.cond_br %more, ^body(%left : {type}), ^done
  ^done:
    vm.return %r : {type}
  }}
}}
"""
_FORWARDED_IN_LOOP = """
vm.module public @m {{
  vm.global.{type} private mutable @sum : {type}
  vm.export @f
  vm.func private @f(%c: i32, %n: {type}, %k: {type}) -> {type} {{
    %one = vm.const.{type} 1
    %nine = vm.const.{type} 9
    %start = vm.const.{type} 4
    vm.br ^head(%start, %one : {type}, {type})
  ^head(%trips: {type}, %seen: {type}):
    %sum = vm.global.load.{type} @sum : {type}
    %part = vm.add.{type} %sum, %nine : {type}
    %more = vm.add.{type} %part, %seen : {type}
    vm.global.store.{type} %more, @sum : {type}
    %left = vm.sub.{type} %trips, %one : {type}
    %again = vm.cmp.nz.{type} %left : {type}
    vm.cond_br %again, ^body, ^done
  ^body:
    vm.cond_br %c, ^other, ^latch(%nine : {type})
  ^other:
    %last = vm.sub.{type} %left, %one : {type}
    vm.br ^latch(%last : {type})
  ^latch(%m: {type}):
    vm.br ^head(%left, %m : {type}, {type})
  ^done:
    vm.return %more : {type}
  }}
}}
"""
_READ_LATER = "vm.global.store.{type} %n, @taken : {type}"


@pytest.mark.parametrize("type_", ["i32", "i64"])
@pytest.mark.parametrize(
    ("program", "branch", "wrong", "right"),
    [
        (_READ_ON_ENTRY, "vm.br forwards %arg1", (0, 0), (4, 0)),
        (_READ_ON_ENTRY_IN_LOOP, "vm.br forwards %given", (0, 0), (4, 0)),
        (_FORWARDED_IN_LOOP, "vm.cond_br forwards %c9", (64, 16), (64, 40)),
    ],
)
def test_a_value_that_lives_to_the_start_of_the_target_keeps_its_register(
    program: str, branch: str, wrong: tuple[int, int], right: tuple[int, int], type_: str, tmp_path: Path
) -> None:
    """IREE puts %n and %m into one register, and %m - %n is 0 whichever branch is taken.

    In a loop, what the next trip does with a value that it makes anew is no later use of this one. In the last program
    the constant that is forwarded to a block that only goes on to the next trip is overwritten by what another branch
    forwards there.
    """
    plain = program.format(type=type_, after="")

    def results_of(text: str) -> tuple[int, int]:
        source, output = tmp_path / "machine.mlir", tmp_path / "machine.vmfb"
        source.write_text(text)
        command = [compiler_path(), str(source), *resolve_target("cpu").flags, "--compile-from=vm", "-o", str(output)]
        subprocess.run(command, check=True)
        instance = iree.runtime.VmInstance()
        module = iree.runtime.VmModule.mmap(instance, str(output))
        results = []
        for taken in (0, 1):
            context = iree.runtime.VmContext(instance, [module])
            arguments, found = iree.runtime.VmVariantList(3), iree.runtime.VmVariantList(1)
            for number in (taken, 5, 9):
                arguments.push_int(number)
            context.invoke(module.lookup_function("f"), arguments, found)
            results.append(found.get_variant(0))
        return results[0], results[1]

    assert results_of(plain) == wrong, "IREE has repaired this: the check and the detour can go"
    assert find_shared_registers(plain, ir.Context()) == [branch]
    repaired = rewrite_moves(f"module {{ {plain} }}")
    assert results_of(repaired) == right
    assert find_shared_registers(repaired, ir.Context()) == []


def test_a_value_that_is_read_later_too_keeps_its_register_anyway() -> None:
    text = _READ_ON_ENTRY.format(type="i64", after=_READ_LATER.format(type="i64"))
    assert find_shared_registers(text, ir.Context()) == []


def _text(*lines: str) -> str:
    return "vm.func @f(%i0: i32, %r0: !vm.ref<?>)\n{\n" + "\n".join(lines) + "\n}\n"


def _found(*lines: str) -> list[str]:
    plain = [line if line.startswith("^") else "  " + line for line in lines]
    return find_bad_moves_in_text(_text(*plain))


def test_right_moves() -> None:
    # A cycle that is broken by a register which serves for nothing else.
    assert not _found("^bb0:", "vm.br ^bb1(%i0->%i9, %i1->%i0, %i9->%i1)", "^bb1:", "vm.return %i0, %i1")
    assert not _found("^bb0:", "vm.br ^bb1(%R1->%r2, %R0->%r1)", "^bb1:", "vm.return %R1, %R2")
    # Letting go of what is gone, and a new value in its place.
    assert not _found("^bb0:", "vm.call @g(%R0)", "vm.discard.refs %r0", "%r0 = vm.call @h()", "vm.return %R0")
    # An empty reference that is moved stays empty.
    assert not _found(
        "^bb0:", "%r1 = vm.const.ref.zero", "vm.br ^bb1(%R1->%r2, %R1->%r3)", "^bb1:", "vm.return %R2, %R3"
    )
    # A fence that is joined twice.
    assert not _found(
        "^bb0:", "%r1 = vm.call.variadic @hal.fence.join segments[65535, 2](%i0, %R0, %R0)", "vm.return %R1"
    )
    # A fence that was joined before: not waited for again, which program order makes up for.
    joined_again = (
        "^bb0:",
        "%r1 = vm.call.variadic @hal.fence.join segments[65535, 1](%i0, %R0)",
        "%r2 = vm.call.variadic @hal.fence.join segments[65535, 2](%i0, %R1, %R0)",
        "vm.return %R2",
    )
    assert not find_bad_moves_in_text(_text(*joined_again), in_order=True)
    assert find_bad_moves_in_text(_text(*joined_again))
    # A suspended call: its results are the arguments of the block that it goes on in.
    assert not _found("^bb0:", "vm.call.yieldable @g(%R0) -> ^bb1(%r0)", "^bb1:", "vm.return %R0")


@pytest.mark.parametrize(
    "lines",
    [
        ("^bb0:", "vm.br ^bb1(%i0->%i1, %i1->%i2)", "^bb1:", "vm.return %i1, %i2"),
        ("^bb0:", "vm.call @g(%R0)", "vm.return %r0"),
        ("^bb0:", "vm.call @g(%R0, %R0)", "vm.return"),
        ("^bb0:", "vm.br ^bb1(%R0->%r1)", "^bb1:", "vm.call @g(%r0)", "vm.return"),
        (
            "^bb0:",
            "vm.cond_br %i0, ^bb1(), ^bb2(%R0->%r1)",
            "^bb1:",
            "vm.br ^bb2(%r0->%r1)",
            "^bb2:",
            "vm.call @g(%r0)",
        ),
        ("^bb0:", "vm.call.yieldable @g(%R0) -> ^bb1(%r1)", "^bb1:", "vm.return %R0"),
        (
            "^bb0:",
            "%r1 = vm.const.ref.zero",
            "vm.cond_br %i0, ^bb1(), ^bb1(%R0->%r1)",
            "^bb1:",
            "vm.br ^bb2(%R1->%r2, %R1->%r3)",
            "^bb2:",
            "vm.return %R2",
        ),
    ],
    ids=[
        "overwritten",
        "used_again",
        "twice_in_a_call",
        "in_the_target",
        "on_one_path",
        "after_a_suspended_call",
        "empty_on_one_path",
    ],
)
def test_wrong_moves(lines: tuple[str, ...]) -> None:
    assert len(_found(*lines)) == 1


def test_file_that_is_no_program(tmp_path: Path) -> None:
    path = tmp_path / "no.vmfb"
    path.write_bytes(b"nothing")
    with pytest.raises(ToolError, match="cannot disassemble"):
        find_bad_moves(str(path))
