"""Every message is provoked, names the user's line, says the remedy, and stands in docs/Messages.md."""

from __future__ import annotations

import functools
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from _message_calls import CALLS
from _rejections import rejection
from message_programs import PROGRAMS
from ssa_compiler import SsaCompilerError

ROOT = Path(__file__).resolve().parents[3]
GENERATOR = ROOT / "tools" / "gen-messages" / "gen_messages.py"
sys.path.insert(0, str(GENERATOR.parent))
import gen_messages  # noqa: E402 - a tool, found by its path

ELSEWHERE = {
    "has a __call__ of its own": "partial_evaluation_guards_test.py",
    "the further arguments": "partial_evaluation_extra_arguments_test.py",
    "inside of several with statements": "partial_evaluation_values_test.py",
    "under torch.autocast, whose dtype": "autocast_test.py",
    "a forward-mode gradient": "tracing_test.py",
    "without memory": "tracing_test.py",
    "which traces": "tracing_test.py",
    "while torch.jit.trace records": "tracing_test.py",
    "within a transform of torch.func": "tracing_test.py",
    "a list with a tensor of": "implicit_test.py",
    "dynamic_shapes": "dynamic_shapes_test.py",
    "sizes: expected": "dynamic_shapes_test.py",
    "by dynamic_shapes": "dynamic_shapes_test.py",
    "give it a name, by an assignment": "evaluation_order_test.py",
    "of a dynamic tensor without elements": "indices_without_elements_test.py",
    "script() got an unexpected": "script_test.py",
    "ssa_compiler.script cannot compile a method": "script_test.py",
    "a subclass of it, got the class": "script_test.py",
    "the program is compiled when it is called first": "script_test.py",
    "the attribute …, an object of a class": "importer_errors_test.py",
    "the ignored function '…' changed": "ignored_calls_test.py",
    "the ignored function '…' kept": "ignored_state_test.py",
    "the ignored function '…' returned": "ignored_calls_test.py",
    "the ignored function '…' wrote": "ignored_calls_test.py",
    "of tensors of the caller's, '…', that gets a dynamic length": "argument_containers_test.py",
    "it is passed in two places": "argument_containers_test.py",
    "of a nested tensor": "nested_tensors_test.py",
    "with a dynamic size that is -1": "importer_constants_test.py",
    "the program was not compiled for -1": "importer_constants_test.py",
    "bound to a tensor with other strides": "attributes_test.py",
    "as_strided": "alias_test.py",
    "on overlapping views of a storage": "overlap_test.py",
    "reads a tensor that may": "overlap_test.py",
    "TorchScript drops the write": "alias_test.py",
    "writes an expanded view": "overlap_test.py",
    "recursion: ": "importer_calls_test.py",
    "an argument requires grad": "specialisation_test.py",
    "gradients: expected 'raise'": "gradients_test.py",
    "parameter '…' requires grad": "gradients_test.py",
    "the default device": "devices_test.py",
    "share one memory location": "inputs_test.py",
    "expected requires_grad": "inputs_test.py",
    "whose layout depends on control flow": "dynamic_aliasing_test.py",
    "expected a strided tensor": "runtime_calls_test.py",
    "isinstance on a value": "classes_test.py",
    "strict: ": "strict_test.py",
    "changes its shape in place while": "metadata_mutation_test.py",
    "expected … of shape …, got … of shape": "argument_shapes_test.py",
    "gets another shape from the program": "argument_shapes_test.py",
    "expected a 64-bit": "compile_test.py",
    "timeout_s: ": "compile_test.py",
    "once its loops and calls are written out": "large_programs_test.py",
    "an argument and a tensor of the module": "shared_variables_test.py",
    "a program with graph breaks has no IR": "graph_breaks_test.py",
    "the program asks whether one is the other": "compile_test.py",
    "a Generator that TorchScript has made a constant": "generators_test.py",
}
"""Part of a message: the test file that provokes it."""
UNREACHED = {
    "program is compiled at its first call": "it makes the first call compile, and is not shown",
    "no device for the IREE driver": "it needs a machine without the driver's device",
    "the program was compiled for a GPU with": "it needs a machine with a small GPU",
    "in pinned memory": "it needs a machine with a GPU",
    "nested too deeply": "it needs a program that exhausts Python's stack",
}
"""Part of a message that no test provokes: the reason."""


