"""The process that measures one workload: every peer in turn, a line of JSON for each thing that is known.

Started by `benchmarks.run`, which kills it if a compilation does not come back; what it has written by then is kept.
"""

from __future__ import annotations

import argparse
import copy
import json
import site
import time
import traceback
import warnings
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
import torch.utils._pytree as pytree

from . import measure
from .peers import PEERS, Peer, PeerUnavailable, Program, move
from .workload import Built, Workload
from .workloads import WORKLOADS

__all__ = ["main"]


class _Child:
    """Measures one workload.

    Args:
        workload: which.
        options: the command line.
    """

    def __init__(self, workload: Workload, options: argparse.Namespace) -> None:
        self.workload = workload
        self.options = options
        self.device: str = options.device
        self.out = open(options.out, "a", encoding="utf-8")  # noqa: SIM115 - open as long as the process
        self.built = self._build(json.loads(options.sizes))
        self.sets = list(self.built.inputs.items())
        self.programs: dict[str, Program] = {}
        self.ready: dict[str, set[str]] = {}  # the input sets that a program takes
        self.expected: list[Any] = []
        self.exact: dict[int, Any] = {}

    def _build(self, sizes: dict[str, int]) -> Built:
        built = self.workload.at(sizes)
        if self.device == "cpu":
            return built
        inputs = {name: move(args, self.device) for name, args in built.inputs.items()}
        return Built(built.model.to(self.device), inputs, built.facts, built.jax)

    def say(self, event: str, **facts: Any) -> None:
        """Write one line."""
        self.out.write(json.dumps({"event": event, **facts}) + "\n")
        self.out.flush()

    def run(self) -> None:
        """Measure everything."""
        self.expected = [self.built.model(*args) for _, args in self.sets]
        facts = {name: self.built.facts(result) for (name, _), result in zip(self.sets, self.expected)}
        self.say("inputs", facts=facts)
        skipped = set(self.options.skip.split(","))
        for name in self.options.peers.split(","):
            if name not in skipped:
                self._prepare(PEERS[name])
        effort = measure.Effort(**json.loads(self.options.effort))
        with measure.pinned(self.options.threads if self.device == "cpu" else 0):
            for set_name, args in self.sets:
                able = {name: program for name, program in self.programs.items() if set_name in self.ready[name]}
                samples = measure.measure_latency(
                    able, args, effort, self.device, lambda: self.say("round"), self._note_failure
                )
                for name, each in samples.items():
                    self.say("latency", peer=name, inputs=set_name, **each.summary())
        self._count()
        if self.options.warm:
            self._warm_start()
        self.say("done")

    def _note_failure(self, name: str, error: Exception) -> None:
        self.say("note", peer=name, text=f"raised when it was to be timed: {_short(error)}")

    def _prepare(self, peer: Peer) -> None:
        """Compile for the first input set, run it on all, compare."""
        limit = self.options.limit
        self.say("compiling", peer=peer.name)
        try:
            peer.check(self.built, self.device)
            peer.load()
            with measure.time_limit(limit):
                start = time.perf_counter()
                program = peer.compile(self.built, self.sets[0][1], self.device)
                result = self._call(program, self.sets[0][1])
                first = time.perf_counter() - start
                program.refresh()
            self._compare(program, result, 0)
            self.ready[peer.name] = {self.sets[0][0]}
            start = time.perf_counter()
            problem = self._run_others(peer.name, program, max(limit - first, 1.0) if limit else 0.0)
            others = time.perf_counter() - start
            program.refresh()
        except PeerUnavailable as reason:
            self.say("peer", peer=peer.name, status="unavailable", reason=str(reason))
            return
        except measure.TimeLimit as reached:
            peer.forget()
            self.say("peer", peer=peer.name, status="too slow", reason=str(reached))
            return
        except measure.Mismatch as difference:
            self.say("peer", peer=peer.name, status="wrong", reason=_short(difference))
            return
        except Exception as error:  # whatever a peer raises for what it does not take
            peer.forget()
            self.say("peer", peer=peer.name, status="rejected", reason=_short(error), trace=_trace())
            return
        self.programs[peer.name] = program
        self.say("peer", peer=peer.name, status="ok", first_call_s=first, other_inputs_s=others, **self._known(program))
        if problem:
            self.say("note", peer=peer.name, text=problem)

    def _run_others(self, name: str, program: Program, limit: float) -> str:
        """Run a program on the further input sets; returns what kept it from some of them, "" if nothing.

        Raises:
            Mismatch: a result differs from eager's.
        """
        number = 0
        try:
            with measure.time_limit(limit):
                for number in range(1, len(self.sets)):
                    self._compare(program, self._call(program, self.sets[number][1]), number)
                    self.ready[name].add(self.sets[number][0])
        except measure.TimeLimit:
            return f"input set {self.sets[number][0]!r}: > {self.options.limit:g} s in all"
        except measure.Mismatch:
            raise
        except Exception as error:  # it takes the first input set, and not this one
            return f"input set {self.sets[number][0]!r}: {_short(error)}"
        return ""

    def _call(self, program: Program, args: tuple[Any, ...]) -> Any:
        result = program(*program.place(args))
        program.finish(result)
        if self.device == "cuda":
            torch.cuda.synchronize()
        return result

    def _compare(self, program: Program, result: Any, number: int) -> None:
        """Compare with eager's result, or, where that differs by more than the tolerance, with that of double
        precision.
        """
        actual, expected = program.fetch(result), self.expected[number]
        try:
            measure.check_result(actual, expected, self.workload.rtol, self.workload.atol)
        except measure.Mismatch:
            if pytree.tree_structure(actual) != pytree.tree_structure(expected):
                raise
            if number not in self.exact:
                args = pytree.tree_map(_doubled, self.sets[number][1])
                self.exact[number] = copy.deepcopy(self.built.model).double()(*args)
            measure.check_rounding(actual, expected, self.exact[number])

    def _known(self, program: Program) -> dict[str, Any]:
        return {
            "artefact_bytes": program.artefact_bytes,
            "recompiles": program.recompilations(),
            "details": program.details,
        }

    def _count(self) -> None:
        """Memory and launches of a call."""
        args = self.sets[0][1]
        for name, program in self.programs.items():
            memory = measure.peak_memory(program, program.place(args), self.device)
            try:
                launches = program.launches(args)
            except Exception as error:  # a count is worth less than the times that were measured
                self.say("note", peer=name, text=f"launches not counted: {_short(error)}")
                launches = None
            program.refresh()
            counted = asdict(launches) if launches is not None else None
            self.say("counts", peer=name, peak_bytes=memory, launches=counted, **self._known(program))
            if self.device == "cuda":
                self.say("profiled", peer=name, profiled=measure.profiled_launches(program, program.place(args)))

    def _warm_start(self) -> None:
        """Make each program again with what is on disk."""
        for name in list(self.programs):
            program = self.programs.pop(name)
            self.say("compiling", peer=name)
            try:
                with measure.time_limit(self.options.limit):
                    start = time.perf_counter()
                    again = PEERS[name].restart(self.built, program, self.sets[0][1], self.device)
                    self._call(again, self.sets[0][1])
                    seconds = time.perf_counter() - start
                self.say("warm", peer=name, warm_start_s=seconds, warm_from_cache=again.details.get("from_cache"))
            except (Exception, measure.TimeLimit) as error:
                self.say("note", peer=name, text=f"warm start: {_short(error)}")


