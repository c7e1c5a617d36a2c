"""The key of an import: what the imported program depends on, found without importing it.

Two imports with the same key give the same program. The key has the TorchScript graphs of everything that the program
may call with their constants, the files that they come from (some messages and checks go by the user's text), the
module's attributes, what is visible of the examples (never the numbers in tensors), and PyTorch's settings. Of classes
it has the files that they and their bases come from. A program that depends on more, such as one that calls Python or
takes objects, has no key.
"""

from __future__ import annotations

import hashlib
import linecache
import logging
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from ...abi.surroundings import Surroundings
from ...options import ChangedSizes, ImportOptions
from ...semantics.tuple_key_ops import TUPLE_KEY_OP
from ..torchscript.models import OpenedModel, has_own_functions
from ..torchscript.python_classes import python_class

__all__ = ["import_key"]

_NAMESPACES = ("aten", "prim", "torchvision")
_MANGLED = re.compile(r"___torch_mangle_\d+\.")
_NUMBERED = re.compile(r"\b_ssa_compiler_(?:object|class|place)_\d+_\w+")
"""Names with numbers that are this process's own."""
_PLACE = re.compile(r" # (.+):\d+:\d+$", re.MULTILINE)
_PLAIN = (bool, int, float, complex, str, type(None))
_NAMED = (torch.dtype, torch.device, torch.layout, torch.memory_format)
_TYPES = frozenset(
    "AnyType BoolType ComplexType DeviceObjType DictType FloatType FunctionType GeneratorType IntType LayoutType ListType "
    "MemoryFormatType NoneType NumberType OptionalType ScalarTypeType StreamObjType StringType TensorType TupleType UnionType "
    "VarType".split()
)
_TORCH = f"{Path(torch.__file__).parent}{os.sep}"
_logger = logging.getLogger(__name__)


class _UnknownError(Exception):
    """The import depends on something that is in no key."""


def import_key(
    opened: OpenedModel, args: tuple[Any, ...], kwargs: dict[str, Any], options: ImportOptions
) -> str | None:
    """Return a digest of what an import depends on, None if that cannot be told.

    Args:
        opened: the model.
        args: positional examples.
        kwargs: keyword examples.
        options: what the front end is asked for.
    """
    if opened.looks or opened.signature is not None or isinstance(opened.owner, Surroundings):
        return None
    if torch._C._len_torch_function_stack() or torch._C._len_torch_dispatch_stack():
        return None
    try:
        values = _Values()
        graphs = _Graphs(opened, values)
        facts = [
            [opened.name, opened.method, sorted(opened.keyword_only), sorted(opened.defaults.items())],
            _settings(),
            [
                options.index_checks,
                options.lenient,
                options.kernels,
                options.exact_aliases,
                _sizes(options.dynamic_shapes),
            ],
            graphs.texts,
            sorted(place.text for place in opened.objects.values()),
            graphs.files(),
            _modules(opened, graphs, values),
            [values.of(args), values.of(kwargs)],
        ]
    except _UnknownError:
        return None
    except Exception as error:  # noqa: BLE001 - whatever it is, the program can be imported without a key
        _logger.debug("%s has no key: %s", opened.name, error)
        return None
    return hashlib.sha256(repr(facts).encode()).hexdigest()