def label(value: Any) -> str | None:
    return getattr(value, "__name__", type(value).__name__) if callable(value) else None


def rejected_line(program: Any) -> str:
    """The file of a program, and its line that ends in `# rejected`."""
    function = type(program).forward if isinstance(program, nn.Module) else program
    if isinstance(program, torch.jit.ScriptFunction):
        function = program._torchdynamo_inline  # the function that it was made of
    lines, first = inspect.getsourcelines(function)
    found = (first + number for number, line in enumerate(lines) if line.rstrip().endswith("# rejected"))
    return f"{Path(inspect.getsourcefile(function) or '').name}:{next(found, None)}"


def caught(call: Callable[[], Any]) -> BaseException:
    """What a call raises."""
    with pytest.raises(SsaCompilerError) as raised:
        call()
    return raised.value


@functools.cache
def program_rejection(number: int) -> str:
    """Why a program is rejected, or imported with numbers of its arguments as constants."""
    program, args, _ = PROGRAMS[number]
    return rejection(program, args)


@functools.cache
def call_rejection(number: int) -> BaseException:
    """What a call raises."""
    return caught(CALLS[number][0])


@pytest.mark.parametrize("number", range(len(PROGRAMS)), ids=[label(program) for program, _, _ in PROGRAMS])
def test_programs(number: int) -> None:
    (program, _, says), message = PROGRAMS[number], program_rejection(number)
    assert re.search(says, message), message
    assert f"{rejected_line(program)}: " in message
    assert re.search(r"unsupported: .+; .+", message), "no remedy"


@pytest.mark.parametrize("number", range(len(CALLS)), ids=[says[:40] for _, says in CALLS])
def test_models_and_arguments(number: int) -> None:
    assert re.search(CALLS[number][1], str(call_rejection(number)), re.DOTALL)


@pytest.mark.slow
def test_the_table_is_up_to_date() -> None:
    checked = subprocess.run([sys.executable, str(GENERATOR), "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.slow
def test_every_message_says_the_way_out() -> None:
    in_python = [site for site in gen_messages.sites() if site.kind != "ssa-opt"]
    assert len(in_python) > 100
    told_by_its_end = "TorchScript drops the write here"  # each of what may follow has its own remedy
    without = [site for site in in_python if not site.has_remedy and told_by_its_end not in site.template]
    assert [
        site.template for site in without if not _listed(site.template) and "dynamic_shapes" not in site.template
    ] == []


def _listed(template: str) -> bool:
    return any(part in template for part in UNREACHED)


def test_every_message_is_provoked() -> None:
    """Here, or elsewhere; a new message needs a program."""
    seen = [program_rejection(number) for number in range(len(PROGRAMS))]
    seen += [str(call_rejection(number)) for number in range(len(CALLS))]
    unprovoked = set()
    for site in gen_messages.sites():
        listed = _listed(site.template) or any(part in site.template for part in ELSEWHERE)
        # A message that is all holes would match any other.
        if site.kind != "ssa-opt" and not listed and not any(re.search(site.pattern, text, re.DOTALL) for text in seen):
            unprovoked.add(site.template)
    assert unprovoked == set(), "write a program for these, in message_programs or _message_calls.py"
    for part, file in ELSEWHERE.items():
        assert list((ROOT / "test/python").rglob(file)), f"{part}: {file}"


@pytest.mark.slow
def test_the_list_has_what_the_importer_rejects() -> None:
    """The list would be short if it looked for a function that has another name."""
    listed = [site for site in gen_messages.sites() if site.kind.startswith("Unsupported")]
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "python/ssa_compiler/importer").rglob("*.py")]
    made = sum(len(re.findall(r"\.unsupported(?:_op)?\(", text)) for text in sources)
    assert len(listed) > 0.9 * made > 100


@pytest.mark.slow
def test_passes_are_tested_by_lit() -> None:
    """What passes emit is provoked by the lit tests."""
    texts = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "test/lit").rglob("*.mlir"))
    missing = [
        site.template
        for site in gen_messages.sites()
        if site.kind == "ssa-opt"
        and not any(len(p.strip()) > 6 and p.strip() in texts for p in re.split("…", site.template))
    ]
    assert missing == []
