"""TorchScript as its documentation advises for inference: scripted, frozen, optimised; and with the NNC fuser."""

from __future__ import annotations

import io
from typing import Any

import torch

from ..workload import Built
from .base import Launches, Peer, PeerUnavailable, Program
from .eager import count_operators

__all__ = ["TorchScript", "TorchScriptNNC"]


class _ScriptProgram(Program):
    def __init__(self, module: Any, fuser: str | None) -> None:
        buffer = io.BytesIO()
        torch.jit.save(module, buffer)
        super().__init__(artefact_bytes=len(buffer.getvalue()))
        self.saved = buffer.getvalue()
        self.module = module
        self.fuser = fuser

    def __call__(self, *args: Any) -> Any:
        if self.fuser is None:
            return self.module(*args)
        with torch.jit.fuser(self.fuser):  # type: ignore[attr-defined]
            return self.module(*args)

    def launches(self, args: tuple[Any, ...]) -> Launches | None:
        return count_operators(self.module, args) if self.fuser is None else None


class TorchScript(Peer):
    """`torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.script(model)))`."""

    name = "torchscript"
    title = "TorchScript"
    settings = "torch.jit: script, freeze, optimize_for_inference; no fuser (its default on the CPU)"
    fuser: str | None = None

    def compile(self, built: Built, args: tuple[Any, ...], device: str) -> Program:
        module = torch.jit.optimize_for_inference(torch.jit.freeze(torch.jit.script(built.model)))
        return _ScriptProgram(module, self.fuser)

    def restart(self, built: Built, program: Program, args: tuple[Any, ...], device: str) -> Program:
        assert isinstance(program, _ScriptProgram)
        loaded = torch.jit.load(io.BytesIO(program.saved))  # type: ignore[no-untyped-call]
        return _ScriptProgram(loaded, self.fuser)


class TorchScriptNNC(TorchScript):
    """TorchScript with the tensor-expression fuser (NNC)."""

    name = "torchscript_nnc"
    title = "TorchScript + NNC"
    settings = "as TorchScript, under torch.jit.fuser('fuser1')"
    fuser = "fuser1"

    def check(self, built: Built, device: str) -> None:
        llvm = getattr(torch._C, "_llvm_enabled", lambda: False)()
        if device == "cpu" and not llvm:
            raise PeerUnavailable("this build of PyTorch has no NNC for the CPU (it was built without LLVM)")
