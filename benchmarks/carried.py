"""Time programs on a GPU that were compiled on a machine without one.

`python -m benchmarks.carried pack FILE [workload ...]` compiles workloads for CUDA, whole and as IREE's dispatches, and
writes what they become to FILE. `python -m benchmarks.carried run FILE` checks and times them where there is a GPU,
with IREE's runtime and no compiler, and eager and TorchScript on the same GPU. It prints a table in Markdown.
"""

from __future__ import annotations

import argparse
import copy
import pickle
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from .workloads import WORKLOADS

__all__ = ["main"]

_SECONDS = 0.25
_TOLERANCE = 2e-3
"""Sums on a GPU have another order."""


def _pack(path: Path, names: Sequence[str], target: str) -> None:
    """Compile workloads, and keep the programs that run nothing in PyTorch.

    Args:
        path: the file that is written.
        names: the workloads; all if empty.
        target: "cuda:sm_80" and so on.
    """
    import ssa_compiler

    packed = []
    for name in names or WORKLOADS:
        built = WORKLOADS[name].at()
        inputs = next(iter(built.inputs.values()))
        for kernels in (True, False):
            start = time.perf_counter()
            compiled = ssa_compiler.compile(built.model, inputs, target=target, kernels=kernels, cache=False)
            artifact, seconds = compiled.artifact, time.perf_counter() - start
            if artifact.callbacks:
                print(f"{name}: {artifact.callbacks[0].op} runs in PyTorch")
                continue
            signature = compiled.specialisations[0].signature
            program = Path(artifact.path).read_bytes()
            packed.append((name, kernels, program, signature, artifact.interface, artifact.kernels, seconds))
            print(f"{name}: {artifact.kernels} kernels, {seconds:.1f} s")
    path.write_bytes(pickle.dumps(packed))


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for part in value:
            yield from _flat(part)
    else:
        yield value


def _leaves(model: torch.nn.Module, inputs: Sequence[Any], signature: Any) -> list[Any]:
    """The arguments of a program: parameters by name, the others in order."""
    given = _flat(inputs)
    state = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    return [state[info.parameter] if info.parameter else next(given) for info in signature.arguments]


def _on_gpu(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().cuda()
    return type(value)(map(_on_gpu, value)) if isinstance(value, list | tuple) else value


def _median(call: Callable[[], Any]) -> float:
    """Microseconds of a call, the median of those of a fraction of a second, the GPU waited for."""
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    times: list[float] = []
    end = time.perf_counter() + _SECONDS
    while time.perf_counter() < end or len(times) < 3:
        start = time.perf_counter()
        call()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 2] * 1e6


def _check(results: Sequence[Any], expected: Sequence[Any]) -> None:
    """Compare results on the GPU with eager's on the CPU."""
    got = [result for result in results if isinstance(result, torch.Tensor)]
    wanted = [result for result in expected if isinstance(result, torch.Tensor)]
    for result, reference in zip(got, wanted, strict=True):
        torch.testing.assert_close(result.cpu(), reference, rtol=_TOLERANCE, atol=_TOLERANCE, equal_nan=True)


def _ours(packed: tuple[Any, ...], model: torch.nn.Module, inputs: Sequence[Any], folder: str) -> float:
    """Load a program, compare what three calls of it return with eager, and time it."""
    from ssa_compiler.runtime import KernelProgram, Program

    name, kernels, code, signature, interface, *_ = packed
    path = Path(folder, f"{name}-{kernels}.vmfb")
    path.write_bytes(code)
    program = (
        Program(str(path), signature, driver="cuda")
        if interface is None
        else KernelProgram(str(path), signature, interface, driver="cuda")
    )
    leaves = _on_gpu(_leaves(model, inputs, signature))
    with torch.no_grad():
        expected = list(_flat([model(*copy.deepcopy(list(inputs)))]))
        for _ in range(3):
            _check(program(leaves), expected)
        return _median(lambda: program(leaves))


def _peers(model: torch.nn.Module, inputs: Sequence[Any]) -> tuple[float, float]:
    """Time eager and TorchScript on the GPU."""
    model, inputs = copy.deepcopy(model).cuda(), _on_gpu(list(inputs))
    with torch.no_grad(), torch.device("cuda"):
        scripted = torch.jit.script(model)
        return _median(lambda: model(*inputs)), _median(lambda: scripted(*inputs))


def _run(path: Path) -> None:
    """Check and time the programs of a file, and print the table."""
    all_packed = pickle.loads(path.read_bytes())
    names = list(dict.fromkeys(packed[0] for packed in all_packed))
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}; microseconds per call\n")
    print("| program | kernels | ours | as dispatches | eager | TorchScript |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            built = WORKLOADS[name].at()
            inputs = next(iter(built.inputs.values()))
            mine = {packed[1]: packed for packed in all_packed if packed[0] == name}
            times = {kernels: f"{_ours(packed, built.model, inputs, folder):.0f}" for kernels, packed in mine.items()}
            eager, script = _peers(built.model, inputs)
            count = mine[True][5] if True in mine else ""
            whole = " (whole)" if True in mine and mine[True][4] is not None else ""
            row = [times.get(True, ""), times.get(False, ""), f"{eager:.0f}", f"{script:.0f}"]
            print(f"| {name} | {count}{whole} | {' | '.join(row)} |", flush=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Pack or run; see the module's docstring."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.carried", description=__doc__)
    parser.add_argument("what", choices=("pack", "run"))
    parser.add_argument("file", type=Path)
    parser.add_argument("workloads", nargs="*")
    parser.add_argument("--target", default="cuda:sm_90", help="what to pack for")
    given = parser.parse_args(argv)
    if given.what == "pack":
        _pack(given.file, given.workloads, given.target)
    else:
        _run(given.file)


if __name__ == "__main__":
    main()
