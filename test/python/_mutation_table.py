"""What becomes of each of PyTorch's view ops and in-place ops: found by importing, converting and running a small
program each.

    python test/python/_mutation_table.py    # writes docs/Mutation.md

The programs are made from the operators' schemas, so that an operator that a new PyTorch brings is noticed. A test
compares the tables with docs/Mutation.md. Of an operator that only another version of PyTorch has than the one of which
the document is, what becomes of it is found all the same, and compared with eager.
"""

from __future__ import annotations

import importlib.util
import itertools
import logging
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from ssa_compiler.errors import ProgramError, ScriptError, SsaCompilerError
from ssa_compiler.testing import StageMismatch, check
from ssa_compiler.testing.markdown import markdown_table

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs/Mutation.md"
sys.path.insert(0, str(ROOT / "tools/gen-torch-ops"))

from gen_torch_ops import isolated  # noqa: E402
from sample_arguments import sample_calls  # noqa: E402
from schema_exceptions import UNANNOTATED_ALIASES  # noqa: E402

_DTYPES = (torch.float32, torch.int64, torch.bool, torch.complex64)
_FAILS = (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError, AttributeError)

# Operators that are no business of a program on dense tensors, by a word of their schema or name, with the reason.
_OUTSIDE = re.compile(
    r"Storage|\[\]\([a-z]+!|Dict\(|\bt\b|RRef|Future|__getitem__|_nested|nested_|_sparse|sparse_|coalesce|[cr]o[lw]_indices|crow|ccol"
    r"|aten::(_?indices|_?values)\b|_coalesced_|mkldnn|quantize|_dual|_test_|_ncf_|_fw_primal|_autocast|pin_memory"
    r"|_amp_|fake_quant|_resize_output|_foreach_|_fused_|_functional_|to\.prim_|observer|_cudnn|miopen|_dropout_state"
    r"|(?i:\w*dimname)|\.(using_names|named_out_dim)\b|\bnames\b|\balign_to\b"  # named tensors
)


def _overload(schema: Any) -> Any:
    try:
        return getattr(getattr(torch.ops.aten, schema.name[6:]), schema.overload_name or "default")
    except (AttributeError, RuntimeError):
        return None


def _name(schema: Any) -> str:
    return schema.name[6:] + (f".{schema.overload_name}" if schema.overload_name else "")


def _written(schema: Any) -> list[Any]:
    return [a for a in schema.arguments if a.alias_info is not None and a.alias_info.is_write]


def _aten() -> list[Any]:
    schemas = [s for s in torch._C._jit_get_all_schemas() if s.name.startswith("aten::") and _overload(s) is not None]
    return sorted((s for s in schemas if not _OUTSIDE.search(str(s))), key=_name)


def view_schemas() -> list[Any]:
    """Schemas of the ops that return a view, as far as the schema or schema_exceptions.py says so."""

    def aliases(schema: Any) -> bool:
        announced = any(result.alias_info is not None for result in schema.returns)
        return not _written(schema) and (announced or f"torch.aten.{_name(schema)}" in UNANNOTATED_ALIASES)

    return [schema for schema in _aten() if aliases(schema)]


def in_place_schemas() -> list[Any]:
    """Schemas of the ops that write a tensor, `out=` variants apart."""
    return [s for s in _aten() if _written(s) and not any(a.is_out for a in _written(s))]


def list_schemas() -> list[Any]:
    """Schemas of the ops that write the tensors in a list."""
    schemas = [s for s in torch._C._jit_get_all_schemas() if s.name.startswith("aten::_foreach_") and _written(s)]
    return sorted((s for s in schemas if not any(a.is_out for a in _written(s)) and _overload(s)), key=_name)


# Programs ------------------------------------------------------------------------------------------------------------


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for element in value for t in _tensors(element)] if isinstance(value, (list, tuple)) else []


def _text(value: Any, arguments: list[torch.Tensor]) -> str:
    """The source of an argument; tensors become arguments of the program."""
    if isinstance(value, torch.Tensor):
        arguments.append(value)
        return f"a{len(arguments) - 1}"
    if isinstance(value, list):
        return f"[{', '.join(_text(element, arguments) for element in value)}]"
    return f"torch.device({str(value)!r})" if isinstance(value, torch.device) else repr(value)


