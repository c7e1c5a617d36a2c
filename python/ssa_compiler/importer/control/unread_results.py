"""Which results of branches and loops are never read.

TorchScript makes each variable that a branch or loop assigns a result of it, and carries it from iteration to
iteration, whether or not it is read again: `z` in `while ...: z = f(x); x = g(z)`. A `break` makes a branch of the rest
of an iteration, of which the old `z` is one outcome. Such a value would be another name of whatever it is, which a
write has to be seen through.
"""

from __future__ import annotations

from typing import Any

__all__ = ["unread_results"]


def unread_results(graph: Any) -> frozenset[str]:
    """Return the results of branches and loops in a TorchScript graph that are never read, by name.

    What a loop carries is read if its result is, or if the body reads it; a branch or loop by itself reads nothing but
    its condition and number of iterations. This is the liveness analysis of Aho, Lam, Sethi and Ullman, "Compilers",
    9.2.5, on SSA values.

    Args:
        graph: the graph.
    """
    if graph.findNode("prim::Loop", True) is None:
        return frozenset()
    results: list[str] = []
    sources: dict[str, list[str]] = {}
    read = {value.debugName() for value in graph.outputs()}
    _collect(graph, results, sources, read)
    waiting = list(read)
    while waiting:
        for source in sources.get(waiting.pop(), ()):
            if source not in read:
                read.add(source)
                waiting.append(source)
    return frozenset(results) - read


def _collect(block: Any, results: list[str], sources: dict[str, list[str]], read: set[str]) -> None:
    """Find what is read, and what the results of branches and loops come from.

    Args:
        block: the block.
        results: gets the results of branches and loops.
        sources: gets, for each value, those that are read if it is.
        read: gets what other ops read.
    """
    for node in block.nodes():
        kind, inputs = node.kind(), [value.debugName() for value in node.inputs()]
        if kind not in ("prim::If", "prim::Loop"):
            read.update(inputs)
            continue
        outputs = [value.debugName() for value in node.outputs()]
        results += outputs
        for inner in node.blocks():
            _collect(inner, results, sources, read)
        ends = [[value.debugName() for value in inner.outputs()] for inner in node.blocks()]
        if kind == "prim::If":
            read.update(inputs)
            for number, output in enumerate(outputs):
                sources[output] = [end[number] for end in ends]
            continue
        (body,), (end,) = node.blocks(), ends
        read.update([*inputs[:2], end[0]])
        parameters = [value.debugName() for value in body.inputs()][1:]
        for output, parameter, first, last in zip(outputs, parameters, inputs[2:], end[1:]):
            sources[output] = [parameter]
            sources[parameter] = [output, first, last]
