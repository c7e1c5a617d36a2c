"""What torch-mlir prints, ssa-opt prints byte for byte: for every op that torch-mlir registers, in every form."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch_mlir")

import torch

from _torch_op_samples import (
    FUNCTION_SNIPPETS,
    IMPOSSIBLE,
    MODULE_SNIPPETS,
    RESOURCE,
    covered,
    hand_written_samples,
    schema_samples,
)

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "tools" / "gen-torch-ops"))

from schema_exceptions import HAND_SCHEMAS  # noqa: E402

# torch-mlir has no Python bindings of torch_c: its ops, from TorchConversionOps.td.
TORCH_C_OPS = {
    f"torch_c.{name}"
    for name in (
        *("from_builtin_tensor", "to_builtin_tensor", "from_f64", "from_i1", "from_i64", "to_f64", "to_i1", "to_i64"),
        *("generator_to_i64", "get_next_seed", "i64_to_generator"),
    )
}


def _tool(name: str, *places: Path) -> str:
    """The path of a tool: the first of `places` that exists, or from PATH."""
    for place in places:
        if place.exists():
            return str(place)
    found = shutil.which(name)
    if not found:
        pytest.skip(f"{name} is not installed")
    return found


def ssa_opt(text: str, *flags: str) -> str:
    override = os.environ.get("SSA_OPT")
    places = [Path(override)] if override else [ROOT / "build/bin/ssa-opt", Path(sys.executable).parent / "ssa-opt"]
    return _run(_tool("ssa-opt", *places), text, flags)


def torch_mlir_opt(text: str, *flags: str) -> str:
    return _run(_tool("torch-mlir-opt", Path(sys.executable).parent / "torch-mlir-opt"), text, flags)


def _run(tool: str, text: str, flags: tuple[str, ...]) -> str:
    result = subprocess.run([tool, *flags], input=text, capture_output=True, text=True, timeout=120, check=False)
    assert result.returncode == 0, result.stderr[:4000]
    return result.stdout


def registered_ops() -> set[str]:
    """Every op that torch-mlir registers in the torch and torch_c dialects."""
    from torch_mlir.dialects import _torch_ops_gen

    classes = [value for value in vars(_torch_ops_gen).values() if isinstance(value, type)]
    return {cls.OPERATION_NAME for cls in classes if hasattr(cls, "OPERATION_NAME")} | TORCH_C_OPS


@functools.cache
def schemas() -> dict[str, str]:
    """Schemas of the registered ops that have one."""
    known = {name: text for name, (text, _) in HAND_SCHEMAS.items()}
    for schema in torch._C._jit_get_all_schemas():
        name = "torch." + schema.name.replace("::", ".")
        known[f"{name}.{schema.overload_name}" if schema.overload_name else name] = str(schema)
    by_hand = covered(FUNCTION_SNIPPETS)
    return {name: known[name] for name in registered_ops() if name in known and name not in by_hand}


@functools.cache
def module_with_all_ops() -> str:
    """A module that holds an instance of every op."""
    functions, top = hand_written_samples()
    parts = [top, *functions.values()]
    for index, (name, schema) in enumerate(sorted(schemas().items())):
        parts += schema_samples(name, schema, 10 * index)
    return "".join(parts) + RESOURCE


def test_samples_cover_every_registered_op() -> None:
    by_hand = covered(FUNCTION_SNIPPETS) | covered(MODULE_SNIPPETS)
    assert by_hand | set(schemas()) | IMPOSSIBLE == registered_ops()
    assert len(registered_ops()) == 846 + 11


def test_the_module_holds_what_the_samples_promise() -> None:
    text = torch_mlir_opt(module_with_all_ops(), "--mlir-print-op-generic")
    present = set(re.findall(r'"(torch(?:_c)?\.[\w.]+)"\(', text))
    assert registered_ops() - present == IMPOSSIBLE


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--mlir-print-debuginfo"],
        ["--mlir-print-op-generic"],
        ["--mlir-print-op-generic", "--mlir-print-debuginfo"],
    ],
    ids=["custom", "custom-locations", "generic", "generic-locations"],
)
def test_every_op_goes_to_ssa_opt_and_back_unchanged(flags: list[str]) -> None:
    expected = torch_mlir_opt(module_with_all_ops(), *flags)
    through = ssa_opt(expected, *flags)
    assert_same(through, expected)
    assert_same(torch_mlir_opt(through, *flags), expected)


def assert_same(actual: str, expected: str) -> None:
    """Like `assert actual == expected` for long texts: shows the first lines that differ."""
    if actual == expected:
        return
    pairs = zip(actual.splitlines(), expected.splitlines(), strict=False)
    different = [f"got      {a}\nexpected {b}" for a, b in pairs if a != b]
    pytest.fail(f"{len(different)} lines differ:\n" + "\n".join(different[:10]))


@pytest.mark.parametrize(
    "text",
    [
        "!torch.tensor",
        "!torch.vtensor<*,unk>",
        "!torch.vtensor<[],unk>",
        "!torch.tensor<[?,0,3],complex<f32>>",
        "!torch.vtensor<[2],!torch.qint8>",
        "!torch.vtensor<[2],f8E4M3FN>",
        "!torch.list<list<optional<tensor<[2],bf16>>>>",
        "!torch.dict<str, union<int, none>>",
        "!torch.tuple<>",
        '!torch.nn.Module<"a.b<c>">',
        "!torch.optional<Generator>",
        "!torch.LinearParams",
        "!torch.any",
    ],
)
def test_types_go_to_ssa_opt_and_back_unchanged(text: str) -> None:
    module = f"func.func private @f({text}) -> {text}\n"
    expected = torch_mlir_opt(module)
    assert ssa_opt(module) == expected
    assert torch_mlir_opt(ssa_opt(expected)) == expected


@pytest.mark.slow
def test_schema_table_is_true_of_this_version_of_pytorch() -> None:
    script = ROOT / "tools/gen-torch-ops/gen_torch_ops.py"
    result = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@pytest.mark.slow
def test_no_op_returns_an_alias_that_its_schema_and_the_exceptions_do_not_mention() -> None:
    script = ROOT / "tools/gen-torch-ops/gen_torch_ops.py"
    from schema_exceptions import UNANNOTATED_ALIASES

    result = subprocess.run([sys.executable, script, "--aliases"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    found = set(result.stdout.split())
    assert len(found) >= 10
    assert found <= set(UNANNOTATED_ALIASES)


def test_ssa_opt_needs_no_shared_library_but_libc_libm_and_the_loader() -> None:
    readelf = shutil.which("readelf")
    if not readelf:
        pytest.skip("readelf is not installed")
    tool = _tool("ssa-opt", ROOT / "build/bin/ssa-opt", Path(sys.executable).parent / "ssa-opt")
    output = subprocess.run([readelf, "-d", tool], capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.*)\]", output))
    assert needed <= {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2"}
    assert "libc.so.6" in needed