def _more_calls(schema: Any, dtype: torch.dtype) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Arguments of the ops whose schema does not tell which fit."""
    square = (torch.arange(16).reshape(4, 4) % 3).to(dtype)
    special: dict[str, list[list[Any]]] = {
        "_conj": [[torch.complex(square.float(), square.float())]],
        "_reshape_alias": [[square, [2, 8], [8, 1]]],
        "as_strided": [[square, [2, 2], [4, 1], 1]],
        "view_as_complex": [[torch.arange(8.0).reshape(4, 2)]],
        "unfold": [[square, 0, 2, 2]],
        "unflatten.int": [[square, 0, [2, 2]]],
        "split": [[square, [1, 3]]],
        "split.sizes": [[square, [1, 3], 0]],
        "split_with_sizes": [[square, [1, 3], 0]],
        "split.Tensor": [[square, 2, 0]],
        "unsafe_split_with_sizes": [[square, [1, 3], 0]],
        "unsafe_split.Tensor": [[square, 2, 0]],
        "chunk": [[square, 2, 0]],
        "unsafe_chunk": [[square, 2, 0]],
        "hsplit.int": [[square, 2]],
        "vsplit.int": [[square, 2]],
        "hsplit.array": [[square, [1]]],
        "vsplit.array": [[square, [1]]],
        "dsplit.int": [[square.reshape(2, 2, 4), 2]],
        "dsplit.array": [[square.reshape(2, 2, 4), [1]]],
        "tensor_split.sections": [[square, 2, 0]],
        "tensor_split.indices": [[square, [1], 0]],
        "tensor_split.tensor_indices_or_sections": [[square, torch.tensor(2), 0]],
        "narrow": [[square, 0, 1, 2]],
        "narrow.Tensor": [[square, 0, torch.tensor(1), 2]],
        "expand": [[square[:1].clone(), [4, 4]]],
        "expand_as": [[square[:1].clone(), square]],
        "broadcast_to": [[square[:1].clone(), [4, 4]]],
        "broadcast_tensors": [[[square[:1].clone(), square]]],
        "view": [[square, [2, 8]]],
        "_unsafe_view": [[square, [2, 8]]],
        "reshape": [[square, [2, 8]]],
        "view_as": [[square, square.reshape(2, 8)]],
        "reshape_as": [[square, square.reshape(2, 8)]],
        "slice.Tensor": [[square, 0, 1, 4, 2]],
        "squeeze": [[square[:1].clone()]],
        "squeeze.dim": [[square[:1].clone(), 0]],
        "squeeze.dims": [[square[:1].clone(), [0]]],
        "permute": [[square, [1, 0]]],
        "view.dtype": [[square, torch.int32]],
        "moveaxis.intlist": [[square, [0], [1]]],
        "movedim.intlist": [[square, [0], [1]]],
        "to.dtype": [[square, square.dtype]],
        "rrelu_with_noise_": [[square.float() - 1, square.float(), 0.1, 0.3, True]],
        "index_reduce_": [[square, 0, torch.tensor([0, 2]), square[:2].clone(), "amax"]],
        "scatter_reduce_.two": [[square, 0, square.long(), square.clone(), "amax"]],
    }
    if "Scalar[]" in str(schema):
        vector = square[0].clone()
        numbers = {"List[Tensor]": [vector, vector + 1], "List[number]": [1, 2]}
        yield [numbers[str(argument.type)] for argument in schema.arguments], {}
    if schema.name.startswith("aten::_foreach_addc") and schema.overload_name == "Tensor":
        vector = square[0].float()
        yield [*([vector + k, vector + k + 1] for k in range(3)), torch.tensor([1.0, 2.0])], {}
    for positional in special.get(_name(schema), []):
        yield positional, {}


def _calls(schema: Any) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    for dtype in _DTYPES:
        yield from _more_calls(schema, dtype)
    for dtype in _DTYPES:
        yield from sample_calls(schema, dtype)


def _accepted(schema: Any) -> int | None:
    """The number of the first call that eager accepts, and for which a view op returns a view; None without one.

    A call of a view op that returns another tensor than it was given is preferred.
    """
    op, fallback = _overload(schema), None
    for number, (positional, keywords) in enumerate(_calls(schema)):
        copies = [value.clone() if isinstance(value, torch.Tensor) else value for value in positional]
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                out = op(*copies, **keywords)
        except _FAILS:
            continue
        if _written(schema):
            return number
        bases = {t.untyped_storage().data_ptr() for t in _tensors(copies)}
        views = [t for t in _tensors(out) if t.numel() and t.untyped_storage().data_ptr() in bases]
        if any(_facts(view) not in map(_facts, _tensors(copies)) for view in views):
            return number
        if views and fallback is None:
            fallback = number
    return fallback


def _facts(tensor: torch.Tensor) -> tuple[Any, ...]:
    return tensor.shape, tensor.stride(), tensor.storage_offset(), tensor.dtype, tensor.is_conj(), tensor.is_neg()


def _call(schema: Any) -> tuple[list[Any], dict[str, Any]] | None:
    """Arguments for an op, found in a child process, since strange ones may crash it; None if none are found."""
    number = isolated(_accepted, schema)
    return None if number is None else next(itertools.islice(_calls(schema), number, None))


def source_of(schema: Any, positional: list[Any], keywords: dict[str, Any]) -> tuple[str, list[torch.Tensor]]:
    """A program that calls an op on copies of its arguments and writes what it returns, and the program's arguments."""
    arguments: list[torch.Tensor] = []
    texts = [_text(value, arguments) for value in positional]
    texts += [f"{name}={_text(value, arguments)}" for name, value in keywords.items() if value is not None]
    lines = [f"    a{number} = a{number}.clone()" for number in range(len(arguments))]
    for number, value in enumerate(positional):
        if isinstance(value, list) and _tensors(value):
            # TorchScript drops a write to the tensors of a list that nobody uses again.
            lines.append(f"    l{number} = {texts[number]}")
            texts[number] = f"l{number}"
    call = f"torch.ops.aten.{schema.name[6:]}({', '.join(texts)})"
    results = [f"a{number}" for number in range(len(arguments))]
    if _written(schema):
        lines.append(f"    {call}")
        results += [text for text in texts if re.fullmatch(r"l\d+", text)]
    else:
        pieces = any("List" in str(result.type) for result in schema.returns)
        lines.append(f"    v = {call}{'[0]' if pieces else ''}")
        lines += ["    w = v.clone()", "    v.copy_(torch.ones_like(v))"]
        results += ["w", "v.clone()"]
    parameters = ", ".join(f"a{number}: torch.Tensor" for number in range(len(arguments)))
    body = "\n".join(lines)
    text = f"import torch\n\n\ndef program({parameters}):\n{body}\n    return {', '.join(results)}\n"
    return text, arguments


