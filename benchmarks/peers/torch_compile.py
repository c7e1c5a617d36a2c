"""torch.compile, with its default mode and those for GPUs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from ..workload import Built
from .base import Peer, PeerUnavailable, Program

__all__ = ["TorchCompile", "TorchCompileAutotune", "TorchCompileOverhead"]


class _CompiledProgram(Program):
    def __init__(self, call: Any) -> None:
        super().__init__()
        self.call = call
        self.first_graphs: int | None = None

    def __call__(self, *args: Any) -> Any:
        return self.call(*args)

    def recompilations(self) -> int:
        return max(_graphs() - (self.first_graphs or 0), 0)

    def refresh(self) -> None:
        from torch._dynamo.utils import counters
        from torch._inductor import metrics

        if self.first_graphs is None:  # right after the first call
            self.first_graphs = _graphs()
            self.details["graph_breaks"] = sum(counters["graph_break"].values())
            self.details["graphs"] = self.first_graphs
            self.details["generated_kernels"] = metrics.generated_kernel_count
            reasons = sorted(counters["graph_break"].items(), key=lambda item: -item[1])
            self.details["graph_break_reasons"] = [text.strip().splitlines()[0] for text, _ in reasons[:3]]
        self.details["recompiles"] = self.recompilations()
        self.artefact_bytes = _cache_bytes()


def _graphs() -> int:
    from torch._dynamo.utils import counters

    return int(counters["stats"].get("unique_graphs", 0))


def _cache_bytes() -> int | None:
    """The shared objects in inductor's cache folder, which is the process's own; None if there are none."""
    from torch._inductor.runtime.cache_dir_utils import cache_dir

    sizes = [path.stat().st_size for path in Path(cache_dir()).rglob("*.so")]
    return sum(sizes) or None


class TorchCompile(Peer):
    """`torch.compile(model)`, graph breaks allowed, as it comes."""

    name = "torch_compile"
    title = "torch.compile"
    settings = "torch.compile(model), default mode, graph breaks allowed, ints specialised first, inductor"
    modules = ("torch._dynamo", "torch._inductor.compile_fx", "torch._inductor.codegen.cpp")
    mode: str | None = None

    def compile(self, built: Built, args: tuple[Any, ...], device: str) -> Program:
        self.forget()
        return _CompiledProgram(torch.compile(built.model, mode=self.mode))

    def forget(self) -> None:
        import torch._dynamo
        from torch._dynamo.utils import counters
        from torch._inductor import metrics
        from torch._inductor.utils import clear_caches

        torch._dynamo.reset()
        clear_caches()  # in memory; what is on disk stays
        counters.clear()
        metrics.reset()


class TorchCompileAutotune(TorchCompile):
    """`torch.compile(model, mode="max-autotune")`, on CUDA."""

    name = "torch_compile_max_autotune"
    title = "torch.compile max-autotune"
    settings = "torch.compile(model, mode='max-autotune'); CUDA only"
    mode = "max-autotune"

    def check(self, built: Built, device: str) -> None:
        if device != "cuda":
            raise PeerUnavailable("compared on CUDA only")


class TorchCompileOverhead(TorchCompileAutotune):
    """`torch.compile(model, mode="reduce-overhead")`: CUDA graphs."""

    name = "torch_compile_reduce_overhead"
    title = "torch.compile reduce-overhead"
    settings = "torch.compile(model, mode='reduce-overhead'); CUDA only"
    mode = "reduce-overhead"
