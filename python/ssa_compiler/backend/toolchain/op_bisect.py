"""Find the op that iree-compile, or torch-mlir-opt, fails on by compiling each op alone.

iree-compile can crash, run out of memory, or fail without saying where. It can also blame an op that is not at fault.
So each torch op of a module, with the types of its operands and its constant operands, is put into a function of its
own, and the functions are compiled together with the flags of the program; a group that fails is halved until the ops
that fail alone are known. What was learnt about an op is kept for the life of the process, and that it fails in the
cache on disk: the next program with it does without an attempt that fails.
"""

from __future__ import annotations

import json
import logging
import re
import signal
import tempfile
from pathlib import Path

from iree.compiler import ir

from ...process.child_processes import Completed, memory_limit, parse_diagnostics, run_tool
from ...process.forks import new_lock
from ..callbacks.callbacks import torch_operator
from ..ir.bindings import walk
from ..ir.copies import builtin_type
from .cache import ProgramCache, digest_of_command

__all__ = ["failing_ops", "failure_reason", "forget_ops", "is_lasting", "known_to_fail", "probe_memory", "rejection"]

_logger = logging.getLogger(__name__)

# Flags and function text, to why the function does not compile; "" if it does.
_verdicts: dict[tuple[tuple[str, ...], str], str] = {}
_lock = new_lock()
# Commands whose entry in the cache on disk was read.
_read: set[tuple[str, ...]] = set()

# A small function needs little: these parts of the limits for a whole program.
_TIME_PART = 0.2
_MEMORY_PART = 0.125

# torch scalar -> builtin type, cast to torch, cast from torch
_SCALARS = {
    "!torch.int": ("i64", "torch_c.from_i64", "torch_c.to_i64"),
    "!torch.float": ("f64", "torch_c.from_f64", "torch_c.to_f64"),
    "!torch.bool": ("i1", "torch_c.from_i1", "torch_c.to_i1"),
}
_SYMBOL = "@probe"
_FAILING = "failing.json"
_CONTROL = f"""func.func {_SYMBOL}(%a: tensor<4xf32>) -> tensor<4xf32> {{
%r = "arith.addf"(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
"func.return"(%r) : (tensor<4xf32>) -> ()
}}"""
_OUT_OF_TIME = "ran out of time on it"
_STOPPED = f"crashed on it ({signal.SIGKILL.name})"
# What LLVM, the C++ library and iree-compile print when memory cannot be had.
_OUT_OF_MEMORY = re.compile(r"out of memory|bad_alloc|Allocation failed|buffer allocation failed", re.IGNORECASE)
# What ends a message and says nothing by itself: an op in generic form, a pointer to other messages.
_MESSAGE_END = re.compile(r": (?:%\S+ = )?\"[\w.]+\"\(| \(check above ")


def probe_memory() -> int | None:
    """Return the memory limit for compiling a small function in bytes, None for no limit."""
    limit = memory_limit()
    return int(limit * _MEMORY_PART) if limit else None


def failing_ops(
    ops: list[ir.Operation], command: tuple[str, ...], *, timeout_s: float, cache: ProgramCache | None = None
) -> list[tuple[ir.Operation, str]]:
    """Return the ops that do not compile alone, each with the reason.

    Args:
        ops: ops of an `iree`-stage module; those that are no torch operators are skipped.
        command: iree-compile, or another tool, and its flags, without input and output.
        timeout_s: wall-clock limit for a whole program in seconds.
        cache: keeps what is found for other processes.
    """
    texts = [(op, text) for op in ops if (text := _function_around(op)) is not None]
    with _lock:
        unknown = list(dict.fromkeys(text for _, text in texts if (command, text) not in _verdicts))
        _decide(unknown, command, timeout_s)
        found = {text: reason for text in unknown if (reason := _verdicts[command, text]) and is_lasting(reason)}
        # Where nothing compiles, as on a full disk, it is not the ops' fault.
        if cache is not None and found and _compile([_CONTROL], command, timeout_s).returncode == 0:
            name = digest_of_command(command, timeout_s)
            found = {**_kept(cache, name), **found}
            cache.remove(name)  # of two processes that do so at once, one finds its ops again another time
            cache.store(name, {_FAILING: json.dumps(found).encode()})
        return [(op, reason) for op, text in texts if (reason := _verdicts[command, text])]


