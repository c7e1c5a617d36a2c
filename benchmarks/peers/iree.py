"""IREE without TensorSSA conversion: fed what torch.export makes, and fed this project's unconverted program."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import torch

from ssa_compiler._opt import run_ssa_opt
from ssa_compiler.backend import Target, compile_module, compiler_path, read_signature, resolve_target
from ssa_compiler.importer import import_program
from ssa_compiler.pipeline import PASSES
from ssa_compiler.specialisation import Specialisation

from ..workload import Built
from .base import Peer, Program
from .ours import Ours, OursProgram

__all__ = ["IREEExport", "IREEUnconverted"]

# torch-mlir's passes that turn mutable tensors into values where they can; the first lets the caller pass values.
_VALUE_PASSES = (
    "torch-adjust-calling-conventions,func.func(torch-reduce-op-variants,canonicalize,"
    "torch-maximize-value-semantics,canonicalize,cse),torch-refine-public-return"
)
_ARGUMENT = re.compile(r"(%arg\d+: !torch\.)tensor(<\S*>) \{")


class Rejected(RuntimeError):
    """IREE, or what stands before it, does not take the program; the message says why."""


class IREEUnconverted(Peer):
    """The imported program with torch-mlir's value-semantics passes in place of TensorSSA conversion.

    It runs where those passes leave no mutable tensor: they look at straight-line code only.
    """

    name = "iree_unconverted"
    title = "IREE, unconverted"
    settings = "this importer, torch-mlir's maximize-value-semantics in place of TensorSSA conversion, same backend"
    modules = Ours.modules

    def compile(self, built: Built, args: tuple[Any, ...], device: str) -> Program:
        imported = import_program(built.model, args)
        bound = _ARGUMENT.sub(r"\1tensor\2 {torch.type_bound = !torch.vtensor\2, ", imported.module)
        text = _torch_mlir_opt(bound)
        left = re.search(r"torch\.(?:overwrite\.tensor\.contents|aten\.(?!_)\w+_(?=[. ]))", text)
        if left is not None:
            raise Rejected(f"torch-mlir's passes leave writes to mutable tensors: {left[0]}")
        scf = run_ssa_opt(text, ("--torch-to-scf",))
        final = run_ssa_opt(scf, PASSES["iree"])
        artifact = compile_module(final, resolve_target(device))
        driver = "cuda" if device == "cuda" else "local-sync"
        stages = {"imported": imported.module, "scf": scf, "tensorssa": scf, "iree": final}
        return OursProgram(Specialisation(imported, stages, artifact, read_signature(final, scf), driver))


def _torch_mlir_opt(module: str) -> str:
    beside = Path(sys.executable).parent / "torch-mlir-opt"
    command = [str(beside), f"--pass-pipeline=builtin.module({_VALUE_PASSES})", "--mlir-print-debuginfo"]
    done = subprocess.run(command, input=module, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Rejected(f"torch-mlir-opt: {_first_error(done.stderr)}")
    return done.stdout


def _first_error(text: str) -> str:
    line = next((line for line in text.splitlines() if "error:" in line), text.strip()[:200] or "crashed")
    return line.partition("error:")[2].strip() or line


class _ExportedProgram(Program):
    """What torch.export and IREE make; one for each set of ints and shapes, as torch.export takes them as constants."""

    def __init__(self, model: torch.nn.Module, target: Target, driver: str) -> None:
        super().__init__()
        self.model = model
        self.target = target
        self.driver = driver
        self.made: dict[tuple[Any, ...], Any] = {}
        self.artefact_bytes = 0

    def __call__(self, *args: Any) -> Any:
        key = _key(args)
        if key not in self.made:
            self.made[key] = self.export(args)
        return self.made[key](args)

    def recompilations(self) -> int:
        return max(len(self.made) - 1, 0)

    def refresh(self) -> None:
        self.details["recompiles"] = self.recompilations()

    def export(self, args: tuple[Any, ...]) -> Any:
        """Export, import and compile the model for arguments."""
        import torch.utils._pytree as pytree
        from torch_mlir import fx

        exported = torch.export.export(self.model, args, strict=False)
        module = fx.export_and_import(exported, output_type="raw", func_name="main")
        with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
            source, output = Path(folder) / "module.mlir", Path(folder) / "module.vmfb"
            source.write_text(module.operation.get_asm(enable_debug_info=False), encoding="utf-8")
            command = [compiler_path(), str(source), *_default_flags(self.target), "-o", str(output)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise Rejected(f"iree-compile: {_first_error(done.stderr)}")
            code = output.read_bytes()
        self.artefact_bytes = (self.artefact_bytes or 0) + len(code)
        return _Loaded(code, self.driver, pytree.tree_structure(self.model(*args)))


def _key(args: tuple[Any, ...]) -> tuple[Any, ...]:
    if isinstance(args, torch.Tensor):
        return (tuple(args.shape),)
    if isinstance(args, list | tuple):
        return tuple(_key(item) for item in args)
    return (args,)


def _default_flags(target: Target) -> list[str]:
    """The flags of a target without those that this project's backend needs for its own reasons."""
    return [flag for flag in target.flags if "const-e" not in flag]


