"""Runs kernels for a GPU without one: every thread of the workgroups, in Python, one op after the other.

What is run is what `--lower-kernels=threads=N` printed. Between two barriers the threads run in an order that is drawn
at random, and each access to memory is noted: two threads that access an element without a barrier in between, one of
them writing, are a race, which is an error whatever the result is, unless both write the same number. So is a barrier
that only some threads reach.
"""

from __future__ import annotations

import math
import random
from collections.abc import Generator, Sequence
from typing import Any

import numpy as np
import torch
from iree.compiler import ir

from _workgroup_memory import DTYPES, Memory, RaceError, View, dense, tensor_of, view_of
from _workgroup_numbers import (
    FLOAT,
    INTEGER_PREDICATES,
    SIGNED,
    UNSIGNED,
    compare_floats,
    unsigned,
    wrap,
)
from ssa_compiler.backend.ir.bindings import DIALECTS
from ssa_compiler.process.forks import new_context

__all__ = ["RaceError", "Workgroup"]

_WARP = 32
_DYNAMIC = -(1 << 63)


class Workgroup:
    """A kernel and the threads that run it.

    Args:
        lowered: the module that `--lower-kernels` printed.
        seed: of the order in which threads run.
    """

    def __init__(self, lowered: str, seed: int = 0) -> None:
        self._context = new_context(ir, *DIALECTS)
        with self._context:
            self._module = ir.Module.parse(lowered, self._context)
        table = ir.SymbolTable(self._module.operation)
        self._function = table["main"].operation
        attributes = self._function.attributes
        self.groups = ir.IntegerAttr(attributes["kernel.workgroups"]).value if "kernel.workgroups" in attributes else 1
        self.group = ir.IntegerAttr(attributes["kernel.threads"]).value
        self.messages = [ir.StringAttr(a).value for a in ir.ArrayAttr(attributes["kernel.messages"])]
        self._globals = {
            ir.StringAttr(op.attributes["sym_name"]).value: op.operation
            for op in self._module.body
            if op.operation.name == "memref.global"
        }
        self._random = random.Random(seed)
        self.barriers = 0

    def sizes(self, numbers: Sequence[int | float]) -> list[int]:
        """Compute the sizes of results and the bytes of scratch memory, as the host does."""
        function = ir.SymbolTable(self._module.operation)["main.sizes"].operation
        thread = _Thread(self, 0, function)
        return list(thread.call(list(numbers)))

    def roles(self) -> list[tuple[str, ir.Type]]:
        """The role and type of each argument."""
        found = ir.ArrayAttr(self._function.attributes["arg_attrs"])
        types = [argument.type for argument in self._function.regions[0].blocks[0].arguments]
        return [(ir.StringAttr(ir.DictAttr(a)["kernel.role"]).value, type_) for a, type_ in zip(found, types)]

    def run(self, inputs: Sequence[torch.Tensor | int | float]) -> tuple[int, list[torch.Tensor], list[int]]:
        """Run it.

        Args:
            inputs: the program's arguments; those that it updates are updated.
        Returns:
            The number of the assertion that failed, 0 if none did; the new tensors; the words of the status.
        """
        given = iter(inputs)
        roles = self.roles()
        taken: list[Any] = []
        numbers: list[int | float] = []
        views: list[tuple[torch.Tensor, View]] = []
        for role, type_ in roles:
            if role not in ("input", "written"):
                taken.append(None)
                continue
            value = next(given)
            if isinstance(value, torch.Tensor):
                numbers += [value.shape[d] for d in range(value.dim()) if ir.MemRefType(type_).is_dynamic_dim(d)]
                view = view_of(value)
                views.append((value, view))
                taken.append(view)
            else:
                numbers.append(value)
                taken.append(wrap(value, str(type_)))
        sizes = self.sizes(numbers)
        made: list[View] = []
        status: View | None = None
        left = iter(sizes)
        for place, (role, type_) in enumerate(roles):
            if role == "output":
                shape = [
                    next(left) if ir.MemRefType(type_).is_dynamic_dim(d) else ir.MemRefType(type_).shape[d]
                    for d in range(ir.MemRefType(type_).rank)
                ]
                made.append(self.allocate(shape, str(ir.MemRefType(type_).element_type)))
                taken[place] = made[-1]
            elif role == "scratch":
                taken[place] = self.allocate([max(sizes[-1], 1 << 16)], "i8")
            elif role == "status":
                status = taken[place] = self.allocate(list(ir.MemRefType(type_).shape), "i64")
        threads = [_Thread(self, number, self._function) for number in range(self.groups * self.group)]
        self._interleave([thread.steps(list(taken)) for thread in threads])
        for tensor, view in views:
            tensor.copy_(tensor_of(view, tensor.dtype))
        words = [int(word) for word in status.memory.bytes.view(np.int64)] if status is not None else [0]
        return words[0], [tensor_of(view, None) for view in made], words

    def allocate(self, shape: Sequence[int], element: str) -> View:
        """A buffer with numbers that nobody should use."""
        dtype = DTYPES[element]
        count = math.prod(shape)
        memory = Memory(np.full(count * np.dtype(dtype).itemsize, 0x7F, dtype=np.uint8))
        return View(memory, dtype, 0, 0, list(shape), dense(shape))

    def constant(self, name: str) -> View:
        op = self._globals[name]
        values = np.array(ir.DenseElementsAttr(op.attributes["initial_value"]))
        type_ = ir.MemRefType(ir.TypeAttr(op.attributes["type"]).value)
        dtype = DTYPES[str(type_.element_type)]
        data = np.broadcast_to(values.astype(dtype), tuple(type_.shape)).copy()
        return View(Memory(data.reshape(-1).view(np.uint8)), dtype, 0, 0, list(type_.shape), dense(type_.shape))

    def _interleave(self, threads: list[Generator[Any, Any, None]]) -> None:
        """Run threads up to where they wait, until all have ended."""
        self._touched: dict[int, Memory] = {}
        waiting: dict[int, Any] = {}
        answers: dict[int, Any] = {}
        running = set(range(len(threads)))
        while running:
            order = sorted(running - waiting.keys())
            self._random.shuffle(order)
            for number in order:
                try:
                    waiting[number] = threads[number].send(answers.pop(number, None))
                except StopIteration:
                    running.discard(number)
            ready = False
            for warp in {number // _WARP for number in running}:
                members = [number for number in running if number // _WARP == warp]
                asked = [waiting[number] for number in members]
                if all(what is not None for what in asked) and len(members) == _WARP:
                    for number in members:
                        _, offset = waiting[number]
                        answers[number] = waiting[(number ^ offset)][0]
                    for number in members:
                        del waiting[number]
                    ready = True
            if ready:
                continue
            if running and all(waiting[number] is None for number in running):
                self.barriers += 1
                for memory in self._touched.values():
                    memory.writers.clear()
                    memory.readers.clear()
                self._touched.clear()
                waiting.clear()
            elif running:
                raise RaceError("threads wait for others that wait for something else")

    def note(self, memory: Memory, byte: int, thread: int, written: Any = None) -> None:
        """Note an access; `written` is the number if it is a write."""
        self._touched[id(memory)] = memory
        writer = memory.writers.get(byte)
        if written is None:
            if writer is not None and writer[0] != thread:
                raise RaceError(f"thread {thread} reads what thread {writer[0]} writes")
            memory.readers.setdefault(byte, set()).add(thread)
            return
        if writer is not None and writer[0] != thread and writer[1] != written:
            raise RaceError(f"threads {thread} and {writer[0]} write one element")
        if memory.readers.get(byte, {thread}) - {thread}:
            raise RaceError(f"thread {thread} writes what others read")
        memory.writers[byte] = (thread, written)


class _Thread:
    """One thread."""

    def __init__(self, workgroup: Workgroup, number: int, function: ir.Operation) -> None:
        self._workgroup, self._number, self._function = workgroup, number, function
        self._shared: dict[Any, View] = workgroup.__dict__.setdefault("_shared", {})

    def call(self, arguments: list[Any]) -> list[Any]:
        steps = self.steps(arguments)
        try:
            next(steps)
        except StopIteration as end:
            return end.value or []
        raise AssertionError("it waits")

    def steps(self, arguments: list[Any]) -> Generator[Any, Any, Any]:
        """Run; yields None at a barrier, and a number and a distance where threads of a warp exchange numbers."""
        block = self._function.regions[0].blocks[0]
        known: dict[Any, Any] = dict(zip(block.arguments, arguments, strict=True))
        with np.errstate(all="ignore"):
            while True:
                target, passed = None, []
                for view in block.operations:
                    op = view.operation
                    name = op.name
                    if name == "func.return":
                        return [known[operand] for operand in op.operands]
                    if name == "cf.br":
                        target, passed = op.successors[0], [known[o] for o in op.operands]
                    elif name == "cf.cond_br":
                        counts = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
                        operands = [known[o] for o in op.operands]
                        yes = bool(operands[0])
                        target = op.successors[0 if yes else 1]
                        passed = operands[1 : 1 + counts[1]] if yes else operands[1 + counts[1] :]
                    elif name == "gpu.barrier" or (name == "llvm.inline_asm" and not op.results):
                        # Of several workgroups, those of all threads are what counts in memory.
                        if (name == "gpu.barrier") == (self._workgroup.groups == 1):
                            yield None
                    elif name == "gpu.shuffle":
                        value, offset, _ = (known[o] for o in op.operands)
                        known[op.results[0]] = yield (value, offset)
                        known[op.results[1]] = 1
                    else:
                        results = self._compute(op, [known[o] for o in op.operands])
                        for result, value in zip(op.results, results, strict=True):
                            known[result] = value
                assert target is not None
                block = target
                known.update(zip(block.arguments, passed, strict=True))

    def _compute(self, op: ir.Operation, operands: list[Any]) -> list[Any]:
        dialect, _, name = op.name.partition(".")
        if dialect == "memref":
            return self._access(op, name, operands)
        if op.name == "gpu.thread_id":
            return [self._number % self._workgroup.group]
        if op.name == "gpu.block_id":
            return [self._number // self._workgroup.group]
        if op.name == "llvm.inline_asm":
            return operands
        type_ = str(op.results[0].type)
        if name == "constant":
            attribute = op.attributes["value"]
            if type_ in ("f32", "f64"):
                return [DTYPES[type_](ir.FloatAttr(attribute).value)]
            return [wrap(ir.IntegerAttr(attribute).value, type_) if type_ != "i1" else int("true" in str(attribute))]
        given = str(op.operands[0].type)
        if name == "select":
            return [operands[1] if operands[0] else operands[2]]
        if name == "cmpi":
            predicate = ir.IntegerAttr(op.attributes["predicate"]).value
            if predicate >= 6:
                operands = [unsigned(value, given) for value in operands]
            elif given == "i1":
                operands = [-value for value in operands]
            return [int(INTEGER_PREDICATES[predicate](*operands))]
        if name == "cmpf":
            return [int(compare_floats(ir.IntegerAttr(op.attributes["predicate"]).value, *operands))]
        if name in SIGNED:
            return [wrap(SIGNED[name](*operands), type_)]
        if name in UNSIGNED:
            return [wrap(UNSIGNED[name](*(unsigned(value, given) for value in operands)), type_)]
        if name in FLOAT:
            return [DTYPES[type_](FLOAT[name](*operands))]
        if name in ("extf", "truncf", "sitofp"):
            return [DTYPES[type_](operands[0] if given != "i1" else -operands[0])]
        if name == "uitofp":
            return [DTYPES[type_](unsigned(operands[0], given))]
        if name in ("fptosi", "fptoui"):
            return [wrap(int(operands[0]) if np.isfinite(operands[0]) else 0, type_)]
        if name in ("extui", "index_castui"):
            return [wrap(unsigned(operands[0], given), type_)]
        if name in ("extsi", "index_cast", "trunci"):
            return [wrap(-operands[0] if given == "i1" else operands[0], type_)]
        if name == "bitcast":
            of, to = (DTYPES[part] for part in (given, type_))
            value = np.array([operands[0]], dtype=of).view(to)[0]
            return [value if type_ in ("f32", "f64") else int(value)]
        raise NotImplementedError(op.name)

    def _access(self, op: ir.Operation, name: str, operands: list[Any]) -> list[Any]:
        if name == "load":
            view, indices = operands[0], operands[1:]
            place = view.place(indices)
            self._workgroup.note(view.memory, place, self._number)
            value = view.element(place)[0]
            return [value if isinstance(value, np.floating) else int(value)]
        if name == "store":
            value, view = operands[:2]
            place = view.place(operands[2:])
            self._workgroup.note(view.memory, place, self._number, value)
            view.element(place)[0] = value
            return []
        if name == "extract_aligned_pointer_as_index":
            return [0]  # for what counts workgroups
        type_ = ir.MemRefType(op.results[0].type) if name != "dim" else None
        if name in ("alloc", "alloca"):
            assert type_ is not None
            if name == "alloca":  # each thread has its own
                return [self._workgroup.allocate(type_.shape, str(type_.element_type))]
            key = op.results[0]
            if key not in self._shared:
                self._shared[key] = self._workgroup.allocate(type_.shape, str(type_.element_type))
            return [self._shared[key]]
        if name == "dim":
            return [operands[0].sizes[operands[1]]]
        if name == "get_global":
            key = ir.FlatSymbolRefAttr(op.attributes["name"]).value
            if key not in self._shared:
                self._shared[key] = self._workgroup.constant(key)
            return [self._shared[key]]
        assert type_ is not None
        if name == "distinct_objects":
            return operands
        return [_view(op, name, type_, operands)]


def _view(op: ir.Operation, name: str, type_: ir.MemRefType, operands: list[Any]) -> View:
    """A view of the first operand."""
    source = operands[0]
    if name == "view":
        dynamic = iter(operands[2:])
        sizes = [next(dynamic) if type_.is_dynamic_dim(d) else type_.shape[d] for d in range(type_.rank)]
        dtype = DTYPES[str(type_.element_type)]
        return View(source.memory, dtype, source.first + operands[1], 0, sizes, dense(sizes))
    if name == "cast":
        return source
    if name in ("reinterpret_cast", "subview"):
        dynamic = iter(operands[1:])
        offsets, sizes, strides = (
            [next(dynamic) if value == _DYNAMIC else value for value in ir.DenseI64ArrayAttr(op.attributes[part])]
            for part in ("static_offsets", "static_sizes", "static_strides")
        )
        if name == "reinterpret_cast":
            return View(source.memory, source.dtype, source.first, offsets[0], sizes, strides)
        offset = source.offset + sum(o * s for o, s in zip(offsets, source.strides))
        strides = [a * b for a, b in zip(strides, source.strides)]
        if len(sizes) != type_.rank:
            kept = [d for d, size in enumerate(sizes) if size != 1][: type_.rank]
            sizes, strides = [sizes[d] for d in kept], [strides[d] for d in kept]
        return View(source.memory, source.dtype, source.first, offset, sizes, strides)
    if name in ("expand_shape", "collapse_shape"):
        return _reshaped(op, name == "collapse_shape", source, operands[1:])
    raise NotImplementedError(op.name)


def _reshaped(op: ir.Operation, collapses: bool, source: View, given: list[int]) -> View:
    """A view under another shape."""
    groups = [[ir.IntegerAttr(d).value for d in ir.ArrayAttr(g)] for g in ir.ArrayAttr(op.attributes["reassociation"])]
    sizes, strides = [], []
    if collapses:
        for group in groups:
            sizes.append(math.prod(source.sizes[d] for d in group))
            strides.append(source.strides[[d for d in group if source.sizes[d] != 1 or d == group[-1]][-1]])
        return View(source.memory, source.dtype, source.first, source.offset, sizes, strides)
    dynamic = iter(given)
    shape = [
        next(dynamic) if size == _DYNAMIC else size
        for size in ir.DenseI64ArrayAttr(op.attributes["static_output_shape"])
    ]
    for group, stride in zip(groups, source.strides):
        sizes += [shape[d] for d in group]
        strides += [step * stride for step in dense([shape[d] for d in group])]
    if not groups:
        sizes, strides = shape, dense(shape)
    return View(source.memory, source.dtype, source.first, source.offset, sizes, strides)