def _kept(cache: ProgramCache, name: str) -> dict[str, str]:
    """Why functions do not compile, as an entry of the cache says."""
    files = cache.look_up(name)
    try:
        found = json.loads(files[_FAILING]) if files is not None else {}
        return {str(text): str(reason) for text, reason in found.items()}
    except (KeyError, ValueError, AttributeError) as error:
        _logger.debug("cache entry %s: %s", name, error)
        return {}


def known_to_fail(
    module: ir.Module, command: tuple[str, ...], *, timeout_s: float, cache: ProgramCache | None = None
) -> list[tuple[ir.Operation, str]]:
    """Return the ops of a module that earlier programs showed not to compile, each with the reason.

    Args:
        module: an `iree`-stage module.
        command: iree-compile and its flags, without input and output.
        timeout_s: wall-clock limit for a whole program in seconds.
        cache: has what other processes found.
    """
    if cache is not None:
        with _lock:
            if command not in _read:
                _read.add(command)
                kept = _kept(cache, digest_of_command(command, timeout_s))
                _verdicts.update({(command, text): reason for text, reason in kept.items()})
    if not any(reason and flags == command for (flags, _), reason in _verdicts.items()):
        return []
    texts = [(op, text) for op in walk(module.operation) if (text := _function_around(op)) is not None]
    return [(op, reason) for op, text in texts if (reason := _verdicts.get((command, text), ""))]


def is_lasting(reason: str) -> bool:
    """Whether an op that does not compile for this reason will not another time: nothing stopped it that depends on the
    hour.

    Args:
        reason: what `failing_ops` or `known_to_fail` said.
    """
    return not reason.endswith((_OUT_OF_TIME, _STOPPED))


def forget_ops() -> None:
    """Forget what was learnt about ops, as a new process would."""
    with _lock:
        _verdicts.clear()
        _read.clear()


def _decide(texts: list[str], command: tuple[str, ...], timeout_s: float) -> None:
    """Record a verdict about each function."""
    if not texts:
        return
    completed = _compile(texts, command, timeout_s)
    if completed.returncode == 0:
        _verdicts.update({(command, text): "" for text in texts})
    elif len(texts) == 1:
        _verdicts[command, texts[0]] = failure_reason(Path(command[0]).name, completed)
        _logger.debug("does not compile alone: %s", texts[0])
    else:
        middle = len(texts) // 2
        _decide(texts[:middle], command, timeout_s)
        _decide(texts[middle:], command, timeout_s)


def _compile(texts: list[str], command: tuple[str, ...], timeout_s: float) -> Completed:
    functions = [text.replace(_SYMBOL, f"{_SYMBOL}{number}", 1) for number, text in enumerate(texts)]
    with tempfile.TemporaryDirectory(prefix="ssa-compiler-") as folder:
        source = Path(folder) / "probe.mlir"
        source.write_text("module {\n" + "\n".join(functions) + "\n}\n", encoding="utf-8")
        return run_tool(
            [*command, str(source), "-o", str(Path(folder) / "probe.vmfb")],
            timeout_s=timeout_s * _TIME_PART,
            memory=probe_memory(),
        )


def failure_reason(tool: str, completed: Completed) -> str:
    """Say in a few words what a tool did with an op or a program: why its run failed.

    Args:
        tool: its name.
        completed: what the run left.
    """
    for diagnostic in parse_diagnostics(completed.stderr):
        if diagnostic.kind == "error":
            where = diagnostic.user_location
            return rejection(diagnostic.text, tool) + (f" ({where})" if where is not None else "")
    if completed.returncode is None:
        return f"{tool} {_OUT_OF_TIME}"
    if _OUT_OF_MEMORY.search(completed.stderr):
        return f"{tool} ran out of memory on it"
    if completed.returncode < 0:
        return f"{tool} crashed on it ({signal.Signals(-completed.returncode).name})"
    return f"{tool} failed on it (exit status {completed.returncode})"


def rejection(text: str, tool: str = "iree-compile") -> str:
    """Return the reason of a callback for an op that a tool gave an error message about.

    Args:
        text: the message. The op printed at its end is left out.
        tool: the tool's name.
    """
    said = _MESSAGE_END.split(text)[0].strip().rstrip(".")
    return f"{tool} rejected it: {said}" if said else f"{tool} rejected it without a message"


