"""Runs the IR of every stage on torch tensors.

Operators run through `torch.ops`, control flow in Python. In the imported stage tensors are mutable and alias each
other as in eager PyTorch, so the module means what the user's program means; in the later stages no operation may
write an operand, and that is checked at every operation. So is that every value fits its static type. A difference
between the results of two stages is therefore a mistake of the step between them, not of the backend.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import torch

from . import _linalg_ops, _scalar_ops, _schema_ops, _tensor_ops
from ._ir import Block, Function, InterpreterError, Operation, ValueType, parse_module

if TYPE_CHECKING:
    from torch_mlir import ir

__all__ = ["Interpreter", "InterpreterError", "TooManyBlocksError", "interpret"]

_TERMINATORS = frozenset(
    (
        "func.return",
        "scf.yield",
        "scf.condition",
        "torch.prim.If.yield",
        "torch.prim.Loop.condition",
        "cf.br",
        "cf.cond_br",
        "util.return",
        "linalg.yield",
    )
)

_SMALL = 1 << 12  # elements


class TooManyBlocksError(InterpreterError):
    """A call ran more blocks than `max_block_runs`."""


class Interpreter:
    """Runs the functions of one module.

    The module is read once; `run` may be called any number of times.

    Attributes:
        functions: the functions by name; their `argument_attributes` and `result_attributes` hold what the stages say
            about them (`tssa.name`, `tssa.writeback`, ...).
        block_counts: how often each block ran in the last `run`, by label: `main`, `main/loop@prog.py:4`,
            `main/loop@prog.py:4/then@prog.py:5`. Labels are the same for the torch and the scf form of a construct.
    """

    def __init__(self, module: str | ir.Module, *, check_types: bool = True, max_block_runs: int = 10_000_000) -> None:
        """Read a module.

        Args:
            module: MLIR text, or a module of torch-mlir's bindings, at any stage.
            check_types: compare each value with its static type (dtype, rank, static sizes).
            max_block_runs: blocks to run before a call is taken for an endless loop.
        Raises:
            InterpreterError: the text is not valid MLIR, or an operation is not known.
        """
        text = module if isinstance(module, str) else module.operation.get_asm(enable_debug_info=True)
        self.functions: dict[str, Function] = parse_module(text)
        self.block_counts: Counter[str] = Counter()
        self._check_types = check_types
        self._max_block_runs = max_block_runs
        self._runs = 0
        self._generics: dict[int, _linalg_ops.Generic] = {}
        self._innermost: _linalg_ops.Generic | None = None
        for block in _all_blocks(self.functions.values()):
            for op in block.operations:
                op.execute = self._build(op)

    def run(self, *arguments: Any, function: str = "main") -> list[Any]:
        """Call a function of the module.

        Args:
            arguments: torch tensors and Python scalars, one for each argument of the function. In the stages with
                mutable tensors they are written as the program says; in the others never.
            function: name of the function.
        Returns:
            The results, one for each result of the function. They may alias arguments and each other.
        Raises:
            TooManyBlocksError: more blocks were run than `max_block_runs`.
            InterpreterError: the arguments do not fit, or the IR is wrong (an undefined operation, a value that
                contradicts its type, a write to a value).
            ProgramError: a run-time assertion of the program failed.
            RuntimeError: an operator rejected its operands, as it would in eager PyTorch.
        """
        if function not in self.functions:
            raise InterpreterError(f"no function '{function}' in the module; it has {sorted(self.functions)}")
        self.block_counts = Counter()
        self._runs = 0
        with torch.no_grad():
            return list(self._call(self.functions[function], arguments))

    # --- blocks -------------------------------------------------------------------------------------------------------

    def _call(self, function: Function, arguments: Sequence[Any]) -> Sequence[Any]:
        frame: list[Any] = [None] * function.slots
        _, results = self._region(function.blocks, arguments, frame)
        return results

    def _region(self, blocks: list[Block], arguments: Sequence[Any], frame: list[Any]) -> tuple[str, Sequence[Any]]:
        """Run a region from its first block until it is left; returns the terminator's name and operands."""
        block = blocks[0]
        while True:
            name, values, terminator = self._block(block, arguments, frame)
            if not terminator.successors:
                return name, values
            target, arguments = _branch(terminator, values)
            block = blocks[target]

    def _block(self, block: Block, arguments: Sequence[Any], frame: list[Any]) -> tuple[str, Sequence[Any], Operation]:
        self.block_counts[block.label] += 1
        self._runs += 1
        if self._runs > self._max_block_runs:
            raise TooManyBlocksError(f"more than {self._max_block_runs} blocks were run, the last one '{block.label}'")
        if len(arguments) != len(block.arguments):
            raise InterpreterError(
                f"expected {len(block.arguments)} arguments of block '{block.label}', got {len(arguments)}"
            )
        for number, (slot, kind, value) in enumerate(
            zip(block.arguments, block.argument_types, arguments, strict=True)
        ):
            if self._check_types and (problem := kind.mismatch(value)):
                raise InterpreterError(f"argument {number} of block '{block.label}': {problem}")
            frame[slot] = value
        replaced: dict[int, Any] = {}  # values that a tssa.update of this block hides: slot -> value
        for op in block.operations:
            values = [frame[slot] for slot in op.operands]
            if op.name in _TERMINATORS:
                for slot, value in replaced.items():
                    frame[slot] = value
                return op.name, values, op
            if op.name == "tssa.update":  # from here to the end of the block, `old` means `value`
                replaced.setdefault(op.operands[1], values[1])
                frame[op.operands[1]] = values[0]
                continue
            assert op.execute is not None
            results = op.execute(values, frame)
            if len(results) != len(op.results):
                raise InterpreterError(
                    f"expected {len(op.results)} results of '{op.name}', got {len(results)}", location=op.location
                )
            for slot, kind, value in zip(op.results, op.result_types, results, strict=True):
                if self._check_types and (problem := kind.mismatch(value)):
                    raise InterpreterError(f"result of '{op.name}': {problem}", location=op.location)
                frame[slot] = value
        raise InterpreterError(f"block '{block.label}' has no terminator")

    # --- operations ---------------------------------------------------------------------------------------------------

    def _build(self, op: Operation) -> Callable[[Sequence[Any], list[Any]], Sequence[Any]]:
        """Prepare an operation; the function takes operand values and the frame (for its regions)."""
        structured = {
            "torch.prim.If": self._if,
            "scf.if": self._if,
            "torch.prim.Loop": self._torch_loop,
            "scf.for": self._for,
            "scf.while": self._while,
            "scf.execute_region": self._execute_region,
            "scf.index_switch": self._index_switch,
            "func.call": self._function_call,
            "linalg.generic": self._generic,
            "linalg.index": self._loop_index,
        }.get(op.name)
        if structured is not None:
            return lambda values, frame: structured(op, values, frame)
        if op.name in _TERMINATORS or op.name == "tssa.update":
            return lambda values, frame: values
        handler = _tensor_ops.build(op) or _linalg_ops.affine_op(op)
        if handler is None and (scalar := _scalar_ops.build(op)) is not None:
            return lambda values, frame: _listed(scalar(*values))
        if handler is None:
            if not op.name.startswith("torch."):
                raise InterpreterError(f"unsupported: the interpreter does not know '{op.name}'", location=op.location)
            handler = _schema_ops.build(op)
        if _is_pure(op):
            return _checked(op, handler)
        run = handler
        return lambda values, frame: run(*values)

    def _if(self, op: Operation, values: Sequence[Any], frame: list[Any]) -> Sequence[Any]:
        region = op.regions[0 if values[0] else 1] if values[0] or len(op.regions) > 1 else []
        return self._region(region, (), frame)[1] if region else ()

    def _torch_loop(self, op: Operation, values: Sequence[Any], frame: list[Any]) -> Sequence[Any]:
        trips, condition, carried = values[0], values[1], values[2:]
        trip = 0
        while trip < trips and condition:
            _, (condition, *carried) = self._region(op.regions[0], (trip, *carried), frame)
            trip += 1
        return carried

    def _for(self, op: Operation, values: Sequence[Any], frame: list[Any]) -> Sequence[Any]:
        lower, upper, step, *carried = values
        if step <= 0:
            raise InterpreterError(f"expected a positive step of 'scf.for', got {step}", location=op.location)
        for trip in range(lower, upper, step):
            carried = list(self._region(op.regions[0], (trip, *carried), frame)[1])
        return carried

    def _while(self, op: Operation, values: Sequence[Any], frame: list[Any]) -> Sequence[Any]:
        carried = values
        while True:
            _, (condition, *forwarded) = self._region(op.regions[0], carried, frame)
            if not condition:
                return forwarded
            carried = self._region(op.regions[1], forwarded, frame)[1]

    def _execute_region(self, op: Operation, values: Sequence[Any], frame: list[Any]) -> Sequence[Any]:
        return self._region(op.regions[0], (), frame)[1]

    def _index_switch(self, op: Operation, values: Sequence[Any], frame: list[Any]) -> Sequence[Any]:
        cases = [int(case) for case in op.attributes["cases"]]
        region = cases.index(values[0]) + 1 if values[0] in cases else 0
        return self._region(op.regions[region], (), frame)[1]

    def _generic(self, op: Operation, values: Sequence[Any], frame: list[Any]) -> Sequence[Any]:
        if id(op) not in self._generics:
            self._generics[id(op)] = _linalg_ops.Generic(op)
        generic = self._generics[id(op)]
        outer, self._innermost = self._innermost, generic
        try:
            return generic.run(values, lambda elements: self._region(op.regions[0], elements, frame)[1])
        finally:
            self._innermost = outer

    def _loop_index(self, op: Operation, values: Sequence[Any], frame: list[Any]) -> Sequence[Any]:
        assert self._innermost is not None
        return (self._innermost.point[int(op.attributes["dim"])],)

    def _function_call(self, op: Operation, values: Sequence[Any], frame: list[Any]) -> Sequence[Any]:
        return self._call(self.functions[op.attributes["callee"].value], values)


