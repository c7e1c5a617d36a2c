"""Measures the peers of one workload in one process: correctness first, then times, interleaved, then memory and
counts.
"""

from __future__ import annotations

import contextlib
import gc
import os
import re
import signal
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from .peers import Program
from .settings import malloc_trim

__all__ = [
    "AGREEMENT",
    "Effort",
    "Mismatch",
    "Samples",
    "TimeLimit",
    "check_result",
    "check_rounding",
    "measure_latency",
    "peak_memory",
    "pinned",
    "profiled_launches",
    "time_limit",
]

AGREEMENT = 0.05
"""Two runs of the same thing agree if their medians differ by no more than this part."""


class TimeLimit(BaseException):
    """The time limit has passed. Not an `Exception`, which compilers catch."""


class Mismatch(AssertionError):
    """A peer's result differs from eager's."""


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise in the body when it takes too long, as soon as Python runs; native code is waited for.

    Args:
        seconds: wall-clock limit, 0 for none.
    Raises:
        TimeLimit: it has passed.
    """

    def stop(signum: int, frame: Any) -> None:
        raise TimeLimit(f"> {seconds:g} s")

    if not seconds:
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def check_result(actual: Any, expected: Any, rtol: float, atol: float) -> None:
    """Compare a peer's result with eager's: structure, shapes and values; ints may be of another width.

    Raises:
        Mismatch: they differ.
    """
    import torch.utils._pytree as pytree

    left, right = pytree.tree_leaves(actual), pytree.tree_leaves(expected)
    if len(left) != len(right):
        raise Mismatch(f"expected {len(right)} results, got {len(left)}")
    for number, (a, b) in enumerate(zip(left, right, strict=True)):
        try:
            torch.testing.assert_close(
                torch.as_tensor(a).cpu().double(),
                torch.as_tensor(b).cpu().double(),
                rtol=rtol,
                atol=atol,
                equal_nan=True,
            )
        except AssertionError as error:
            raise Mismatch(f"result {number}: {error}") from None


def check_rounding(actual: Any, expected: Any, exact: Any) -> None:
    """Compare a peer's result with eager's where rounding errors grow: it may be four times as far from the exact one.

    Args:
        actual: the peer's result.
        expected: eager's.
        exact: eager's in double precision.
    Raises:
        Mismatch: the largest error of a result is more than four times eager's.
    """
    import torch.utils._pytree as pytree

    results = zip(pytree.tree_leaves(actual), pytree.tree_leaves(expected), pytree.tree_leaves(exact), strict=True)
    for number, each in enumerate(results):
        peer, eager, right = (torch.as_tensor(leaf).cpu().double() for leaf in each)
        error, own = ((found - right).abs().max().item() if right.numel() else 0.0 for found in (peer, eager))
        if not error <= 4 * own:
            raise Mismatch(f"result {number}: off by {error:.1e} from double precision, eager by {own:.1e}")


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    Attributes:
        rounds: samples of each peer in a run, at most.
        seconds: time for one run of all peers on one input set, roughly; at least `least` rounds are made.
        least: the fewest samples of each peer in a run.
        runs: runs, at least 2, that have to agree; up to three times as many are made until they do.
        sample_s: one sample repeats the call until it takes about this long.
    """

    rounds: int = 30
    seconds: float = 4.0
    least: int = 5
    runs: int = 2
    sample_s: float = 1e-3


@dataclass
class Samples:
    """Times of one program on one input set, in seconds.

    Attributes:
        runs: the samples of each run.
        number: calls in a sample; each sample is divided by it.
    """

    runs: list[list[float]]
    number: int = 1

    def agree(self) -> bool:
        """Whether the last two runs agree."""
        return self.disagreement() <= AGREEMENT

    def disagreement(self) -> float:
        """By what part the medians of the last two runs differ; 1 if there are no two."""
        medians = [statistics.median(run) for run in self.runs[-2:]]
        return (max(medians) - min(medians)) / min(medians) if len(medians) == 2 else 1.0

    def summary(self) -> dict[str, Any]:
        """Median, quartiles, smallest and largest of the last two runs in milliseconds, and how well they agree."""
        times = sorted(time for run in self.runs[-2:] for time in run)
        low, _, high = statistics.quantiles(times, n=4)
        return {
            "median_ms": statistics.median(times) * 1e3,
            "quartiles_ms": [low * 1e3, high * 1e3],
            "min_ms": times[0] * 1e3,
            "max_ms": times[-1] * 1e3,
            "samples": len(times),
            "calls_per_sample": self.number,
            "runs": len(self.runs),
            "disagreement": round(self.disagreement(), 4),
            "steady": self.agree(),
        }


