"""Writes GeneratedTorchOps.inc: the operators of the torch dialect, from PyTorch's own schemas.

    python tools/gen-torch-ops/gen_torch_ops.py            # brings the table up to date
    python tools/gen-torch-ops/gen_torch_ops.py --check    # says whether the table is up to date

One table is for all versions of PyTorch that are supported. Run with one of them, the script keeps the rows of
operators that only others have. Of an operator that several have, all have to say the same; of the dtypes that its
counterpart keeps, the table has what is true in all. `--check`, which the tests run, fails under a version for which
that is not so.

A row holds the op's name, its schema, its functional counterpart, the kinds of dtypes that the counterpart keeps, and
what PyTorch's tags say. Which ops there are is what torch-mlir's bindings register. What writes and what aliases is in
the schema, corrected by schema_exceptions.py. The counterpart of an in-place op is found by name and by running both.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from sample_arguments import sample_calls
from schema_exceptions import (
    ALIAS_ANNOTATIONS,
    FUNCTIONAL_NAMES,
    HAND_SCHEMAS,
    NO_FUNCTIONAL,
    TRUSTED_FUNCTIONAL,
    UNANNOTATED_ALIASES,
)

TABLE = Path(__file__).parents[2] / "include/ssa-compiler/Dialect/Torch/IR/GeneratedTorchOps.inc"
COMMAND = "python tools/gen-torch-ops/gen_torch_ops.py"
_DTYPES = (torch.float32, torch.int64, torch.bool)
_NARROW = {torch.float32: torch.float16, torch.int64: torch.int32, torch.bool: torch.bool}
_KINDS = {torch.float32: "f", torch.int64: "i", torch.bool: "b"}


@dataclasses.dataclass(frozen=True)
class Row:
    """One line of the table; `registered` tells TORCH_OP from TORCH_KNOWN_OP."""

    name: str
    schema: str
    functional: str
    keeps: str
    flags: str
    registered: bool

    def text(self) -> str:
        """The line of C++."""
        macro = "TORCH_OP" if self.registered else "TORCH_KNOWN_OP"
        schema = self.schema.replace("\\", "\\\\").replace('"', '\\"')
        return f'{macro}("{self.name}", "{schema}", "{self.functional}", "{self.keeps}", "{self.flags}")\n'


def torch_name(schema: Any) -> str:
    """`torch.aten.add.Tensor` of a FunctionSchema."""
    name = "torch." + schema.name.replace("::", ".")
    return f"{name}.{schema.overload_name}" if schema.overload_name else name


def registered_names() -> list[str]:
    """Names of all ops that torch-mlir's bindings register, sorted."""
    from torch_mlir.dialects import _torch_ops_gen

    classes = [value for value in vars(_torch_ops_gen).values() if isinstance(value, type)]
    return sorted({cls.OPERATION_NAME for cls in classes if hasattr(cls, "OPERATION_NAME")})


def pytorch_schemas() -> dict[str, Any]:
    """All schemas of this process by torch name."""
    return {torch_name(schema): schema for schema in torch._C._jit_get_all_schemas()}


def overload(schema: Any) -> Any:
    """The `torch.ops` overload of a schema, or None if Python cannot call it."""
    namespace, name = schema.name.split("::")
    try:
        return getattr(getattr(getattr(torch.ops, namespace), name), schema.overload_name or "default")
    except (AttributeError, RuntimeError):
        return None


def schema_text(name: str, schema: Any) -> str:
    """The schema of an op as text, with what PyTorch's lacks put in."""
    if name in ALIAS_ANNOTATIONS:
        return ALIAS_ANNOTATIONS[name][0]
    text = str(schema)
    if name in UNANNOTATED_ALIASES:
        arguments, returns = text.rsplit("->", 1)
        arguments = re.sub(r"\bTensor(?=[ \[])", "Tensor(a)", arguments, count=1)
        text = arguments + "->" + re.sub(r"\bTensor\b", "Tensor(a)", returns)
    return text


_FLAGS = {
    torch.Tag.nondeterministic_seeded: "random",  # two calls with the same arguments may differ
    torch.Tag.inplace_view: "metadata",  # changes sizes, strides or the storage of an argument, not only its contents
}