class _Graphs:
    """The graphs of a program.

    Attributes:
        texts: each with its qualified name.
        attributes: the names of the attributes of modules that they read or assign.
    """

    def __init__(self, opened: OpenedModel, values: _Values) -> None:
        self._values = values
        self.texts: list[str] = []
        self.attributes: set[str] = set()
        self._files: set[str] = set()
        self._functions: set[str] = set()
        self._classes: set[str] = set()
        self._names: dict[str, str] = {}
        scripted = opened.scripted
        # Functions from a file are found in the graphs that call them, not by name.
        self._inlined = has_own_functions(scripted)
        modules = list(scripted.named_modules()) if isinstance(scripted, torch.jit.ScriptModule) else []
        self._module_types = {module._c._type().str() for _, module in modules}
        for path, module in modules:
            for name in module._c._method_names():
                self._add(f"{path}.{name}", module._c._get_method(name))
        if not modules:
            self._add("", scripted)
        for function in (opened.owner, *_methods(opened.owner)):
            if (code := getattr(function, "__code__", None)) is not None:
                self._files.add(code.co_filename)

    def _add(self, name: str, function: Any) -> None:
        graph = function.inlined_graph if self._inlined else function.graph
        text = str(graph)
        self._files |= set(_PLACE.findall(text))
        self.texts += [self._shown(name), self._shown(f"{function.schema}\n{text}")]
        for argument in function.schema.arguments:
            if argument.has_default_value():
                self.texts.append(repr(self._values.of(argument.default_value)))
        for node in _nodes(graph):
            self._add_node(node)

    def _shown(self, text: str) -> str:
        """Return a text in which made names have numbers by their first use."""
        names = self._names
        return _NUMBERED.sub(lambda found: names.setdefault(found[0], f"name {len(names)}"), _MANGLED.sub("", text))

    def _add_node(self, node: Any) -> None:
        kind = node.kind()
        is_known = kind.partition("::")[0] in _NAMESPACES or kind.startswith(TUPLE_KEY_OP)
        if not is_known or kind == "prim::PythonOp":
            raise _UnknownError(kind)
        if kind == "prim::CallMethod" and not self._is_module(owner := next(iter(node.inputs())).type()):
            self._add_function(f"{owner.annotation_str}.{node.s('name')}")
        if kind in ("prim::GetAttr", "prim::SetAttr", "prim::hasattr"):
            self.attributes.add(node.s("name"))
        for output in node.outputs():
            self._add_type(output.type())
        for name in node.attributeNames():
            self._add_attribute(node, name)

    def _add_attribute(self, node: Any, name: str) -> None:
        """Take note of what the text of a graph does not show of a constant."""
        kind = node.kindOf(name)
        if kind == "t":
            tensor = node.t(name)
            self.texts += [repr(self._values.of(tensor)), _contents(tensor)]
        elif kind in ("s", "ss"):  # in the text names of classes are left out, which strings may look like
            self.texts.append(repr(getattr(node, kind)(name)))
        elif kind == "ival":
            value = node.output().toIValue()
            self.texts.append(_plain(list(value) if isinstance(value, torch._C.ScriptList) else value))
        elif kind == "tys":
            for each in node.tys(name):
                self.texts.append(self._shown(each.str()))
                self._add_type(each)
        elif kind not in ("i", "is", "f", "fs", "c"):
            raise _UnknownError(kind)

    def _add_type(self, kind: Any) -> None:
        if kind.kind() == "ClassType":
            if not self._is_module(kind):
                self._add_class(kind)
            return
        if kind.kind() not in _TYPES:
            raise _UnknownError(kind.str())
        if kind.kind() == "FunctionType":
            if self._inlined:
                return
            self._add_function(kind.annotation_str)
            return
        for part in kind.containedTypes():
            self._add_type(part)

    def _is_module(self, kind: Any) -> bool:
        return kind.str() in self._module_types

    def _add_function(self, name: str) -> None:
        if name in self._functions:
            return
        function = torch.jit._state._python_cu.find_function(name)
        if function is None:
            raise _UnknownError(name)
        self._functions.add(name)
        self._add(name, function)

    def _add_class(self, kind: Any) -> None:
        """Take note of a class of the user's, or one that stands for one of them, or for dicts, lists and tuples."""
        name = kind.annotation_str
        if name in self._classes:
            return
        self._classes.add(name)
        own = python_class(name.removeprefix("__torch__."))
        if own is None:
            raise _UnknownError(name)
        made = {key: value for key, value in vars(own).items() if key.startswith("_ssa_compiler_")}
        self.texts.append(self._shown(f"{name} {own.__module__} {own.__qualname__} {made!r}"))
        for base in own.__mro__[:-1]:
            file = getattr(sys.modules.get(base.__module__), "__file__", None)
            if file is None:
                raise _UnknownError(base)
            self._files.add(file)
        for part in kind.containedTypes():
            self.texts.append(self._shown(part.str()))
            self._add_type(part)

    def files(self) -> list[tuple[str, str]]:
        """Return the digest of each file that has a part of the program, but for PyTorch's own."""
        found = []
        for name in sorted(self._files):
            if not name.startswith(_TORCH):
                linecache.checkcache(name)
                text = "".join(linecache.getlines(name))
                found.append((name, hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()))
        return found


def _nodes(block: Any) -> Iterator[Any]:
    """Iterate over the nodes of a graph or block and of the blocks in them."""
    for node in block.nodes():
        yield node
        for inner in node.blocks():
            yield from _nodes(inner)


def _methods(owner: Any) -> Iterator[Any]:
    """Iterate over the Python methods of a module's submodules."""
    if isinstance(owner, torch.nn.Module):
        for kind in {type(module) for module in owner.modules()}:
            for base in kind.__mro__:
                yield from vars(base).values()


def _plain(value: Any) -> str:
    """Return the text of a constant, which no other constant has."""
    if type(value) in (list, tuple):
        return f"{type(value).__name__}({', '.join(map(_plain, value))})"
    if type(value) is dict:
        return f"dict({', '.join(f'{_plain(key)}: {_plain(item)}' for key, item in value.items())})"
    if type(value) in _PLAIN or isinstance(value, _NAMED):
        return f"{type(value).__name__} {value!r}"
    raise _UnknownError(type(value))


def _contents(tensor: torch.Tensor) -> str:
    """Return a digest of the numbers in a tensor, in the order of its indices."""
    if tensor.device.type != "cpu":
        raise _UnknownError(tensor.device)
    dense = tensor.detach().resolve_conj().resolve_neg().clone(memory_format=torch.contiguous_format)
    return hashlib.sha256(bytes(dense.untyped_storage())).hexdigest()


