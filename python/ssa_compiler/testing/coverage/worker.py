"""The process that runs cases: reads units from standard input, writes what came of their cases to standard output.

A case may crash or hang this process, so the driver keeps it apart, knows from a line written in front of each case
which one it was, and starts another process that leaves the case out.
"""

from __future__ import annotations

import copy
import importlib.util
import itertools
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

import ssa_compiler

from ...errors import ProgramError, ScriptError, SsaCompilerError
from .samples import Case, Unit, cases, other_sizes, tolerance
from .source import Source

__all__ = ["run_case", "run_unit", "serve"]

_numbers = itertools.count()


def _load(source: Source, folder: str) -> Callable[..., Any]:
    """Write the module of a program and import it: TorchScript reads sources from files."""
    name = f"case{next(_numbers)}"
    path = Path(folder) / f"{name}.py"
    path.write_text(source.text(), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    loaded: Callable[..., Any] = module.program
    return loaded


class _Zeros(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Fills new memory with zeros, in front of ops that show it as they find it."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        return out.zero_() if re.match(r"aten::(new_)?empty", func.name()) else out


def _shows_memory(program: Callable[..., Any], arguments: list[Any]) -> bool:
    """Whether a program returns memory as it finds it: it returns what PyTorch fills new memory with for tests."""
    from .._compare import compare_values

    results: list[Any] = []
    settings: Any = torch.utils.deterministic
    before = torch.are_deterministic_algorithms_enabled(), settings.fill_uninitialized_memory
    for filled in (True, False):
        given = copy.deepcopy(arguments)
        torch.manual_seed(0)
        torch.use_deterministic_algorithms(filled, warn_only=True)
        settings.fill_uninitialized_memory = filled
        try:
            with torch.no_grad():
                if not filled:  # leave something behind in the memory that comes next
                    for leaf in tree_leaves(results[0]):
                        if isinstance(leaf, torch.Tensor):
                            torch.zeros_like(leaf)
                with nullcontext() if filled else _Zeros():  # type: ignore[no-untyped-call]
                    results.append(program(*given))
        except Exception:  # there is no deterministic form of it, no memory to fill, or it raises
            return False
        finally:
            torch.use_deterministic_algorithms(before[0])
            settings.fill_uninitialized_memory = before[1]
    try:
        return compare_values(results[0], results[1]) is not None
    except RuntimeError:  # tensors that cannot be compared: sparse ones
        return False


def _with_lists(source: Source, program: Callable[..., Any], kind: str) -> Source:
    """Return a program that gives lists where TorchScript has lists and eager has tuples: `chunk` and alike."""
    with torch.no_grad():
        result = program(*copy.deepcopy(source.arguments))
    if kind.startswith("List["):
        return source.rewritten("list({})") if isinstance(result, tuple) else source
    if not any(isinstance(element, tuple) for element in result):
        return source
    parts = [f"list(r[{i}])" if isinstance(element, tuple) else f"r[{i}]" for i, element in enumerate(result)]
    last = source.lines[-1].removeprefix("return ")
    lines = [*source.lines[:-1], f"r = {last}", f"return ({', '.join(parts)})"]
    return source.of(lines)


_LOW_PRECISION = ("float16", "bfloat16")


def _is_nearer(record: dict[str, Any], program: Callable[..., Any], arguments: Sequence[Any]) -> bool:
    """Whether a compiled program of half precision is no farther from the results in double precision than eager is.

    Eager rounds after each step of some operators; fills in `status`, and the error of either side, if so.
    """
    wide = tree_map(lambda x: x.double() if isinstance(x, torch.Tensor) and x.is_floating_point() else x, arguments)
    with torch.no_grad():
        try:
            exact = program(*copy.deepcopy(wide))
        except RuntimeError:  # a dtype is written into it
            return False
        expected = program(*copy.deepcopy(arguments))
        compiled = ssa_compiler.compile(program, tuple(copy.deepcopy(arguments)))
        actual = compiled(*copy.deepcopy(arguments))
    leaves = [[x for x in tree_leaves(side) if isinstance(x, torch.Tensor)] for side in (exact, expected, actual)]
    errors = []
    for true, eager, ours in zip(*leaves, strict=True):
        if eager.dtype != ours.dtype or eager.shape != ours.shape or eager.shape != true.shape:
            return False
        if eager.is_floating_point() and eager.numel():
            errors.append([(side.double() - true).abs().max().item() for side in (eager, ours)])
    if not errors or not all(mine <= theirs for theirs, mine in errors):  # also where either is NaN
        return False
    uses = compiled.explain().callbacks
    record["callbacks"] = [{"op": use.op, "reason": use.reason} for use in uses]
    record["status"] = "callback" if uses else "native"
    record["nearer"] = max(errors)
    return True


def _attempt(
    record: dict[str, Any], program: Callable[..., Any], source: Source, unit: Unit, interpreted: bool
) -> None:
    """Compile a program and compare it; fills in `status` and `message`."""
    from ..harness import StageMismatch, check, run_eager

    # Of integers and bools the results may be floating-point: those have the tolerance of their own dtype.
    floating = getattr(torch, unit.dtype).is_floating_point or getattr(torch, unit.dtype).is_complex
    rtol, atol = tolerance(unit) if floating else (None, None)
    sets, options = [source.arguments], {}
    if unit.dynamic_sizes:
        options["dynamic_shapes"] = torch.export.Dim.AUTO
        sets += [other for other in other_sizes(source.arguments) if run_eager(program, other) is None]
    if unit.extremes:
        _attempt_edges(record, program, source, (rtol, atol), interpreted)
        return
    try:
        checked = check(
            program,
            *sets,
            rtol=rtol,
            atol=atol,
            compiled=not interpreted,
            options=options,
            rejections=unit.dynamic_sizes,
        )
    except StageMismatch as error:
        if unit.dtype in _LOW_PRECISION and _is_nearer(record, program, source.arguments):
            return
        # A program of one call that rejects its own example rejects the program.
        record["status"], record["stage"] = "wrong", error.stage
        record["message"] = str(error)
        return
    except SsaCompilerError as error:
        record["status"] = "rejected"
        record["message"] = f"{type(error).__name__}: {error}"
        return
    record["status"] = "imported"
    if unit.dynamic_sizes:
        record["sizes"] = len(sets) - sum(rejection is not None for rejection in checked.rejections)
    if checked.compiled is not None:
        uses = checked.compiled.explain().callbacks
        record["callbacks"] = [{"op": use.op, "reason": use.reason} for use in uses]
        record["status"] = "callback" if uses else "native"


def _attempt_edges(
    record: dict[str, Any],
    program: Callable[..., Any],
    source: Source,
    tolerances: tuple[float | None, float | None],
    interpreted: bool,
) -> None:
    """Compare a program on inputs at the edges of its domain; fills in `status` and `message`."""
    from .edge_runs import EdgeRun

    edges = EdgeRun(record["op"], program, source.arguments, tolerances, interpreted, _shows_memory)
    try:
        edges.run()
    except SsaCompilerError as error:
        record.update(status="rejected", message=f"{type(error).__name__}: {error}")
        return
    record["status"] = "imported"
    checked = edges.checked
    if checked is not None and checked.compiled is not None:
        uses = checked.compiled.explain().callbacks
        record["callbacks"] = [{"op": use.op, "reason": use.reason} for use in uses]
        record["status"] = "callback" if uses else "native"
    record.update(rounded=edges.rounded, unimported=edges.rejected, known=edges.known)
    if edges.failures:
        record["status"], record["failures"] = "wrong", edges.failures
        record["message"] = "; ".join(f"{name}: {text}" for name, text in edges.failures.items())


_ANY_OF_EQUAL = ("kthvalue", "median", "mode", "nanmedian", "sort", "topk")
"""Operators whose second result is the places of the first: of equal elements any."""


def run_case(case: Case, unit: Unit, *, interpreted: bool, folder: str) -> dict[str, Any]:
    """Run one case.

    Args:
        case: the program.
        unit: its operator and dtype.
        interpreted: import it and run each stage in the interpreter, without compiling it.
        folder: where its module is written.
    Returns:
        The record: `status`, one of `native`, `callback`, `imported` (interpreted, and right), `rejected`, `wrong`,
        `broken` (an error that is none of this compiler's), `unscriptable`, `raises` (in eager), and what goes with it.
    """
    from ..harness import run_eager

    record: dict[str, Any] = {"op": unit.op, "dtype": unit.dtype, "case": case.name, "interpreted": interpreted}
    start = time.perf_counter()
    if not case.sources:
        eager = case.problem.startswith("eager raises")
        record.update(status="raises" if eager else "unscriptable", message=case.problem)
        return record
    for source in case.sources:
        record["program"] = source.lines
        program = _load(source, folder)
        try:
            scripted = torch.jit.script(program)
            break
        except Exception as error:  # whatever TorchScript raises, it does not take the program
            record.update(status="unscriptable", message=_short(error))
    else:
        return record
    record.pop("message", None)
    raised = run_eager(program, source.arguments)
    if raised is not None:
        record.update(status="raises", message=_short(raised))
        return record
    try:
        if _shows_memory(program, source.arguments):
            record["shape_only"] = True
            program = _load(source.rewritten("torch.zeros_like({})"), folder)
        elif unit.extremes and unit.op in _ANY_OF_EQUAL and "Tuple" in str(scripted.schema.returns[0].type):
            program = _load(source.rewritten("{}[0]"), folder)
        elif "List[" in str(scripted.schema.returns[0].type):
            program = _load(_with_lists(source, program, str(scripted.schema.returns[0].type)), folder)
        _attempt(record, program, source, unit, interpreted)
    except ScriptError as error:
        record.update(status="rejected", message=_short(error))
    except (ProgramError, Exception) as error:
        record.update(status="broken", message=_short(error))
    record["seconds"] = round(time.perf_counter() - start, 3)
    return record


def _short(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' | '.join(lines[:3])}"[:500]


def run_unit(unit: Unit, done: set[str], *, interpreted: bool, folder: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Run the cases of a unit.

    Args:
        unit: the operator and dtype.
        done: names of cases to leave out.
        interpreted: see `run_case`.
        folder: where programs are written.
    Yields:
        `("begin", {"case": name})` and then `("result", record)` of each.
    """
    for case in cases(unit):
        if case.name not in done:
            yield "begin", {"case": case.name}
            yield "result", run_case(case, unit, interpreted=interpreted, folder=folder)


def serve(request: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]] | None]:
    """The body of a worker process: run the cases of a unit.

    Args:
        request: the fields of a `Unit`; `done`, the cases to leave out; `interpreted`, whether to compile none.
    Yields:
        "begin" with each case, "result" with its record; "error" if the samples cannot be made; None at the end.
    """
    warnings.filterwarnings("ignore")
    done, interpreted = set(request.pop("done")), request.pop("interpreted")
    with tempfile.TemporaryDirectory(prefix="ssa-compiler-") as folder:
        try:
            yield from run_unit(Unit(**request), done, interpreted=interpreted, folder=folder)
        except Exception as error:  # its samples cannot be made
            yield "error", {"error": _short(error)}
    yield None