def _function_around(op: ir.Operation) -> str | None:
    """Return a function that does nothing but the op, as text; None if the op cannot stand alone."""
    operator = torch_operator(op)
    if operator is None or operator.startswith("prim::") or op.regions:
        return None
    writer = _Writer()
    results = writer.write(op)
    if results is None:
        return None
    returned = []
    for name, result in zip(results, op.results, strict=True):
        text = str(result.type)
        if text in _SCALARS:
            builtin, _, cast = _SCALARS[text]
        elif text.startswith("!torch.vtensor<["):
            builtin, cast = str(builtin_type(result.type)), "torch_c.to_builtin_tensor"
        else:
            return None
        returned.append((writer.emit(cast, [(name, text)], builtin), builtin))
    types = ", ".join(type_ for _, type_ in returned)
    writer.lines.append(f'"func.return"({", ".join(name for name, _ in returned)}) : ({types}) -> ()')
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in writer.arguments)
    return f"func.func {_SYMBOL}({arguments}) -> ({types}) {{\n" + "\n".join(writer.lines) + "\n}"


class _Writer:
    """Writes an op and the constants it uses; any other operand becomes an argument of the function.

    Text and not the bindings' objects, because nothing then outlives, or belongs to, the module that the op comes from.

    Attributes:
        lines: the ops so far, in generic form.
        arguments: names and builtin types of the function's arguments.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.arguments: list[tuple[str, str]] = []
        self._names: dict[ir.Value, str] = {}
        self._count = 0

    def emit(self, name: str, operands: list[tuple[str, str]], result: str) -> str:
        """Write an op with one result; returns the result's name."""
        return self._emit(name, operands, [result], "")[0]

    def write(self, op: ir.Operation) -> list[str] | None:
        """Write an op after its operands; returns its results' names, None if an operand cannot be an argument."""
        operands = []
        for operand in op.operands:
            name = self._name(operand)
            if name is None:
                return None
            operands.append((name, str(operand.type)))
        attributes = ", ".join(f"{entry} = {op.attributes[entry]}" for entry in sorted(op.attributes.keys()))
        return self._emit(op.name, operands, [str(result.type) for result in op.results], f" {{{attributes}}}")

    def _emit(self, name: str, operands: list[tuple[str, str]], results: list[str], attributes: str) -> list[str]:
        names = [f"%r{self._count + number}" for number in range(len(results))]
        self._count += len(results)
        given = ", ".join(operand for operand, _ in operands)
        types = ", ".join(type_ for _, type_ in operands)
        self.lines.append(f'{", ".join(names)} = "{name}"({given}){attributes} : ({types}) -> ({", ".join(results)})')
        return names

    def _name(self, value: ir.Value) -> str | None:
        if value not in self._names:
            made = self._make(value)
            if made is None:
                return None
            self._names[value] = made
        return self._names[value]

    def _make(self, value: ir.Value) -> str | None:
        maker = None if isinstance(value.owner, ir.Block) else value.owner.operation
        if maker is not None and (_is_constant(maker) or maker.name in ("torch.prim.ListConstruct", "torch.derefine")):
            names = self.write(maker)
            return names[0] if names is not None else None
        text = str(value.type)
        if text in _SCALARS:
            return self.emit(_SCALARS[text][1], [self._argument(_SCALARS[text][0])], text)
        if text.startswith("!torch.vtensor<["):
            return self.emit("torch_c.from_builtin_tensor", [self._argument(str(builtin_type(value.type)))], text)
        return None

    def _argument(self, builtin: str) -> tuple[str, str]:
        self.arguments.append((f"%a{len(self.arguments)}", builtin))
        return self.arguments[-1]


def _is_constant(op: ir.Operation) -> bool:
    """Whether an op is a constant, or made from constants only by a cast."""
    if op.name.startswith("torch.constant.") or op.name in ("arith.constant", "torch.vtensor.literal"):
        return True
    casts = {cast for _, cast, _ in _SCALARS.values()}
    if op.name not in casts or isinstance(op.operands[0].owner, ir.Block):
        return False
    return _is_constant(op.operands[0].owner.operation)