def flags_of(schema: Any) -> str:
    """What PyTorch's tags say about an op, in the words of the table."""
    op = overload(schema)
    return "" if op is None else " ".join(word for tag, word in _FLAGS.items() if tag in op.tags)


def changes_metadata(schema: Any) -> bool:
    """True if PyTorch says that an op changes more of an argument than its contents."""
    return "metadata" in flags_of(schema)


# Functional counterparts -------------------------------------------------------------------------------------------


def _written(schema: Any) -> list[int]:
    return [i for i, argument in enumerate(schema.arguments) if argument.alias_info and argument.alias_info.is_write]


def _functional_name(schema: Any) -> str | None:
    """The name that the functional form of an in-place op would have: `add` of `add_`, `__and__` of `__iand__`."""
    namespace, name = schema.name.split("::")
    if match := re.fullmatch(r"__i(\w+)__", name):
        plain = f"__{match[1]}__"
    elif name.endswith("_") and not name.endswith("__"):
        plain = name[:-1]
    else:
        return None
    suffix = f".{schema.overload_name}" if schema.overload_name else ""
    return f"torch.{namespace}.{plain}{suffix}"


def functional_candidate(schema: Any, schemas: dict[str, Any]) -> str | None:
    """The pure op with the arguments of an in-place op, by name and types, or None."""
    if _written(schema) != [0] or str(schema.arguments[0].type) != "Tensor" or torch_name(schema) in NO_FUNCTIONAL:
        return None
    name = FUNCTIONAL_NAMES.get(torch_name(schema)) or _functional_name(schema)
    candidate = schemas.get(name) if name else None
    op = overload(schema)
    if candidate is None or _written(candidate) or op is None or torch.Tag.inplace_view in op.tags:
        return None
    if len(candidate.returns) != 1 or str(candidate.returns[0].type) != "Tensor":
        return None

    def signature(s: Any) -> list[tuple[str, bool]]:
        return [(str(argument.type), argument.kwarg_only) for argument in s.arguments]

    return name if signature(schema) == signature(candidate) else None


def _copy(value: Any) -> Any:
    return value.clone() if isinstance(value, torch.Tensor) else value


