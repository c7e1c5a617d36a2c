"""Calls of programs that are one kernel: Ctrl-C, memory that is kept between calls, calls within calls."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from ssa_compiler import ArgumentValueError, compile
from ssa_compiler.runtime import interruption

A = torch.linspace(-1, 1, 12).reshape(3, 4)


def counts(x: Tensor, n: int) -> Tensor:
    for i in range(n):
        x = x * 0.5 + i % 3
    return x


def waits(x: Tensor, limit: float) -> tuple[Tensor, int]:
    trips = 0
    while float(x.max()) < limit:
        x = x * 0.5
        trips += 1
    return x, trips


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let interrupts raise KeyboardInterrupt: a process that runs tests for another one ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _interrupted(call: Callable[[], Any]) -> float:
    """Interrupt a call that does not end by itself; returns after how many seconds it did."""
    main = threading.main_thread().ident or 0
    timer = threading.Timer(0.3, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        call()
    timer.join()
    return time.perf_counter() - start


@pytest.mark.parametrize(
    ("function", "short", "endless"),
    [(counts, (A, 5), (A, 2**62)), (waits, (A, -1.0), (A, 2.0))],
    ids=["for", "while"],
)
def test_an_interrupt_stops_a_loop(
    interruptible: None, function: Callable[..., Any], short: tuple[Any, ...], endless: tuple[Any, ...]
) -> None:
    compiled = compile(function, short)
    assert compiled.explain().kernel
    for _ in range(2):
        assert str(compiled(*short)) == str(function(*short))
        assert _interrupted(lambda: compiled(*endless)) < 10
    assert str(compiled(*short)) == str(function(*short))


def test_an_interrupt_is_seen_by_who_waited_for_it_before(interruptible: None) -> None:
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    compiled = compile(counts, (A, 5))
    before = signal.set_wakeup_fd(writer)
    try:
        _interrupted(lambda: compiled(A, 2**62))
        assert os.read(reader, 8)[:1] == bytes([signal.SIGINT])
    finally:
        assert signal.set_wakeup_fd(before) == writer


def test_an_interrupt_that_is_handled_otherwise_stops_nothing() -> None:
    compiled, seen = compile(counts, (A, 5)), []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append("handled"))
    try:
        assert not interruption.watch([0, 0])
        asyncio.run(asyncio.sleep(0))
        assert torch.equal(compiled(A, 50), counts(A, 50))
        signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == ["handled"]


def test_a_forked_process_has_a_watch_of_its_own(interruptible: None) -> None:
    compiled = compile(counts, (A, 5))
    compiled(A, 5)  # starts the thread of this process

    def child() -> None:
        os._exit(0 if _interrupted(lambda: compiled(A, 2**62)) < 10 else 1)

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(30)
    assert process.exitcode == 0


def keeps_rows(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y = y.flip(0) + x * i
    return y


def test_scratch_memory_is_kept_and_grows() -> None:
    rows = torch.export.Dim("rows", min=1)
    compiled = compile(keeps_rows, (A, 2), dynamic_shapes={"x": {0: rows}, "n": None})
    interface = compiled.artifact.interface
    assert interface is not None
    assert interface.grows
    program = compiled._loaded()
    sizes = []
    for count in (3, 1, 20_000, 2, 40_000, 3):
        x = torch.rand(count, 4)
        for _ in range(2):
            assert torch.equal(compiled(x, 3), keeps_rows(x, 3))
        (kept,) = program._free
        sizes.append(kept._memory[1].numel())
    assert sizes[0] == sizes[1] < sizes[2] == sizes[3] < sizes[4] == sizes[5]
    assert sizes[4] <= 4 * 40_000 * 16


def test_a_call_within_a_call_has_memory_of_its_own() -> None:
    """A signal handler may call the program while a call of it is between the kernel and its results."""
    compiled = compile(waits, (A, -1.0))
    program = compiled._loaded()
    results_of, inner = program._results_of, []

    def interrupted(*args: Any) -> Any:
        if not inner:
            inner.append(None)
            inner[0] = compiled(A * 3, 2.5)
        return results_of(*args)

    program._results_of = interrupted
    assert str(compiled(A, 0.5)) == str(waits(A, 0.5))
    assert str(inner[0]) == str(waits(A * 3, 2.5))
    assert len(program._free) == 2


def doubles_first(x: Tensor) -> Tensor:
    x[0, 0] = x[0, 1] + 1
    x[0] = x[0] * 2
    return x.clone()


def test_written_arguments_whose_elements_overlap_are_rejected() -> None:
    memory = torch.arange(24.0)
    compiled = compile(doubles_first, (torch.zeros(3, 2, 2),))
    for strides in ((8, 1, 1), (10, 0, 1), (0, 2, 1), (4, 2, 2), (5, 3, 3)):
        with pytest.raises(ArgumentValueError, match="several of its elements share one memory location"):
            compiled(memory.as_strided((3, 2, 2), strides))
    for strides in ((8, 4, 2), (1, 4, 12), (2, 3, 10), (1, 6, 3)):  # the last two interleave
        given, expected = (memory.clone().as_strided((3, 2, 2), strides) for _ in range(2))
        assert torch.equal(compiled(given), doubles_first(expected))
        assert torch.equal(given, expected)