def _trace() -> str:
    """The end of the traceback of the error at hand."""
    return _relative(traceback.format_exc())[-2000:]


def _relative(text: str) -> str:
    """The text with paths from the repository's root, or that of the packages, on."""
    for folder in (*site.getsitepackages(), str(Path(__file__).resolve().parents[1])):
        text = text.replace(f"{folder}/", "")
    return text


def _doubled(leaf: Any) -> Any:
    """A tensor of floats in double precision, anything else as it is."""
    return leaf.double() if isinstance(leaf, torch.Tensor) and leaf.is_floating_point() else leaf


def _short(error: BaseException) -> str:
    """Type and first line of an error."""
    lines = [line.strip() for line in _relative(str(error)).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:300]


def main() -> None:
    """Parse the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workload", required=True, choices=WORKLOADS)
    parser.add_argument("--sizes", default="{}", help="JSON: sizes that differ from the workload's")
    parser.add_argument("--peers", required=True, help="names with commas between them")
    parser.add_argument("--skip", default="", help="peers that were killed before")
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for a compilation, 0 for no limit")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--effort", default="{}", help="JSON: fields of Effort")
    parser.add_argument("--warm", action="store_true", help="measure warm starts too")
    parser.add_argument("--out", required=True, help="file that the lines are appended to")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.threads:
        torch.set_num_threads(options.threads)
    with torch.no_grad():
        _Child(WORKLOADS[options.workload], options).run()


if __name__ == "__main__":
    main()
