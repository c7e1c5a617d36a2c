"""Walking blocks and calls of TorchScript graphs, and what follows branches whose values have no common type."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch

from ...errors import UnsupportedOpError, UnsupportedProgramError
from ..torchscript.dead_write_check import check_dead_writes
from ..torchscript.source_rewrite import has_everything
from ..values.argument_slices import arguments_behind
from ..values.diagnostics import Unjoinable
from ..values.modules import Modules
from ..values.state import State
from ..values.values import NONE, ConstValue, Site, Uninitialized, Value
from .form_retries import with_needed_forms
from .if_and_loop import Control
from .unread_results import unread_results

__all__ = ["Blocks"]

_MOST_SPLITS = 4
"""How many branches that cannot be joined may follow one another: the code behind them doubles with each."""

After = Callable[[list[Value]], list[Value]]


def _is_scoped(block: Any, outer: frozenset[str]) -> bool:
    """Whether a block uses no value of a block inside of it, or beside it."""
    seen = {*outer, *(value.debugName() for value in block.inputs())}
    for node in block.nodes():
        if any(value.debugName() not in seen for value in node.inputs()):
            return False
        if not all(_is_scoped(each, frozenset(seen)) for each in node.blocks()):
            return False
        seen |= {value.debugName() for value in node.outputs()}
    return all(value.debugName() in seen for value in block.outputs())


class Blocks:
    """Imports blocks into the current block of the state's emitter; a subclass knows the kinds of nodes.

    Attributes:
        control: imports branches and loops.
    """

    control: Control

    def __init__(self, state: State, modules: Modules) -> None:
        self.state = state
        self.modules = modules
        self._environments: list[dict[str, Value]] = []
        self._nodes: list[Any] = []  # the one that is being imported, of each function
        self._unread: list[frozenset[str]] = []
        self._unread_of: dict[str, frozenset[str]] = {}
        self._calls: list[str] = []
        self._checked: set[str] = set()
        self._from_python: list[bool] = []
        self._rewritten: dict[str, bool] = {}
        self._splits = 0

    def _node(self, node: Any) -> list[Value]:
        """Import a node; returns one value per output."""
        raise NotImplementedError

    def _check_call(self, name: str, graph: Any, arguments: Sequence[Value]) -> None:
        """Reject the call of a function that TorchScript takes for another."""

    def run_graph(self, name: str, graph: Any, arguments: Sequence[Value]) -> Value:
        """Import a function's graph in line.

        Args:
            name: qualified name, to see recursion.
            graph: its un-inlined graph.
            arguments: one value per graph input.
        Returns:
            What it returns.
        """
        source = self.modules.python_function(name)
        generated = self.modules.is_generated(name) or (not self._calls and bool(self.modules.sources))
        if source is not None and name not in self._checked:
            self._checked.add(name)
            if graph.findNode("prim::Enter", True) is not None and not _is_scoped(graph, frozenset()):
                raise self.state.unsupported(
                    "a return, break or continue inside of several with statements, of which TorchScript loses variables; "
                    "write one with statement, or assign the result and return it behind"
                )
            check_dead_writes(source, graph, self.modules.dtype_attributes(), generated=generated)
        if name in self._calls:
            raise self.state.unsupported(f"recursion: {name} calls itself; write a loop")
        if name not in self._rewritten:
            self._rewritten[name] = not generated and has_everything(graph)
        self._calls.append(name)
        self._from_python.append(isinstance(source, types.FunctionType) and not self.state.scripted)
        self._environments.append({})
        self._nodes.append(None)
        self._unread.append(self._unread_in(name, graph))
        modes = len(self.state.storages.grad_modes)
        decorations = _decorations(source)
        if any(isinstance(each, torch.no_grad) or getattr(each, "mode", False) for each in decorations):
            self.state.storages.grad_modes.append(False)
        for node in graph.nodes():  # the first ones may have no source range
            if self.state.locations.frames[-1] is not None:
                break
            self.state.locations.enter_node(node)
        self.state.locations.enter_function(source)
        caller, self.state.generated = self.state.generated, generated
        try:
            if any(isinstance(each, types.FunctionType) for each in decorations) and not _is_torchs(source):
                raise self.state.unsupported(
                    f"a decorator of '{source.__name__}', which TorchScript leaves out; call what it wraps, and do here what it does"
                )
            outputs = self.run_block(graph, arguments)
        finally:
            self.state.generated = caller
            del self.state.storages.grad_modes[modes:]
            self._environments.pop()
            self._nodes.pop()
            self._unread.pop()
            self._from_python.pop()
            self._calls.pop()
        return outputs[0] if outputs else NONE

    def _unread_in(self, name: str, graph: Any) -> frozenset[str]:
        if name not in self._unread_of:
            self._unread_of[name] = unread_results(graph)
        return self._unread_of[name]

    def run_block(self, block: Any, arguments: Sequence[Value], after: After | None = None) -> list[Value]:
        """Import a block.

        Args:
            block: the block.
            arguments: its arguments.
            after: imports what follows the block, given its outputs.
        Returns:
            Its outputs, or what `after` returns.
        """
        place = self.state.locations.frames[-1]
        self._bind(block.inputs(), arguments)
        return self._continue(block, 0, place, after)

    def _continue(self, block: Any, first: int, place: Any, after: After | None) -> list[Value]:
        """Import a block from one of its nodes on, and what follows it."""
        frames = self.state.locations.frames
        for number, node in enumerate(block.nodes()):
            if number < first:
                continue
            self.state.locations.enter_node(node)
            with self.state.at(number):
                if node.kind() != "prim::If" or not self.state.plan.splits:
                    before = self.state.heap.contents
                    try:
                        results = self._node(node)
                    except (UnsupportedOpError, UnsupportedProgramError) as rejection:
                        self._blame(node, rejection, before)
                        raise
                else:
                    heap, capacity = self.state.heap.contents, self.control.growing.capacity
                    self.state.heap.contents, added = dict(heap), dict(capacity.added)
                    try:
                        with self.state.emitter.attempt():
                            results = self._node(node)
                    except Unjoinable as rejection:
                        self.state.heap.contents, capacity.added = heap, added
                        rest = partial(self._continue, block, number + 1, place, after)
                        return self._split(node, rejection, rest)
            self._bind(node.outputs(), results)
        # What follows a branch or loop belongs to it, not to its last line. An error keeps its line.
        frames[-1] = place or frames[-1]
        outputs = self._outputs(block)
        return after(outputs) if after is not None else outputs

    def _outputs(self, block: Any) -> list[Value]:
        """Return the outputs of a block; of what nobody reads no value."""
        values = list(block.outputs())
        unread = self._unread[-1]
        if not unread or isinstance(block, torch._C.Graph):
            return [self._lookup(value) for value in values]
        results = list(block.owningNode().outputs())
        conditions = len(values) - len(results)  # a loop's, whether it goes on
        kept = [None] * conditions + [str(each.type()) if each.debugName() in unread else None for each in results]
        return [self._lookup(value) if kind is None else Uninitialized(kind) for value, kind in zip(values, kept)]

    def _carried(self, loop: Any) -> list[Value]:
        """Return what a loop carries at first; of what nobody reads no value."""
        pairs = zip(list(loop.inputs())[2:], loop.outputs())
        unread = self._unread[-1]
        return [
            Uninitialized(str(result.type())) if result.debugName() in unread else self._lookup(value)
            for value, result in pairs
        ]

    def _blame(self, node: Any, rejection: Exception, contents: Mapping[Site, Any]) -> None:
        """Note which numbers among the arguments a rejected node depends on.

        Args:
            node: it.
            rejection: what is raised.
            contents: what lists and dicts held before: what they hold now may be of IR that was discarded.
        """
        state = self.state
        if state.scalars and rejection not in state.blamed:
            found = (self._environments[-1].get(value.debugName(), NONE) for value in node.inputs())
            behind = arguments_behind(found, contents)
            state.blamed[rejection] = [path for number, path in state.scalars.items() if number in behind]

    def _split(self, node: Any, rejection: Unjoinable, rest: Callable[[], list[Value]]) -> list[Value]:
        """Import what follows a prim::If in each of its branches, as they have no common type."""

        def run(block: Any) -> Callable[[], list[Value]]:
            def after(outputs: list[Value]) -> list[Value]:
                self._bind(node.outputs(), outputs)
                return rest()

            return lambda: self.run_block(block, [], after)

        condition = self._lookup(next(node.inputs()))
        then, otherwise = map(run, node.blocks())
        if isinstance(condition, ConstValue):  # a branch inside the one that is taken cannot be joined
            with self.state.at("then" if condition.value else "else"):
                return then() if condition.value else otherwise()
        if self._splits == _MOST_SPLITS:
            raise rejection
        self._splits += 1
        try:
            return self.control.choose(condition, then, otherwise)
        except Unjoinable:
            raise rejection from None
        finally:
            self._splits -= 1

    def _bind(self, names: Any, values: Sequence[Value]) -> None:
        environment = self._environments[-1]
        for name, value in zip(names, values):
            environment[name.debugName()] = value

    def _lookup(self, value: Any) -> Value:
        return self._environments[-1][value.debugName()]

    def _call(self, name: str, graph: Any, arguments: Sequence[Value]) -> Value:
        self.state.locations.enter_call()
        try:
            self._check_call(name, graph, arguments)
            run = partial(self.run_graph, name, graph, arguments)
            return with_needed_forms(self.state, self.control.growing.capacity, run)
        finally:
            self.state.locations.leave_call()


def _decorations(function: Any) -> list[Any]:
    """What a function is decorated with, as far as decorators say whom they wrap; TorchScript sees none of it.

    Contexts of PyTorch's (`torch.no_grad()`) as themselves, other wrappers as functions.
    """
    found: list[Any] = []
    while isinstance(function, types.FunctionType) and (inner := getattr(function, "__wrapped__", None)) is not None:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        contexts = [getattr(content, "__self__", content) for content in cells]
        found.append(next((c for c in contexts if isinstance(c, (torch.no_grad, torch.inference_mode))), function))
        function = inner
    return found


def _is_torchs(function: Any) -> bool:
    """Whether a function is PyTorch's own: its decorators do nothing where TorchScript compiles it."""
    return str(function.__module__).partition(".")[0] in ("torch", "torchvision")