def _time(call: Callable[[], Any], finish: Callable[[Any], None], number: int, device: str) -> float:
    """Seconds of one call, from `number` of them: by the clock on the CPU, by events on CUDA."""
    if device == "cuda":
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        torch.cuda.synchronize()
        first.record()
        for _ in range(number):
            call()
        last.record()
        torch.cuda.synchronize()
        return float(first.elapsed_time(last)) / 1e3 / number
    start = time.perf_counter()
    for _ in range(number):
        finish(call())
    return (time.perf_counter() - start) / number


_SLOW_ROUNDS = 2


def measure_latency(
    programs: dict[str, Program],
    args: tuple[Any, ...],
    effort: Effort,
    device: str,
    progress: Callable[[], None],
    failed: Callable[[str, Exception], None],
) -> dict[str, Samples]:
    """Measure programs on one input set, each round running each program once in turn.

    A program of which one call takes longer than a run should is in a few rounds only.

    Args:
        programs: by name.
        args: of the workload, on the device.
        effort: how long.
        device: "cpu" or "cuda".
        progress: called after each round.
        failed: called with the name of a program that raises in a first call, and what it raised; it is left out.
    """
    calls: dict[str, Callable[[], Any]] = {}
    for name, program in programs.items():
        placed = program.place(args)
        calls[name] = lambda program=program, placed=placed: program(*placed)  # type: ignore[misc]
    samples: dict[str, Samples] = {}
    slow: set[str] = set()
    for name, call in list(calls.items()):
        once = 0.0
        try:
            for _ in range(3):  # TorchScript compiles in its second call, caches fill
                once = _time(call, programs[name].finish, 1, device)
        except Exception as error:  # a compilation that a time limit stopped may leave a peer in any state
            failed(name, error)
            del calls[name]
            continue
        samples[name] = Samples([], max(1, min(1000, int(effort.sample_s / max(once, 1e-7)))))
        if once > effort.seconds:
            slow.add(name)
    for run in range(3 * effort.runs):
        for each in samples.values():
            each.runs.append([])
        start = time.perf_counter()
        for round_number in range(effort.rounds):
            if round_number >= effort.least and time.perf_counter() - start > effort.seconds:
                break
            for name, call in calls.items():
                if name in slow and (round_number >= _SLOW_ROUNDS or run >= effort.runs):
                    continue
                samples[name].runs[-1].append(_time(call, programs[name].finish, samples[name].number, device))
            progress()
        if run + 1 >= effort.runs and all(each.agree() for name, each in samples.items() if name not in slow):
            break
    for name in slow & samples.keys():
        samples[name].runs[:] = [run for run in samples[name].runs if run]
    return samples


def peak_memory(program: Program, placed: Sequence[Any], device: str) -> int | None:
    """Return the memory that a call takes at its peak beyond what was in use before, in bytes.

    On the CPU it is the growth of resident memory, with pages freed earlier given back first; on CUDA it is what
    PyTorch's allocator reports, which does not see memory of IREE's. None where it cannot be measured.
    """
    gc.collect()
    if device == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated()
        program(*placed)
        torch.cuda.synchronize()
        return int(torch.cuda.max_memory_allocated()) - before
    malloc_trim()
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the peak so far
        start = _status("VmRSS")
        program.finish(program(*placed))
        return max(_status("VmHWM") - start, 0)
    except (OSError, KeyError):
        return None


def profiled_launches(program: Program, placed: Sequence[Any]) -> dict[str, int]:
    """Return the kernels, and the copies and fills, that the profiler sees on the GPU in one call."""
    from torch._C._autograd import DeviceType
    from torch.profiler import ProfilerActivity, profile

    program(*placed)
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        program(*placed)
        torch.cuda.synchronize()
    names = [event.name for event in profiler.events() or () if event.device_type == DeviceType.CUDA]
    copies = sum(name.startswith(("Memcpy", "Memset")) for name in names)
    return {"kernels": len(names) - copies, "copies": copies}


def _status(field: str) -> int:
    text = Path("/proc/self/status").read_text(encoding="ascii")
    found = re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)
    if found is None:
        raise KeyError(field)
    return int(found[1]) * 1024


@contextlib.contextmanager
def pinned(threads: int) -> Iterator[None]:
    """Let the body run on as many processors as there are threads; on all for 0."""
    allowed = os.sched_getaffinity(0)
    if threads:
        os.sched_setaffinity(0, sorted(allowed)[-threads:])
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
