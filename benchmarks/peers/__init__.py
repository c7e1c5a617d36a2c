"""What ssa-compiler is compared with, by name, in the order of the tables."""

from __future__ import annotations

from .base import Launches, Peer, PeerUnavailable, Program, move
from .eager import Eager
from .iree import IREEExport, IREEUnconverted
from .jax import Jax
from .ours import Ours, OursUnchecked, OursWithoutPasses
from .torch_compile import TorchCompile, TorchCompileAutotune, TorchCompileOverhead
from .torchscript import TorchScript, TorchScriptNNC

__all__ = ["PEERS", "Launches", "Peer", "PeerUnavailable", "Program", "move"]

PEERS: dict[str, Peer] = {
    peer.name: peer
    for peer in (
        Eager(),
        TorchScript(),
        TorchScriptNNC(),
        TorchCompile(),
        TorchCompileAutotune(),
        TorchCompileOverhead(),
        Jax(),
        IREEExport(),
        IREEUnconverted(),
        OursWithoutPasses(),
        OursUnchecked(),
        Ours(),
    )
}
