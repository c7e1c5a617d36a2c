"""Run-time checks of the numbers in tensors, as eager makes them: indices are in range, integers are not divided by 0.

Compiled code would read or write outside of the tensor, or somewhere else in it, and divide to some number. The table
says for each op which argument holds indices, along which dimension, whether negative ones count from the end, and what
eager raises; a test compares each entry with eager.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import sympy
import torch
from torch.utils._python_dispatch import _disable_current_modes

from ...errors import eager_error_name
from ..values.symbols import expr_of

__all__ = ["Check", "bag_offsets", "checks", "demands", "divides_integers", "equal_sizes", "is_checked"]


@dataclass(frozen=True)
class Check:
    """All numbers of `tensor` have to be in [low, high), those that are no integers in [low, high - 1], or equal to
    `ignored`.

    Attributes:
        tensor: the index tensor, a FakeTensor.
        low: 0, or minus the size.
        high: the size, an int or a symbolic expression.
        message: "ExceptionName: text".
        ignored: a number that is no index, an int or a symbol; None if there is none.
        excluded: a number that is rejected, whatever the bounds; None if there is none.
        unread: a symbolic condition under which eager looks at none of the numbers, as there are no elements to index.
        argument: which argument of the op the tensor is, or the list that it is in.
        position: where in a list of indices the tensor is: one tensor may index several dimensions.
        counted: the sizes that a mask is expanded to; that at which it holds is counted, and the count is the number.
    """

    tensor: torch.Tensor
    low: Any
    high: Any
    message: str
    ignored: int | torch.SymInt | None = None
    excluded: int | None = None
    unread: Any = sympy.false
    argument: int = 1
    position: int = 0
    counted: tuple[Any, ...] | None = None

    @property
    def names_elements(self) -> bool:
        """Whether each of the numbers says where something is read or written."""
        return self.ignored is None and self.excluded is None and self.counted is None


@dataclass(frozen=True)
class _Rule:
    index: str
    size: Callable[[dict[str, Any]], Any]
    message: str
    negative: bool = False
    asked: bool = False
    """Whether what eager raises depends on sizes and strides, so that it is asked."""
    of_vectors: str = ""
    """The message for tensors of up to one dimension, where it is another one and eager cannot be asked."""
    unread: Callable[[dict[str, Any]], Any] = lambda arguments: sympy.false
    """When eager looks at no index."""
    counted: Callable[[dict[str, Any]], tuple[Any, ...]] | None = None


def _along_dim(arguments: dict[str, Any]) -> Any:
    tensor = arguments["self"]
    return tensor.shape[arguments["dim"]] if tensor.dim() else 1


def _numel(arguments: dict[str, Any]) -> Any:
    return arguments["self"].numel()


def _product(sizes: Iterable[Any]) -> Any:
    return math.prod(map(expr_of, sizes), start=sympy.Integer(1))


def _empty_slices(arguments: dict[str, Any]) -> Any:
    """Whether an index along a dimension stands for no element."""
    tensor = arguments["self"]
    along = arguments["dim"] % tensor.dim() if tensor.dim() else 0
    return sympy.Eq(_product(size for dim, size in enumerate(tensor.shape) if dim != along), 0)


def _empty_rows(arguments: dict[str, Any]) -> Any:
    """The same for `index_add`, which looks at the indices of a vector even if it has no elements."""
    tensor = arguments["self"]
    return sympy.Eq(_product(tensor.shape), 0) if tensor.dim() > 1 else sympy.false


def _rows(arguments: dict[str, Any]) -> Any:
    return arguments["weight"].shape[0]


def _classes(arguments: dict[str, Any]) -> Any:
    tensor = arguments["self"]
    return tensor.shape[1 if tensor.dim() > 1 else 0]


def _unpooled(arguments: dict[str, Any]) -> Any:
    """How many elements a plane has after unpooling."""
    return math.prod(expr_of(size) for size in arguments["output_size"])


def _any(arguments: dict[str, Any]) -> Any:
    return 2**62


def _ends_at_one(arguments: dict[str, Any]) -> Any:
    return 2


def _source_numel(arguments: dict[str, Any]) -> Any:
    """How often a mask may hold, and one more."""
    return expr_of(arguments["source"].numel()) + 1


def _masked_sizes(arguments: dict[str, Any]) -> tuple[Any, ...]:
    """The sizes that a mask and what it masks are expanded to."""
    one, other = (tuple(map(expr_of, arguments[name].shape)) for name in ("self", "mask"))
    pairs = zip_longest(reversed(one), reversed(other), fillvalue=sympy.Integer(1))
    return tuple(second if first == 1 else first for first, second in pairs)[::-1]


def _source_suffices(arguments: dict[str, Any]) -> Any:
    return sympy.Le(_product(_masked_sizes(arguments)), expr_of(arguments["source"].numel()))


def _class_count(arguments: dict[str, Any]) -> Any:
    """One more than the largest class, whatever that is, where -1 is given."""
    count = arguments["num_classes"]
    return 2**62 if isinstance(count, int) and count == -1 else count


_OUT = "index is out of bounds for the dimension"
_RULES: dict[str, _Rule] = {
    "embedding": _Rule("indices", _rows, "IndexError: index out of range in self"),
    "embedding_bag": _Rule("indices", _rows, "RuntimeError: index is not in the valid range"),
    "_embedding_bag": _Rule("indices", _rows, "RuntimeError: index is not in the valid range"),
    "_embedding_bag_forward_only": _Rule("indices", _rows, "RuntimeError: index is not in the valid range"),
    "gather": _Rule("index", _along_dim, f"RuntimeError: {_OUT}"),
    "scatter": _Rule("index", _along_dim, f"RuntimeError: {_OUT}"),
    "scatter_add": _Rule("index", _along_dim, f"RuntimeError: {_OUT}"),
    "scatter_reduce": _Rule("index", _along_dim, f"RuntimeError: {_OUT}"),
    "index_select": _Rule("index", _along_dim, "IndexError: index out of range in self"),
    "index_add": _Rule(
        "index",
        _along_dim,
        f"RuntimeError: {_OUT}",
        asked=True,
        of_vectors="IndexError: index out of range in self",
        unread=_empty_rows,
    ),
    "index_copy": _Rule("index", _along_dim, f"IndexError: {_OUT}", unread=_empty_slices),
    "index_reduce": _Rule("index", _along_dim, "IndexError: index out of range in self"),
    "index_fill": _Rule("index", _along_dim, f"IndexError: {_OUT}", negative=True, unread=_empty_slices),
    "take": _Rule("index", _numel, "IndexError: out of range: tried to access an element that is not there", True),
    "put": _Rule("index", _numel, "IndexError: out of range: tried to access an element that is not there", True),
    "masked_scatter": _Rule(
        "mask",
        _source_numel,
        "RuntimeError: Number of elements of source < number of ones in mask",
        unread=_source_suffices,
        counted=_masked_sizes,
    ),
    "one_hot": _Rule(
        "self", _class_count, "RuntimeError: Class values must be non-negative and smaller than num_classes."
    ),
    "bincount": _Rule("self", _any, "RuntimeError: bincount only supports 1-d non-negative integral inputs."),
    "quantile": _Rule("q", _ends_at_one, "RuntimeError: quantile() q values must be in the range [0, 1]"),
    "nanquantile": _Rule("q", _ends_at_one, "RuntimeError: quantile() q values must be in the range [0, 1]"),
    "max_unpool2d": _Rule("indices", _unpooled, "RuntimeError: Found an invalid max index"),
    "max_unpool3d": _Rule("indices", _unpooled, "RuntimeError: Found an invalid max index"),
    "nll_loss_forward": _Rule("target", _classes, "IndexError: Target is out of bounds."),
    "nll_loss2d_forward": _Rule("target", _classes, "IndexError: Target is out of bounds."),
}
_LARGEST_PROBE = 1 << 20  # elements
_DIVISIONS = ("div", "floor_divide", "fmod", "remainder")
_DIVIDED = "RuntimeError: ZeroDivisionError"
_CONVOLUTIONS = ("convolution", *(f"conv{kind}{rank}d" for kind in ("", "_transpose") for rank in (1, 2, 3)))
_OF_SIZES = ("pixel_unshuffle", *_CONVOLUTIONS)
# What eager raises for another number of indices than the source has slices.
_ALONG = {"index_add": "RuntimeError", "index_copy": "IndexError", "index_reduce": "RuntimeError"}
_LISTS = ("index", "index_put", "_index_put_impl", "_unsafe_index", "_unsafe_index_put")


def _name(op: Any) -> str:
    name: str = op._schema.name.partition("::")[2]
    return name[:-1] if op._schema.is_mutable and name.endswith("_") else name


def is_checked(op: Any) -> bool:
    """Whether an op takes index tensors, divisors, or sizes that are checked."""
    return op.namespace == "aten" and any(_name(op) in names for names in (_RULES, _LISTS, _DIVISIONS, _OF_SIZES))


def divides_integers(op: Any, arguments: dict[str, Any]) -> bool:
    """Whether an op divides integers by integers, and rounds.

    Args:
        op: an OpOverload.
        arguments: Python values, symbols and FakeTensors by the names of its schema.
    """
    if _name(op) not in _DIVISIONS or (_name(op) == "div" and arguments.get("rounding_mode") is None):
        return False
    operands = [arguments["self"], arguments["other"]]
    return not any(
        value.dtype.is_floating_point or value.dtype.is_complex
        if isinstance(value, torch.Tensor)
        else isinstance(value, (float, torch.SymFloat))
        for value in operands
    )


def checks(op: Any, args: Sequence[Any]) -> Iterator[Check]:
    """Yield what an op demands of its index tensors, or of its divisors.

    Args:
        op: an OpOverload for which `is_checked` holds.
        args: one Python value per schema argument, FakeTensors for tensors.
    """
    arguments = {argument.name: value for argument, value in zip(op._schema.arguments, args)}
    if _name(op) in _DIVISIONS:
        if isinstance(arguments["other"], torch.Tensor) and divides_integers(op, arguments):
            most = sympy.Integer(2**63)
            yield Check(arguments["other"], -most, most, _DIVIDED, excluded=0)
        return
    if _name(op) in _LISTS:
        yield from _of_list(arguments["self"], arguments["indices"])
        return
    if (rule := _RULES.get(_name(op))) is None:
        return
    if not isinstance(arguments[rule.index], torch.Tensor):
        return  # a number, of which FakeTensors ask it
    size = expr_of(rule.size(arguments))
    low = -size if rule.negative else sympy.Integer(0)
    message = rule.of_vectors if rule.of_vectors and arguments["self"].dim() <= 1 else rule.message
    message = (rule.asked and _raised(op, args, arguments[rule.index])) or message
    ignored = arguments.get("ignore_index")
    counted = rule.counted(arguments) if rule.counted is not None else None
    unread, place = rule.unread(arguments), list(arguments).index(rule.index)
    if (offsets := bag_offsets(op, args)) is not None:
        text = "RuntimeError: offsets[-1] can not be greater than input's length"
        most = expr_of(arguments["indices"].shape[0]) + 1
        yield Check(args[offsets], sympy.Integer(0), most, text, argument=offsets)
    yield Check(arguments[rule.index], low, size, message, ignored, unread=unread, argument=place, counted=counted)


def bag_offsets(op: Any, args: Sequence[Any]) -> int | None:
    """Return which argument says where bags begin whose sums are computed natively: from 0 on, in order.

    Where bags are reduced to something else, or the last offset is an end, the op runs in PyTorch, which checks.

    Args:
        op: an OpOverload.
        args: one Python value per schema argument, FakeTensors for tensors.
    """
    names = [argument.name for argument in op._schema.arguments]
    if _name(op) != "embedding_bag":
        return None
    named = dict(zip(names, args))
    sums = named["mode"] == 0 and named["include_last_offset"] is False and named.get("padding_idx") is None
    return names.index("offsets") if sums and named["indices"].dim() == 1 else None


def demands(op: Any, args: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    """Yield what an op demands of sizes and counts, and FakeTensors do not: conditions, with what eager raises."""
    named = {argument.name: value for argument, value in zip(op._schema.arguments, args)}
    if _name(op) == "bincount":
        yield sympy.Ge(expr_of(named["minlength"]), 0), "RuntimeError: minlength should be >= 0"
        if named["weights"] is not None and (elements := _product(named["self"].shape)).free_symbols:
            # Eager returns zeros of int64 then, whatever the weights are.
            yield sympy.Gt(elements, 0), "unsupported: bincount with weights of a dynamic size that is 0"
    if _name(op) == "pixel_unshuffle" and (elements := _product(named["self"].shape)).free_symbols:
        # Eager returns the tensor as it is then, with its own sizes.
        yield sympy.Gt(elements, 0), "unsupported: pixel_unshuffle of a tensor of dynamic sizes that has no elements"
    if _name(op) in _CONVOLUTIONS:
        yield from _of_convolution(named["input"].shape, named["weight"].shape)
    if _name(op) == "put":
        counts = (expr_of(named[name].numel()) for name in ("source", "index"))
        yield sympy.Eq(*counts), "IndexError: put_(): Expected source and index to have the same number of elements"


def _of_convolution(image: Sequence[Any], weight: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    """What a convolution demands of sizes that are dynamic: of an empty batch no pixels are needed."""
    is_empty = sympy.Eq(expr_of(image[0]), 0)
    for sizes, unless, message in (
        (image[2:], is_empty, "RuntimeError: Only zero batch or zero channel inputs are supported"),
        (weight[2:], sympy.false, "RuntimeError: kernel size should be greater than zero"),
        # Whether eager raises depends on how many dimensions there are, and which of them is 0.
        (
            [image[1], *weight[:2]],
            sympy.false,
            "unsupported: a convolution with a dynamic number of channels that is 0",
        ),
    ):
        if (elements := _product(sizes)).free_symbols:
            yield sympy.Or(unless, sympy.Gt(elements, 0)), message


def equal_sizes(op: Any, args: Sequence[Any]) -> Iterator[tuple[Any, str]]:
    """Yield which sizes an op takes to be equal, without that FakeTensors ask: relations, with the class of eager's
    error.

    Args:
        op: an OpOverload for which `is_checked` holds.
        args: one Python value per schema argument, FakeTensors for tensors.
    """
    error = _ALONG.get(_name(op))
    if error is None:
        return
    named = {argument.name: value for argument, value in zip(op._schema.arguments, args)}
    tensor, source = named["self"], named["source"]
    if tensor.dim() != source.dim() or not tensor.dim():
        return  # FakeTensors ask, or both are scalars
    along = named["dim"] % tensor.dim()
    for number, (size, other) in enumerate(zip(tensor.shape, source.shape)):
        if number != along:
            yield sympy.Eq(expr_of(size), expr_of(other)), "RuntimeError"
    yield sympy.Eq(_product(named["index"].shape), expr_of(source.shape[along])), error


def _raised(op: Any, args: Sequence[Any], index: torch.Tensor) -> str | None:
    """What eager raises for an index of -1; None if sizes are not known, or large."""
    tensors = [value for value in args if isinstance(value, torch.Tensor)]
    numbers = [number for tensor in tensors for number in (*tensor.shape, *tensor.stride())]
    if not all(type(number) is int for number in numbers) or sum(map(torch.numel, tensors)) > _LARGEST_PROBE:
        return None

    def real(value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype).fill_(-1 if value is index else 0)

    given = zip(op._schema.arguments, map(real, args))
    with _disable_current_modes(), torch.no_grad():
        named = list(given)
        try:
            op(*[v for a, v in named if not a.kwarg_only], **{a.name: v for a, v in named if a.kwarg_only})
        except (IndexError, RuntimeError) as error:
            return f"{eager_error_name(error)}: {error}"
    return None


def _of_list(tensor: torch.Tensor, indices: Sequence[torch.Tensor | None]) -> Iterator[Check]:
    numbers: list[tuple[int, int, torch.Tensor]] = []
    dim, whole = 0, []
    for position, index in enumerate(indices):
        if index is not None and index.dtype in (torch.bool, torch.uint8):
            dim += index.dim()
            continue
        if index is None:
            whole.append(tensor.shape[dim])
        else:
            numbers.append((position, dim, index))
        dim += 1
    sizes = [expr_of(tensor.shape[dim]) for _, dim, _ in numbers]
    # Eager looks at no index if each of them stands for no element, or if no position is asked for.
    unread = sympy.And(sympy.Eq(_product([*whole, *tensor.shape[dim:]]), 0), *(sympy.Gt(size, 0) for size in sizes))
    unread = sympy.Or(unread, *(sympy.Eq(_product(index.shape), 0) for _, _, index in numbers))
    for (position, dim, index), size in zip(numbers, sizes):
        text = f"IndexError: index is out of bounds for dimension {dim}"
        yield Check(
            index,
            -size,
            size,
            text + (f" with size {size}" if size.is_Integer else ""),
            unread=unread,
            position=position,
        )
