"""Check, on the IR that IREE has decided its copies on, that no update destroys a value that is still needed.

IREE's copy elision and its placement of results into larger tensors are not always right (docs/Backend.md lists what
was found). It also moves updates ahead of loops that read what they overwrite. This module reads the asynchronous
stream IR after all of these and verifies each in-place update, or reports it:

- a control-flow graph is built from the structured ops;
- liveness is computed backwards over it;
- a may-alias relation between live values is computed forwards. An op's result is fresh unless the op ties it to an
  operand (an in-place update) or merely renames it; a region or block argument aliases what the values passed to it
  alias.

An update of a value is in order when neither the value nor anything that may share its memory is live afterwards, and
when its memory is the program's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from iree.compiler import ir

from ..ir.bindings import source_lines, walk
from ..ir.types import is_resource
from .kernel_access import dispatch_lines, kernel_function, may_run_in_place, reads_beside_what_it_writes, writes_apart
from .missing_awaits import find_lost_waits
from .reductions import find_constant_reductions

__all__ = ["Violation", "find_violations"]

# Stands for memory that is not the program's to update: arguments, constants, globals.
_EXTERNAL = -1
# Stands for the memory of arguments that the program may update, as the caller wants to see what it writes.
_GIVEN = -2
_OUTSIDE = frozenset({_EXTERNAL, _GIVEN})

_EXECUTED = frozenset({"stream.async.execute", "stream.async.concurrent"})
_FRESH = frozenset(
    {"stream.async.alloca", "stream.async.splat", "stream.async.slice", "stream.async.clone", "stream.async.dispatch"}
)
_SHARED = frozenset({"stream.async.constant", "util.global.load", "util.global.load.indirect"})
_TARGET_FIRST = frozenset({"stream.async.update", "stream.async.copy", "stream.async.fill", "stream.async.store"})


@dataclass(frozen=True)
class Violation:
    """An in-place update that is not verified.

    Attributes:
        kind: "live" if a value that is still needed may be overwritten, "hazard" if one op reads what it overwrites,
            "reduction" if a reduction is about to be compiled wrongly (`reductions`), "wait" if a tensor may be read
            before it is computed (`missing_awaits`).
        op: the updating op, of the stream dialect; a reduction; the reader.
        emplaced: the update was made in place by putting a dispatch's result into a larger tensor.
    """

    kind: str
    op: ir.Operation
    emplaced: bool

    def source_lines(self, module: ir.Module) -> list[int]:
        """Return the lines of the compiled text that the updating op, or the kernel it runs, was made from."""
        return dispatch_lines(self.op, module) if self.op.name == "stream.async.dispatch" else source_lines([self.op])


@dataclass
class _Step:
    """One op, reduced to what matters: values it reads, renames, and overwrites."""

    op: ir.Operation
    uses: list[int]
    results: list[int]
    renames: dict[int, list[int]] = field(default_factory=dict)
    updates: list[int] = field(default_factory=list)


@dataclass
class _Node:
    """A basic block: parameters, steps, and edges that assign the parameters of their targets."""

    parameters: list[int] = field(default_factory=list)
    steps: list[_Step] = field(default_factory=list)
    edges: list[tuple[_Node, list[int]]] = field(default_factory=list)

    __hash__ = object.__hash__


_Aliases = dict[int, frozenset[int]]


def find_violations(module: ir.Module, *, fills_arguments: bool = True) -> list[Violation]:
    """Check every function of a module.

    Args:
        module: asynchronous stream IR, after `iree-stream-propagate-timepoints`: ops are in their final order.
        fills_arguments: whether the runtime lets fills and copies, not only kernels, write arguments
            (`Device.writable_view`).
    Returns:
        What is not verified; empty if everything is.
    Raises:
        NotImplementedError: an op with regions that this analysis does not know holds tensors.
    """
    found: list[Violation] = []
    for view in module.body.operations:
        op = view.operation
        if op.name in ("util.func", "util.initializer") and op.regions and len(op.regions[0].blocks):
            found += _Function(op, module, fills_arguments).check()
            found += [Violation("wait", reader, False) for reader in find_lost_waits(op)]
    found += [Violation("reduction", op, False) for op in find_constant_reductions(module)]
    return found


def _tracked(value: ir.Value) -> bool:
    text = str(value.type)
    return text.startswith("!stream.resource") or text == "!hal.buffer_view"


class _Function:
    """The graph of one function and the two analyses over it."""

    def __init__(self, function: ir.Operation, module: ir.Module, fills_arguments: bool) -> None:
        self._module = module
        self._fills_arguments = fills_arguments
        self._numbers: dict[ir.Value, int] = {}
        self._nodes: list[_Node] = []
        blocks = list(function.regions[0].blocks)
        nodes = [self._node(block.arguments) for block in blocks]
        self._entry = nodes[0]
        # Buffers of the caller: whether their memory is the program's to update is known where they are imported.
        self._buffers = {self._number(value) for value in blocks[0].arguments if str(value.type) == "!hal.buffer_view"}
        for block, node in zip(blocks, nodes, strict=True):
            last = self._fill(block, node)
            terminator = list(block.operations)[-1].operation
            self._branch(terminator, last, blocks, nodes)

    # -- building the graph ------------------------------------------------------------------------------------------

    def _number(self, value: ir.Value) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    def _tracked_numbers(self, values: Iterable[ir.Value]) -> list[int]:
        return [self._number(value) for value in values if _tracked(value)]

    def _node(self, parameters: Iterable[ir.Value] = ()) -> _Node:
        node = _Node(self._tracked_numbers(parameters))
        self._nodes.append(node)
        return node

    def _branch(self, op: ir.Operation, node: _Node, blocks: list[ir.Block], nodes: list[_Node]) -> None:
        """Add the edges of a terminator between blocks."""
        successors = list(op.successors)
        if not successors:
            return
        segments = [len(op.operands)]
        start = 0
        if op.name != "cf.br":
            if op.name != "cf.cond_br":
                raise NotImplementedError(f"branch by {op.name}")
            segments = [int(size) for size in ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])][1:]
            start = 1
        for successor, size in zip(successors, segments, strict=True):
            passed = [op.operands[start + offset] for offset in range(size)]
            node.edges.append((nodes[blocks.index(successor)], self._tracked_numbers(passed)))
            start += size

    def _fill(self, block: ir.Block, node: _Node) -> _Node:
        """Add the steps of a block, splitting it at structured ops; returns the node that control leaves it from."""
        for view in block.operations:
            op = view.operation
            if op.name in _EXECUTED:
                self._execute(op, node)
            elif op.regions and any(len(region.blocks) for region in op.regions):
                node = self._structured(op, node)
            else:
                node.steps.append(self._step(op))
        return node

    def _execute(self, op: ir.Operation, node: _Node) -> None:
        """Add the ops of a scheduled region: its arguments rename the operands, its results what it yields."""
        block = op.regions[0].blocks[0]
        operands, arguments = self._tracked_numbers(op.operands), self._tracked_numbers(block.arguments)
        node.steps.append(
            _Step(op, operands, arguments, {inner: [outer] for inner, outer in zip(arguments, operands, strict=True)})
        )
        self._fill(block, node)
        yielded = self._yielded(op.regions[0])
        results = self._tracked_numbers(op.results)
        node.steps.append(_Step(op, yielded, results, {new: [old] for new, old in zip(results, yielded, strict=True)}))

    def _structured(self, op: ir.Operation, node: _Node) -> _Node:
        """Add a structured op; returns the node after it."""
        if op.name == "scf.for":
            head = self._node(op.results)
            node.edges.append((head, self._tracked_numbers(list(op.operands)[3:])))
            last, body = self._region(op.regions[0])
            head.edges.append((body, list(head.parameters)))
            last.edges.append((head, self._yielded(op.regions[0])))
            after = self._node()
            head.edges.append((after, []))
            return after
        if op.name == "scf.while":
            last, before = self._region(op.regions[0])
            node.edges.append((before, self._tracked_numbers(op.operands)))
            passed = self._yielded(op.regions[0])
            body_last, body = self._region(op.regions[1])
            last.edges.append((body, passed))
            body_last.edges.append((before, self._yielded(op.regions[1])))
            after = self._node(op.results)
            last.edges.append((after, passed))
            return after
        if op.name in ("scf.if", "scf.index_switch"):
            after = self._node(op.results)
            for region in op.regions:
                if len(region.blocks):
                    last, inside = self._region(region)
                    node.edges.append((inside, []))
                    last.edges.append((after, self._yielded(region)))
            if op.name == "scf.if" and not len(op.regions[1].blocks):
                node.edges.append((after, []))
            return after
        raise NotImplementedError(f"an op with regions that is not known here: {op.name}")

    def _region(self, region: ir.Region) -> tuple[_Node, _Node]:
        """Add a region of one block; returns its last and its first node."""
        block = region.blocks[0]
        first = self._node(block.arguments)
        return self._fill(block, first), first

    def _yielded(self, region: ir.Region) -> list[int]:
        terminator = list(region.blocks[0].operations)[-1].operation
        return self._tracked_numbers(terminator.operands)

    def _step(self, op: ir.Operation) -> _Step:
        operands = list(op.operands)
        step = _Step(op, self._tracked_numbers(operands), self._tracked_numbers(op.results))
        if op.name in _TARGET_FIRST:
            step.updates = [self._number(operands[0])]
            step.renames = dict.fromkeys(step.results, step.updates)
        elif "tied_operands" in op.attributes:
            self._ties(op, operands, step)
        elif op.name in _SHARED:
            step.renames = {result: [_EXTERNAL] for result in step.results}
        elif op.name == "stream.tensor.import":
            owner = _GIVEN if "consume" in op.attributes else _EXTERNAL
            step.renames = {result: [*step.uses, owner] for result in step.results}
        elif op.name == "util.call":
            resources = [value for value in op.operands if is_resource(value)]
            passed = self._tracked_numbers(resources)
            step.renames = {result: [*passed, _EXTERNAL] for result in step.results if passed}
        elif op.name not in _FRESH and step.results:
            pairwise = op.name.startswith("stream.timepoint.") and len(step.uses) == len(step.results)
            step.renames = {
                result: [step.uses[index]] if pairwise else list(step.uses) for index, result in enumerate(step.results)
            }
        return step

    def _ties(self, op: ir.Operation, operands: list[ir.Value], step: _Step) -> None:
        """Record the operands of a dispatch or call that its results are written into."""
        base = 0
        if op.name == "stream.async.dispatch":
            base = int(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"])[0])
        for result, tied in zip(op.results, ir.ArrayAttr(op.attributes["tied_operands"]), strict=False):
            index = ir.IntegerAttr(tied).value
            if index >= 0 and _tracked(result):
                target = self._number(operands[base + index])
                step.updates.append(target)
                step.renames[self._number(result)] = [target]

    # -- the analyses ------------------------------------------------------------------------------------------------

    def _live_at_entry(self) -> dict[_Node, set[int]]:
        live: dict[_Node, set[int]] = {node: set() for node in self._nodes}
        changed = True
        while changed:
            changed = False
            for node in reversed(self._nodes):
                current = self._live_at_exit(node, live)
                for step in reversed(node.steps):
                    current.difference_update(step.results)
                    current.update(step.uses)
                current.difference_update(node.parameters)
                if current != live[node]:
                    live[node] = current
                    changed = True
        return live

    @staticmethod
    def _live_at_exit(node: _Node, live: dict[_Node, set[int]]) -> set[int]:
        current: set[int] = set()
        for target, passed in node.edges:
            current |= live[target]
            current.update(passed)
        return current

    def check(self) -> list[Violation]:
        """Run the analyses to a fixed point and return what is not in order."""
        live = self._live_at_entry()
        entry: dict[_Node, _Aliases] = {node: {} for node in self._nodes}
        for argument in self._entry.parameters:
            entry[self._entry][argument] = frozenset() if argument in self._buffers else frozenset({_EXTERNAL})
        reached = {self._entry}
        pending = [self._entry]
        while pending:
            node = pending.pop()
            aliases = dict(entry[node])
            for step in node.steps:
                _transfer(step, aliases)
            for target, passed in node.edges:
                merged = _merge(entry[target], _along_edge(aliases, target, passed, live[target]))
                if merged != entry[target] or target not in reached:
                    entry[target] = merged
                    reached.add(target)
                    pending.append(target)
        found: list[Violation] = []
        for node in self._nodes:
            if node in reached:
                found += self._check_node(node, dict(entry[node]), live)
        return found

    def _check_node(self, node: _Node, aliases: _Aliases, live: dict[_Node, set[int]]) -> list[Violation]:
        after: list[set[int]] = []
        current = self._live_at_exit(node, live)
        for step in reversed(node.steps):
            after.append(set(current))
            current.difference_update(step.results)
            current.update(step.uses)
        found = []
        for step, alive in zip(node.steps, reversed(after), strict=True):
            if step.updates and reads_beside_what_it_writes(step.op, self._module):
                found.append(Violation("hazard", step.op, self._is_emplaced(step.op)))
                _transfer(step, aliases)
                continue
            for target in step.updates:
                sharing = aliases.get(target, frozenset()) | {target}
                needed = alive - set(step.results)
                twice = len(step.updates) != len(set(step.updates)) and not writes_apart(step.op, self._module)
                rejected = _GIVEN in sharing and not self._fills_arguments and step.op.name in _TARGET_FIRST
                if _EXTERNAL in sharing or rejected or sharing & needed or twice:
                    found.append(Violation("live", step.op, self._is_emplaced(step.op)))
                    break
                read_or_written = sum(use in sharing for use in step.uses)
                if read_or_written > step.updates.count(target) and not may_run_in_place(
                    step.op,
                    self._module,
                    lambda value: self._number(value) in sharing,  # noqa: B023 (called here)
                ):
                    found.append(Violation("hazard", step.op, self._is_emplaced(step.op)))
                    break
            _transfer(step, aliases)
        return found

    def _is_emplaced(self, op: ir.Operation) -> bool:
        """Whether a dispatch only writes its tied operand, so that it had memory of its own before it was placed
        there.
        """
        if op.name != "stream.async.dispatch":
            return False
        kernel = kernel_function(op, self._module)
        return kernel is not None and not any(
            "readwrite" in str(argument_use) for argument_use in _binding_types(kernel)
        )


def _binding_types(kernel: ir.Operation) -> list[str]:
    return [str(op.results[0].type) for op in walk(kernel) if op.name == "stream.binding.subspan"]


def _transfer(step: _Step, aliases: _Aliases) -> None:
    """Update the relation for the results of one op."""
    for result in step.results:
        sources = step.renames.get(result, [])
        sharing: set[int] = set()
        for source in sources:
            sharing.add(source)
            sharing |= aliases.get(source, frozenset())
        _set(aliases, result, sharing - {result})


def _set(aliases: _Aliases, value: int, sharing: set[int]) -> None:
    """Replace what `value` shares memory with, on both sides of the relation."""
    for other in aliases.get(value, frozenset()):
        if other in aliases:
            aliases[other] = aliases[other] - {value}
    aliases[value] = frozenset(sharing)
    for other in sharing:
        if other not in _OUTSIDE:
            aliases[other] = aliases.get(other, frozenset()) | {value}


def _along_edge(aliases: _Aliases, target: _Node, passed: list[int], live: set[int]) -> _Aliases:
    """The relation among the values that are live in the target, and its parameters, after the edge is taken."""
    kept = live - set(target.parameters)
    result: dict[int, set[int]] = {value: set() for value in kept}
    for value in kept:
        result[value] |= aliases.get(value, frozenset()) & (kept | _OUTSIDE)
    for parameter, source in zip(target.parameters, passed, strict=True):
        mine = aliases.get(source, frozenset()) | {source}
        sharing = mine & (kept | _OUTSIDE)
        for other, other_source in zip(target.parameters, passed, strict=True):
            if other != parameter and other_source in mine:
                sharing |= {other}
        result[parameter] = set(sharing)
    for value, sharing_set in list(result.items()):
        for other in sharing_set:
            if other not in _OUTSIDE:
                result.setdefault(other, set()).add(value)
    return {value: frozenset(sharing) for value, sharing in result.items()}


def _merge(first: _Aliases, second: _Aliases) -> _Aliases:
    return {
        value: first.get(value, frozenset()) | second.get(value, frozenset()) for value in first.keys() | second.keys()
    }
