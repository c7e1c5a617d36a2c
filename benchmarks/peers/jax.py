"""JAX on the CPU: the loop workloads written with lax.scan, fori_loop and while_loop."""

from __future__ import annotations

import importlib.util
from typing import Any

import torch

from ..workload import Built
from .base import Peer, PeerUnavailable, Program

__all__ = ["Jax"]


class _JaxProgram(Program):
    def __init__(self, function: Any) -> None:
        import jax

        super().__init__()
        self.function: Any = jax.jit(function)

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)

    def place(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        import jax
        import jax.numpy as jnp

        def convert(value: Any) -> Any:
            if isinstance(value, torch.Tensor):
                value = value.numpy()
            elif isinstance(value, int | float):  # a dynamic scalar, as for the other peers
                value = jnp.asarray(value, jnp.int32 if isinstance(value, int) else jnp.float32)
            return jnp.asarray(value)

        return tuple(jax.tree.map(convert, args))

    def fetch(self, result: Any) -> Any:
        import jax
        import numpy as np

        return jax.tree.map(lambda array: torch.from_numpy(np.array(array)), result)

    def finish(self, result: Any) -> None:
        import jax

        jax.block_until_ready(result)  # type: ignore[no-untyped-call]

    def recompilations(self) -> int:
        return max(int(self.function._cache_size()) - 1, 0)

    def refresh(self) -> None:
        self.details["recompiles"] = self.recompilations()


class Jax(Peer):
    """`jax.jit` of the workload's JAX version; weights are constants of it, ints are dynamic."""

    name = "jax"
    title = "JAX"
    settings = "jax.jit of a lax.scan / fori_loop / while_loop version, weights as constants, 32-bit ints; CPU only"

    def check(self, built: Built, device: str) -> None:
        if device != "cpu":
            raise PeerUnavailable("compared on the CPU only")
        if built.jax is None:
            raise PeerUnavailable("this workload has no JAX version (only loops have)")
        if importlib.util.find_spec("jax") is None:
            raise PeerUnavailable("JAX is not installed (pip install 'ssa-compiler[benchmarks]')")

    def load(self) -> None:
        import jax

        jax.devices()

    def compile(self, built: Built, args: tuple[Any, ...], device: str) -> Program:
        assert built.jax is not None
        return _JaxProgram(built.jax(built.model))

    def forget(self) -> None:
        if importlib.util.find_spec("jax") is not None:
            import jax

            jax.clear_caches()  # type: ignore[no-untyped-call]