class _Loaded:
    """A module in IREE's runtime; tensors go in and out without copies where they are aligned."""

    def __init__(self, code: bytes, driver: str, structure: Any) -> None:
        import iree.runtime as rt

        self.structure = structure
        self.rt = rt
        from ssa_compiler.runtime.device import device_for, instance

        self.device = device_for(driver)
        vm = instance()
        module = rt.VmModule.copy_buffer(vm, code)
        self.context = rt.VmContext(vm, [rt.create_hal_module(vm, self.device.hal), module])
        self.function = module.lookup_function("main")

    def __call__(self, args: tuple[Any, ...]) -> Any:
        import torch.utils._pytree as pytree

        leaves = pytree.tree_leaves(args)
        inputs, outputs = self.rt.VmVariantList(len(leaves)), self.rt.VmVariantList(1)
        kept = []  # as long as the call reads them
        for leaf in leaves:
            if isinstance(leaf, torch.Tensor):
                kept.append(leaf if leaf.is_contiguous() and leaf.data_ptr() % 64 == 0 else leaf.clone())
                inputs.push_ref(self.device.view(kept[-1]))
            elif isinstance(leaf, float):
                inputs.push_float(leaf)
            else:
                inputs.push_int(int(leaf))
        self.context.invoke(self.function, inputs, outputs)
        results = [self._value(outputs, number) for number in range(len(outputs))]
        return pytree.tree_unflatten(results, self.structure)

    def _value(self, outputs: Any, number: int) -> Any:
        value = outputs.get_variant(number)
        if isinstance(value, int | float):
            return value
        view = outputs.get_as_object(number, self.rt.HalBufferView)
        return self.device.tensor(view, _dtype(view))


def _dtype(view: Any) -> torch.dtype:
    import iree.runtime as rt

    kinds = {
        int(rt.HalElementType.FLOAT_32): torch.float32,
        int(rt.HalElementType.SINT_64): torch.int64,
        int(rt.HalElementType.INT_64): torch.int64,
        int(rt.HalElementType.BOOL_8): torch.bool,
        int(rt.HalElementType.INT_8): torch.bool,
    }
    return kinds.get(int(view.element_type), torch.float32)


class IREEExport(Peer):
    """torch.export, torch-mlir's FX importer, iree-compile with its defaults."""

    modules = ("torch.export", "torch_mlir.fx", "iree.compiler", "iree.runtime")
    name = "iree_export"
    title = "IREE (torch.export)"
    settings = "torch.export, torch_mlir.fx, iree-compile; ints and shapes constants, loops written out; local-sync"

    def compile(self, built: Built, args: tuple[Any, ...], device: str) -> Program:
        driver = "cuda" if device == "cuda" else "local-sync"
        return _ExportedProgram(built.model, resolve_target(device), driver)