def _run(op: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
    """The result of an op on copies of the arguments, with a fixed seed; None if it rejects them."""
    torch.manual_seed(0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return op(*[_copy(value) for value in positional], **keywords)
    except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError):
        return None


def _with_floats(
    schema: Any, positional: list[Any], keywords: dict[str, Any]
) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """The same call with a float for one of its numbers, for each of them."""
    for index, argument in enumerate(schema.arguments):
        if "number" not in str(argument.type):
            continue
        if index < len(positional):
            yield [*positional[:index], 1.5, *positional[index + 1 :]], keywords
        else:
            yield positional, {**keywords, argument.name: 1.5}


def kept_kinds(in_place: Any, functional: Any) -> tuple[str, str]:
    """For which dtypes a functional op gives what the in-place op leaves in its first argument.

    Args:
        in_place: schema of the in-place op.
        functional: schema of the functional op, with the same arguments.
    Returns:
        The kinds of dtypes, some of "f" (floating point), "i" (integer) and "b" (bool), each tried with one call that
        the functional op accepts; "p" if the dtypes of other tensors promote the result, "s" if numbers do. If no dtype
        is kept, the reason.
    """
    in_place_op, functional_op = overload(in_place), overload(functional)
    if in_place_op is None or functional_op is None:
        return "", "cannot be called from Python"
    kinds, promotes, reason = "", "", "accepts none of the sample arguments"
    for dtype in _DTYPES:
        for positional, keywords in sample_calls(functional, dtype):
            result = _run(functional_op, positional, keywords)
            if not isinstance(result, torch.Tensor):
                continue
            if result.dtype != dtype:
                reason = f"gives {result.dtype} for {dtype}"
                break
            if result.shape != positional[0].shape:
                continue
            written = _run(in_place_op, positional, keywords)
            if written is None:
                continue
            if not torch.allclose(written, result, rtol=0, atol=0, equal_nan=True):
                return "", "gives other values than the in-place op"
            kinds += _KINDS[dtype]
            narrow = positional[0].to(_NARROW[dtype])
            result = _run(functional_op, [narrow, *positional[1:]], keywords)
            if isinstance(result, torch.Tensor) and result.dtype != narrow.dtype:
                promotes += "p" if "p" not in promotes else ""
            for numbers in _with_floats(functional, positional, keywords):
                result = _run(functional_op, *numbers)
                if isinstance(result, torch.Tensor) and result.dtype != dtype and "s" not in promotes:
                    promotes += "s"
            break
    return (kinds + "".join(sorted(promotes)), "") if kinds else ("", reason)


def all_isolated(function: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Any]:
    """What `function` returns for each argument, computed in child processes: operators given strange arguments may
    crash.

    Args:
        function: returns something that JSON can hold.
        arguments: passed on by forking, so they may be anything.
    Returns:
        The results, None where the child died.
    """
    results: list[Any] = []
    while len(results) < len(arguments):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(reader)
                null = os.open(os.devnull, os.O_WRONLY)
                os.dup2(null, 1)
                os.dup2(null, 2)
                with os.fdopen(writer, "w") as stream:
                    for argument in arguments[len(results) :]:
                        stream.write(json.dumps(function(argument)) + "\n")
                        stream.flush()
            finally:
                os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as stream:
            results += [json.loads(line) for line in stream if line.endswith("\n")]
        os.waitpid(child, 0)
        if len(results) < len(arguments):
            results.append(None)
    return results


def isolated(function: Callable[[Any], Any], argument: Any) -> Any:
    """What `function(argument)` returns, computed in a child process; None if the child died. See `all_isolated`."""
    return all_isolated(function, [argument])[0]


def functional_counterparts(schemas: dict[str, Any]) -> tuple[dict[str, tuple[str, str]], dict[str, str]]:
    """Functional counterparts of all in-place ops with the kinds of dtypes they keep; why the others have none."""
    found: dict[str, tuple[str, str]] = {}
    rejected: dict[str, str] = {}
    candidates = {
        name: candidate
        for name, schema in schemas.items()
        if (candidate := functional_candidate(schema, schemas)) is not None
    }
    tried = [name for name in candidates if name not in TRUSTED_FUNCTIONAL]
    pairs = [(schemas[name], schemas[candidates[name]]) for name in tried]
    kept = dict(zip(tried, all_isolated(lambda pair: kept_kinds(*pair), pairs), strict=True))
    for name, candidate in candidates.items():
        if name in TRUSTED_FUNCTIONAL:
            found[name] = (candidate, TRUSTED_FUNCTIONAL[name][0])
            continue
        kinds, reason = kept[name] or ("", "crashes")
        if kinds:
            found[name] = (candidate, kinds)
        else:
            rejected[name] = reason
    return found, rejected


# Unannotated aliases -----------------------------------------------------------------------------------------------


def _tensors(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for element in value:
            yield from _tensors(element)


def unannotated_alias(schema: Any) -> bool:
    """True if some call of the op returns a tensor that shares storage with an argument and the schema does not say so.

    Args:
        schema: schema of an op without writes.
    """
    op = overload(schema)
    if op is None or any(result.alias_info for result in schema.returns):
        return False
    for dtype in _DTYPES:
        for positional, keywords in sample_calls(schema, dtype):
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    results = op(*positional, **keywords)
                inputs = {t.untyped_storage().data_ptr() for t in _tensors([*positional, *keywords.values()])}
                if any(t.untyped_storage().data_ptr() in inputs - {0} for t in _tensors(results)):
                    return True
            except (RuntimeError, IndexError, TypeError, ValueError, NotImplementedError):
                continue
    return False


def unannotated_aliases(names: Iterable[str]) -> list[str]:
    """Those of the given ops that `unannotated_alias` convicts."""
    schemas = pytorch_schemas()
    candidates = [name for name in names if name in schemas and not _written(schemas[name])]
    aliasing = all_isolated(unannotated_alias, [schemas[name] for name in candidates])
    return [name for name, aliases in zip(candidates, aliasing, strict=True) if aliases]


# Table -------------------------------------------------------------------------------------------------------------


def rows() -> tuple[list[Row], dict[str, str]]:
    """The rows of the table, sorted by name, and the in-place ops without a counterpart, with reasons."""
    schemas = pytorch_schemas()
    counterparts, rejected = functional_counterparts(schemas)
    registered = set(registered_names())
    known = set(counterparts) | {functional for functional, _ in counterparts.values()} | set(UNANNOTATED_ALIASES)
    known |= {name for name, schema in schemas.items() if name.startswith("torch.aten.") and changes_metadata(schema)}
    table: dict[str, Row] = {}
    for name in sorted(registered | known):
        if name in HAND_SCHEMAS:
            table[name] = Row(name, HAND_SCHEMAS[name][0], "", "", "random" if "bernoulli" in name else "", True)
        elif name in schemas:
            schema = schemas[name]
            text = schema_text(name, schema)
            functional, keeps = counterparts.get(name, ("", ""))
            table[name] = Row(name, text, functional, keeps, flags_of(schema), name in registered)
    return list(table.values()), rejected


_LINE = re.compile(r'^(TORCH_OP|TORCH_KNOWN_OP)\((".*")\)$', re.MULTILINE)


def rows_of(text: str) -> dict[str, Row]:
    """The rows of a table, by name."""
    found = {}
    for macro, columns in _LINE.findall(text):
        name, schema, functional, keeps, flags = json.loads(f"[{columns}]")
        row = Row(name, schema, functional, keeps, flags, macro == "TORCH_OP")
        found[row.name] = row
    return found


def merged(known: Row, row: Row) -> Row:
    """The row for the versions of PyTorch of which `known` is true and the one of which `row` is.

    Raises:
        ValueError: they say different things of what an op writes, aliases or is.
    """
    kinds = "".join(kind for kind in "fib" if kind in known.keeps and kind in row.keeps)
    keeps = kinds + "".join(word for word in "ps" if word in known.keeps + row.keeps)
    merge = dataclasses.replace(row, keeps=keeps)
    if dataclasses.replace(known, keeps=keeps) != merge:
        raise ValueError(f"versions of PyTorch differ:\n{known.text()}{row.text()}")
    return merge


def table_text(known: dict[str, Row] | None = None) -> str:
    """The whole file, given the rows of what other versions of PyTorch made."""
    schemas = pytorch_schemas()
    table = {name: row for name, row in (known or {}).items() if name not in schemas and not row.registered}
    for row in rows()[0]:
        table[row.name] = merged(known[row.name], row) if known and row.name in known else row
    banner = (
        "// Operators of the torch dialect, from the schemas of all supported versions of PyTorch.\n"
        f"// Written by `{COMMAND}`: do not edit.\n"
        "// TORCH_OP(name, schema, functional counterpart, kinds of dtypes that it keeps, flags); TORCH_KNOWN_OP has the\n"
        "// same columns for operators that are no ops of the dialect and travel in torch.operator.\n\n"
    )
    lines = [table[name].text() for name in sorted(table)]
    return banner + "".join(lines) + "\n#undef TORCH_OP\n#undef TORCH_KNOWN_OP\n"


def main() -> int:
    """Command line; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the file and do not write it")
    parser.add_argument(
        "--explain", action="store_true", help="list in-place ops that got no counterpart, with reasons"
    )
    parser.add_argument("--aliases", action="store_true", help="list ops that alias without saying so")
    parser.add_argument("--all", action="store_true", help="with --aliases: of all of PyTorch, not only the dialect's")
    options = parser.parse_args()
    torch.set_num_threads(1)  # Threads do not survive the fork in `isolated`.
    if options.explain:
        for name, reason in rows()[1].items():
            print(f"{name}: {reason}")
        return 0
    if options.aliases:
        schemas = pytorch_schemas()
        for name in unannotated_aliases(schemas if options.all else registered_names()):
            print(name)
        return 0
    text = table_text(rows_of(TABLE.read_text()) if TABLE.exists() else None)
    if not options.check:
        TABLE.write_text(text)
        return 0
    if TABLE.read_text() == text:
        return 0
    print(f"{TABLE.name} is out of date: run `{COMMAND}`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