def load(text: str, folder: Path, name: str) -> Any:
    """The function `program` of a source text, in a file that TorchScript can read."""
    path = folder / (re.sub(r"[^a-zA-Z0-9]", "_", name) + ".py")
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.program


def fate(schema: Any, folder: Path) -> str:
    """What becomes of an op, in the words of the tables.

    Args:
        schema: a torch._C.FunctionSchema.
        folder: where to write the program.
    Raises:
        AssertionError: a stage computes something else than eager.
    """
    found = _call(schema)
    if found is None:
        return "not tried: no arguments are known that eager accepts"
    text, arguments = source_of(schema, *found)
    try:
        checked = check(load(text, folder, _name(schema)), tuple(arguments), compiled=False)
    except ScriptError:
        return "not tried: TorchScript does not know it"
    except StageMismatch as error:
        raise AssertionError(f"{_name(schema)}: {error}\n{text}") from error
    except ProgramError:
        return "raises as eager does: it shows elements several times"
    except SsaCompilerError as error:
        message = re.sub(r"^\S*?:\d+: |^unsupported: ", "", re.sub(r"^\S*?:\d+: ", "", str(error).splitlines()[0]))
        return f"rejected: {message}"
    imported, pure = checked.stages["imported"], checked.stages["tensorssa"]
    own = re.search(rf"\btorch\.aten\.{re.escape(_name(schema))}[\" ]", imported) is not None
    if not _written(schema):
        return "a view model of its own" if own else "the view ops it consists of, or none"
    if "torch.functionalized.aten" in pure:
        return "run on copies, in PyTorch"
    return "its functional form" if own else "a functional form, and `copy_`"


# Document ------------------------------------------------------------------------------------------------------------

_HEAD = """# What becomes of each view and each write

Written by `python test/python/_mutation_table.py` for PyTorch {version}: do not edit. Each operator of a table was called in a
small program, which was imported, converted, and compared with eager at each stage. Operators on sparse, quantised and nested
tensors, storages and dictionaries are left out. In another supported version of PyTorch the same becomes of the same
operators.
"""


def _table(title: str, about: str, schemas: list[Any], folder: Path) -> str:
    rows: dict[str, list[str]] = {}
    for schema in schemas:
        rows.setdefault(fate(schema, folder), []).append(_name(schema))
    cells = [(what, ", ".join(f"`{name}`" for name in names)) for what, names in sorted(rows.items())]
    lines = [f"\n## {title}\n\n{about}\n", markdown_table(("what becomes of it", "operators"), cells)]
    return "\n".join(lines) + "\n"


def listed() -> dict[str, str]:
    """What docs/Mutation.md says of each operator, by its name."""
    rows = re.findall(r"^\| (.*) \| (`.*`) \|$", DOCUMENT.read_text(), re.MULTILINE)
    return {name: what for what, names in rows for name in re.findall(r"`([^`]+)`", names)}


def is_of_this_version() -> bool:
    """Whether docs/Mutation.md is of the version of PyTorch that runs."""
    return f"for PyTorch {torch.__version__.split('+')[0]}:" in DOCUMENT.read_text()


def document() -> str:
    """The text of docs/Mutation.md."""
    torch.set_num_threads(1)  # threads do not survive the fork in `isolated`
    with tempfile.TemporaryDirectory() as folder:
        return _HEAD.format(version=torch.__version__.split("+")[0]) + "".join(
            _table(title, about, schemas, Path(folder))
            for title, about, schemas in (
                ("Views", "The result is read, written, and read again beside its base.", view_schemas()),
                ("In-place operators", "The written tensors are returned.", in_place_schemas()),
                ("Operators on lists", "What each list holds is returned.", list_schemas()),
            )
        )


if __name__ == "__main__":
    logging.disable(logging.CRITICAL)
    DOCUMENT.write_text(document())