def _listed(result: Any) -> Sequence[Any]:
    return result if isinstance(result, tuple) else (result,)


def _branch(terminator: Operation, values: Sequence[Any]) -> tuple[int, Sequence[Any]]:
    """The block that `cf.br` or `cf.cond_br` goes to, and its arguments."""
    if terminator.name == "cf.br":
        return terminator.successors[0], values
    sizes = [int(size) for size in terminator.attributes["operandSegmentSizes"]]
    if values[0]:
        return terminator.successors[0], values[1 : 1 + sizes[1]]
    return terminator.successors[1], values[1 + sizes[1] :]


def _all_blocks(functions: Iterable[Function]) -> Iterator[Block]:
    waiting = [block for function in functions for block in function.blocks]
    while waiting:
        block = waiting.pop()
        yield block
        waiting += [inner for op in block.operations for region in op.regions for inner in region]


def _is_pure(op: Operation) -> bool:
    """Whether an operation has tensors and none of them is mutable: it must not write any."""
    kinds: tuple[ValueType, ...] = op.operand_types + op.result_types
    return any(kind.tensor for kind in kinds) and all(kind.tensor != "mutable" for kind in kinds)


def _checked(op: Operation, handler: Callable[..., Sequence[Any]]) -> Callable[[Sequence[Any], list[Any]], Any]:
    """Wrap an operation with value semantics: an operand whose version counter moved or contents changed was written.

    Some operators (`aten::batch_norm`) write without moving the counter; of small tensors the contents are compared.
    """

    def run(values: Sequence[Any], frame: list[Any]) -> Sequence[Any]:
        tensors = [value for value in _flatten(values) if isinstance(value, torch.Tensor)]
        versions = [tensor._version for tensor in tensors]
        contents = [tensor.clone() if tensor.numel() <= _SMALL else None for tensor in tensors]
        results = handler(*values)
        for tensor, version, before in zip(tensors, versions, contents, strict=True):
            if tensor._version != version or (before is not None and not _same(tensor, before)):
                raise InterpreterError(f"'{op.name}' writes an operand that is a value", location=op.location)
        return results

    return run


def _same(a: torch.Tensor, b: torch.Tensor) -> bool:
    """Whether two tensors hold the same numbers; NaN equals NaN."""
    return bool(((a == b) | ((a != a) & (b != b))).all())


def _flatten(values: Sequence[Any]) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _flatten(value)
        else:
            yield value


def interpret(module: str | ir.Module, *arguments: Any, function: str = "main") -> list[Any]:
    """Run a module of any stage once.

    Args:
        module: MLIR text, or a module of torch-mlir's bindings.
        arguments: one torch tensor or Python scalar for each argument of the function, parameters included.
        function: name of the function.
    Returns:
        The results, as `Interpreter.run`.
    Raises:
        InterpreterError, ProgramError, RuntimeError: as `Interpreter.run`.
    """
    return Interpreter(module).run(*arguments, function=function)