class _Values:
    """Tells values apart as the importer can: tensors by metadata, objects and memory by which of them are the same."""

    def __init__(self) -> None:
        self._objects: dict[int, int] = {}
        self._storages: dict[int, int] = {}
        self._kept: list[Any] = []  # an address stays that of one object

    def of(self, value: Any) -> Any:
        """Return the text of an example, or of an attribute of a module.

        Raises:
            _UnknownError: it is of another kind.
        """
        if isinstance(value, torch.Tensor):
            return self._tensor(value)
        if isinstance(value, (torch._C.ScriptList, torch._C.ScriptDict)):
            raise _UnknownError(type(value))
        if type(value) in (list, tuple, dict):
            parts = [*value.values()] if type(value) is dict else value
            keys = [_plain(key) for key in value] if type(value) is dict else len(value)
            return [type(value).__name__, self.same(value), keys, [self.of(part) for part in parts]]
        return _plain(value)

    def same(self, value: Any) -> int:
        """Return a number of an object, as no other has it."""
        self._kept.append(value)
        return self._objects.setdefault(id(value), len(self._objects))

    def _tensor(self, tensor: torch.Tensor) -> Any:
        plain = type(tensor) in (torch.Tensor, torch.nn.Parameter) and tensor.layout is torch.strided
        if not plain or tensor.is_quantized or tensor.is_inference():
            raise _UnknownError(type(tensor))
        storage = tensor.untyped_storage()
        return [
            self.same(tensor),
            self._storages.setdefault(storage._cdata, len(self._storages)),
            storage.nbytes(),
            str(tensor.dtype),
            str(tensor.device),
            tuple(tensor.shape),
            tensor.stride(),
            tensor.storage_offset(),
            (tensor.requires_grad, tensor.is_leaf, tensor.is_conj(), tensor.is_neg(), type(tensor).__name__),
        ]


def _modules(opened: OpenedModel, graphs: _Graphs, values: _Values) -> list[Any]:
    """Return what the program may see of the module's attributes."""
    if not isinstance(opened.scripted, torch.jit.ScriptModule):
        return []
    found: list[Any] = []
    owner = opened.owner
    dtypes = sorted(
        name
        for function in (owner, *owner.modules())
        for name, value in vars(function).items()
        if type(value) is torch.dtype
    )
    found.append(dtypes)
    for path, module in opened.scripted.named_modules(remove_duplicate=False):
        found.append([path, values.same(module), module.training])
        for name in sorted(graphs.attributes):
            if not module._c.hasattr(name):
                continue
            value = module._c.getattr(name)
            if isinstance(value, torch._C.ScriptModule):
                continue
            own: Any = owner
            for part in f"{path}.{name}".strip(".").split("."):
                own = getattr(own, part, None)
            found.append([name, values.of(_listed(value)), values.of(own) if not isinstance(own, torch.Tensor) else 0])
    return found


def _listed(value: Any) -> Any:
    """Return a list or dict of TorchScript's as one of Python's."""
    if isinstance(value, torch._C.ScriptList):
        return list(value)
    return dict(value.items()) if isinstance(value, torch._C.ScriptDict) else value


def _sizes(requests: Any) -> str:
    """Return the text of `dynamic_shapes`."""
    if isinstance(requests, dict):
        return f"dict({', '.join(f'{_plain(key)}: {_sizes(item)}' for key, item in requests.items())})"
    if isinstance(requests, (list, tuple)):
        return f"{type(requests).__name__}({', '.join(map(_sizes, requests))})"
    if isinstance(requests, ChangedSizes):
        return repr(requests)
    if type(requests).__module__ == "torch.export.dynamic_shapes":
        root = getattr(requests, "root", requests)
        facts = [type(requests).__name__, getattr(requests, "__name__", repr(requests)), getattr(root, "__name__", "")]
        return repr([*facts, *(getattr(part, end, None) for part in (requests, root) for end in ("min", "max"))])
    return _plain(requests)


def _settings() -> list[str]:
    """Return PyTorch's settings that decide what is imported."""
    devices = ("cpu", "cuda")
    settings: list[Any] = [
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.are_deterministic_algorithms_enabled(),
        torch.is_deterministic_algorithms_warn_only_enabled(),
        [(torch.is_autocast_enabled(device), torch.get_autocast_dtype(device)) for device in devices],
        torch._C._get_math_sdp_enabled(),
        torch._C._get_flash_sdp_enabled(),
        torch._C._get_mem_efficient_sdp_enabled(),
        torch._C._get_mkldnn_enabled(),
        torch._C._get_cudnn_enabled(),
        torch.get_float32_matmul_precision(),
        getattr(sys.modules.get("torchvision"), "__version__", None),
    ]
    return [repr(setting) for setting in settings]
