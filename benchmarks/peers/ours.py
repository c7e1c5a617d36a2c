"""ssa-compiler, and the same with what may be left out left out, to see what it is for."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ssa_compiler
from ssa_compiler import pipeline
from ssa_compiler.backend import forget_ops

from ..launches import count_launches
from ..workload import Built
from .base import Launches, Peer, Program

__all__ = ["Ours", "OursProgram", "OursUnchecked", "OursWithoutPasses", "describe_specialisations"]

_CACHE = "SSA_COMPILER_CACHE_DIR"
_LAYERS = ("ssa_compiler.importer", "ssa_compiler.backend", "ssa_compiler.runtime")

# What conversion needs, without the clean-up between its steps: equal accesses stay, slots are not promoted.
_BARE_CONVERSION = (
    "--pass-pipeline=builtin.module(torch-insert-bounds-checks,func.func(tssa-resolve-ambiguous-aliases,tssa-rewrite-mutation,"
    "tssa-block-propagation,tssa-rename,tssa-remove-update,tssa-lower),verify-value-semantics)",
)


class OursProgram(Program):
    """A program of ssa-compiler.

    Args:
        compiled: what `ssa_compiler.compile` returned, or one specialisation.
    """

    def __init__(self, compiled: Any) -> None:
        super().__init__()
        self.compiled = compiled
        self.refresh()

    def __call__(self, *args: Any) -> Any:
        return self.compiled(*args)

    def recompilations(self) -> int:
        return len(getattr(self.compiled, "specialisations", (0,))) - 1

    def refresh(self) -> None:
        explained = self.compiled.explain()
        self.details.update(
            callbacks=[str(callback) for callback in explained.callbacks],
            callback_runs=sum(callback.count for callback in explained.callbacks),
            protective_copies=explained.copies,
            attempts=explained.attempts,
            from_cache=explained.cached,
            recompiles=self.recompilations(),
            compile_steps_s={name: round(seconds, 4) for name, seconds in self.compiled.seconds.items()},
        )
        self.artefact_bytes = describe_specialisations(self.compiled)

    def launches(self, args: tuple[Any, ...]) -> Launches | None:
        return count_launches(self.compiled, args)


def describe_specialisations(compiled: Any) -> int:
    """Return the size of the compiled code of a program, all specialisations, in bytes."""
    made = getattr(compiled, "specialisations", (compiled,))
    return sum(os.path.getsize(each.artifact.path) for each in made)


class Ours(Peer):
    """`ssa_compiler.compile(model, example)`."""

    name = "ours"
    title = "ssa-compiler"
    settings = "ssa_compiler.compile(model, example), defaults; IREE local-sync: one thread; large products by PyTorch's libraries; warm: its cache on disk"
    modules = ("iree.compiler", "iree.runtime", "torch_mlir.ir", *_LAYERS)

    def compile(self, built: Built, args: tuple[Any, ...], device: str) -> Program:
        return self.made(built, args, device)

    def made(self, built: Built, args: tuple[Any, ...], device: str, **options: Any) -> Program:
        """Compile a workload with options of `ssa_compiler.compile`, in a cache that no other variant of this peer
        fills.
        """
        self.forget()
        shared = os.environ.get(_CACHE, "")
        if not shared:
            return OursProgram(ssa_compiler.compile(built.model, args, target=device, cache=False, **options))
        with _environment(_CACHE, str(Path(shared) / self.name)):
            return OursProgram(ssa_compiler.compile(built.model, args, target=device, **options))

    def forget(self) -> None:
        forget_ops()


class OursUnchecked(Ours):
    """Without the checks of indices in tensors."""

    name = "ours_unchecked"
    title = "ssa-compiler without index checks"
    settings = "as ssa-compiler, index_checks=False"

    def compile(self, built: Built, args: tuple[Any, ...], device: str) -> Program:
        return self.made(built, args, device, index_checks=False)


class OursWithoutPasses(Ours):
    """With the steps of TensorSSA conversion only, nothing simplified in between."""

    name = "ours_without_passes"
    title = "ssa-compiler, passes off"
    settings = "as ssa-compiler, without torch-simplify, cse, tssa-promote-slots and remove-redundant-asserts"

    def compile(self, built: Built, args: tuple[Any, ...], device: str) -> Program:
        with _conversion(_BARE_CONVERSION):
            return self.made(built, args, device, max_specialisations=1)


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    """Let an environment variable have another value."""
    usual = os.environ[name]
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ[name] = usual


@contextlib.contextmanager
def _conversion(flags: tuple[str, ...]) -> Iterator[None]:
    """Let another list of passes make the tensorssa stage."""
    usual = pipeline.PASSES["tensorssa"]
    pipeline.PASSES["tensorssa"] = flags
    try:
        yield
    finally:
        pipeline.PASSES["tensorssa"] = usual
