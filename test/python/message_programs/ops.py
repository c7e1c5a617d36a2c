"""Programs that are rejected for an op: which one, of what, or with what."""

import functools
import math
from typing import Any, Union

import torch
from torch import Tensor

from .registry import X, rejected


@rejected([1], [1], X, says="'is' on two lists, dicts or objects among the arguments; call it")
def is_of_lists(a: list[int], b: list[int], x: Tensor):
    if a is b:  # rejected
        return x
    return x + 1


@rejected([1], X, says="'is' on lists, dicts or objects that control flow chose or that belong to a module; call it")
def is_of_chosen_lists(a: list[int], x: Tensor):
    b = [2]
    c = a
    if x.sum() > 0:
        c = b
    if a is c:  # rejected
        return x
    return x + 1


@rejected(2, 3, X, says="'is' on anything but None, tensors, lists, dicts and objects; call it")
def is_of_numbers(a: int, b: int, x: Tensor):
    if a is b:  # rejected
        return x
    return x + 1


@rejected(X, X + 1, 2, says="'is' on tensors that control flow chose; call it")
def is_of_chosen(x: Tensor, y: Tensor, n: int):
    z = x
    if n > 1:
        z = y
    if z is x:  # rejected
        return x + 1
    return z


@torch.library.custom_op("messages::broken_kernel", mutates_args=("x",))
def broken_kernel(x: Tensor) -> None:
    x.add_(1)


@broken_kernel.register_fake
def _broken_kernel(x: Tensor) -> None:
    x.no_such_attribute()


@rejected(X, says="messages::broken_kernel, whose kernel for FakeTensors raised AttributeError: .*; correct the kernel")
def calls_broken_kernel(x: Tensor):
    y = x * 2
    torch.ops.messages.broken_kernel(y)  # rejected
    return y


@rejected(X, says=r"Python's round of a tensor, which has none; write x.round\(\)")
def rounded_as_a_number(x: Tensor) -> Tensor:
    return round(x)  # rejected


@rejected(X, says=r"Python's max of a tensor, which goes through its rows one by one; write x.max\(\)")
def greatest_row(x: Tensor):
    y = max(x)  # rejected
    return (x + 1).t_(), y


@rejected(X, says="aten::bitwise_not on the number that Python's any, all or sum makes of a tensor; write x.any")
def bits_of_truth(x: Tensor):
    return ~any(x[0])  # rejected


@rejected(X, says=r"math.sqrt of a tensor, which is a number; write float\(x\)")
def roots_of_tensor(x: Tensor):
    y = x.clone().t_()  # which partial evaluation does not take
    return math.sqrt(y.sum())  # rejected


@rejected(X, says="TorchScript does not know view with a dtype.*; to convert the elements, use to")
def view_dtype(x: Tensor):
    return x.view(torch.int32)  # rejected


@rejected(X, says="aten::detach_ of a view, which eager rejects as well; use detach")
def detach_view(x: Tensor):
    y = x.clone()[0]
    y.detach_()  # rejected
    return y


@rejected(X, says=r"requires_grad_\(True\); compiled programs do not record gradients")
def asks_for_grad(x: Tensor):
    y = x.clone()
    y.requires_grad_(True)  # rejected
    return y


@rejected(X, says="is_contiguous with a memory format; call it")
def asks_for_format(x: Tensor):
    if x.is_contiguous(memory_format=torch.channels_last):  # rejected
        return x
    return x + 1


@rejected(X, X, says="set_data, which gives a tensor the storage of another one; make a new one")
def takes_the_data(x: Tensor, y: Tensor):
    torch.ops.aten.set_data(x, y)  # rejected
    return x


@rejected(X, X, says="set_.* shape or storage of a tensor in place; make a new one")
def takes_another_storage(x: Tensor, y: Tensor):
    x.set_(y)  # rejected
    return x


@rejected(X, says="resize_ of a tensor whose storage is not known; clone.. it first")
def resizes_in_memory_order(x: Tensor):
    y = x.t().clone()
    y.resize_(2, 3)  # rejected
    return y


@rejected(
    torch.zeros(8)[:4], says="resize_ of a part of a larger tensor, beyond what its storage holds; clone.. it first"
)
def resizes_a_part(x: Tensor):
    x.resize_(9)  # rejected
    return x


@rejected(X, says="detach_ of a tensor of the caller's or the module's; use detach")
def detaches(x: Tensor):
    return x.detach_()  # rejected


@rejected(
    X, 2, says="t_, which changes a tensor object that comes from outside of the branch.*; use the op without the"
)
def transposes(x: Tensor, n: int):
    if n > 2:
        x.t_()  # rejected
    return x


@rejected(X, says="whose result is a tensor of layout torch.sparse_coo; call it")
def to_sparse(x: Tensor):
    return x.to_sparse().sum()  # rejected


@rejected(X, says="aten::diagonal with a dynamic 'offset'; call it")
def diagonal_from_data(x: Tensor):
    return x.diagonal(int(x.argmax()) // 100)  # rejected


@rejected(X, says="aten::dropout with a dynamic float; call it")
def probability_from_data(x: Tensor):
    return torch.dropout(x, float(x[0, 0]), False)  # rejected


@rejected(X, says="aten::chunk, whose result depends on dynamic scalars; call it")
def chunks_of_data(x: Tensor):
    return x[: int(x.argmax())].chunk(2)[0]  # rejected


@rejected(X, 2, says="aten::trace with dynamic values: .*; call it")
def trace_of_part(x: Tensor, n: int):
    return x[:n].trace()  # rejected


@rejected(X, says="aten::to.dtype with the dtype that PyTorch numbers 99; call it")
def unknown_dtype(x: Tensor):
    return x.to(99)  # rejected


@rejected(torch.ones(2, dtype=torch.complex64), says="item of a complex tensor; call it")
def complex_item(x: Tensor):
    return x[0].item()  # rejected


@rejected(X, 2, says="on a string that depends on run-time values; call it")
def compares_text(x: Tensor, n: int):
    if f"{n}" == "3":  # rejected
        return x
    return x + 1


@rejected(X, 2, says="on run-time scalars; call it")
def scalar_op(x: Tensor, n: int):
    return x + hash(n)  # rejected


@rejected(torch.ones(17), says="aten::sorted on more than 16 dynamic scalars; use torch.sort")
def sorts_many_numbers(x: Tensor):
    numbers: list[float] = x.tolist()
    return sorted(numbers)  # rejected


@rejected(X, says="a list that is sorted in a dynamic order; use an if")
def sorts_either_way(x: Tensor):
    numbers = [1, 2]
    numbers.sort(bool(x[0, 0] > 0))  # rejected
    return numbers


@rejected(X, says="aten::sorted on a list with NaN; call it")
def sorts_nan(x: Tensor):
    return sorted([float("nan"), float(x[0, 0])])  # rejected


@rejected(
    X, says="aten::count that compares two NaNs in a list, which are equal if they are one object: ask math.isnan; call"
)
def counts_nan(x: Tensor):
    return [float("nan")].count(float("nan"))  # rejected


@rejected(X, says="max of lists with dynamic elements; call it")
@torch.jit.script
def larger_list(x: Tensor):
    return max([float(x[0, 0])], [1.0])  # rejected


@rejected([X.sum(), X.max()], says="aten::sort on a list of other things than numbers and strings; call it")
def sorts_tensors(items: list[Tensor]):
    items.sort()  # rejected
    return items


@rejected(X, says="a list of 131072 elements; use a tensor")
def long_list(x: Tensor):
    return [1, 2] * 65536  # rejected


@rejected(X, says="NaN as a dict key, which is found if it is the same object; use another key")
def nan_as_key(x: Tensor):
    return {1.0: x}[float("nan")]  # rejected


@rejected(X, says="values\\(\\) of a dict as a result; return list\\(d.values\\(\\)\\)")
def returns_a_view(x: Tensor):
    return {1: x}.values()  # rejected


@rejected(
    X, says=r"a list or dict that changes its length while a for loop goes through it; go through a copy, list\(...\)"
)
def goes_through_what_it_changes(x: Tensor):
    items = [1]
    for item in items:  # rejected
        items.append(item)
    return items


@rejected(torch.ones(2), says=r"tolist of a tensor that makes a List\[float\]; annotate it so")
def tolist_of_another_type(x: Tensor):
    y = (x + 1).t_()  # rejected
    numbers: list[int] = y.tolist()
    return numbers


@rejected(torch.ones(2, 50), says=r"tolist of a tensor with dimensions and more than 64 elements; flatten\(\) it")
def tolist_of_many(x: Tensor):
    y = x + 1  # rejected
    numbers: list[list[float]] = y.tolist()
    return numbers


@rejected(X, 2, says="aten::join on a list with dynamic elements; call it")
def joins_texts(x: Tensor, n: int):
    print(",".join([f"{n}", "a"]))  # rejected
    return x


@rejected(X, 2, says="aten::count on a list whose length depends on run-time values; stack it first")
def counts_in_growing(x: Tensor, n: int):
    items = [x]
    for i in range(n):
        items.append(x * i)
    return x + items.count(x)  # rejected


@rejected(X, 2, says="aten::eq on a list whose length depends on run-time values; (stack it first|call it)")
def compares_with_growing(x: Tensor, n: int):
    items = [x]
    for i in range(n):
        items.append(x * i)
    first = [x]
    if first == items:  # rejected
        return x
    return x + 1


@rejected(X, says=r"an argument of type List\[number\]; call it")
def lists_numbers(x: Tensor):
    numbers: list[Union[int, float, complex]] = [1, 2.0]  # noqa: UP007 - TorchScript
    return torch._foreach_add([x, x], numbers)  # rejected


@rejected([X, X], X, says=r"aten::index that compares elements \(tensor\) of a list; call it")
def index_of_tensor(items: list[Tensor], x: Tensor):
    return x + items.index(x)  # rejected


@torch.jit.ignore
def say(text: str, x: Tensor) -> None:
    pass


@torch.jit.ignore
def adds_to_both(x: Tensor, y: Tensor) -> None:
    x.add_(y)


@torch.jit.ignore
def needs_numbers(x: Tensor) -> Tensor:
    return torch.ones(int(1 / float(x[0, 0])))


@rejected(X, 2, says="'say', which is given a dynamic string; pass tensors, numbers, strings")
def ignored_text(x: Tensor, n: int):
    say(f"{n}", x)  # rejected
    return x


@rejected(X, says="'adds_to_both', which may write arguments that share memory; pass one of them")
def ignored_writes(x: Tensor):
    y = x.clone()
    adds_to_both(y, y[0])  # rejected
    return y


@rejected(X, says="'needs_numbers', whose result has to be known at import.*; make it a torch.library.custom_op")
def ignored_shape(x: Tensor):
    return needs_numbers(x)  # rejected


LIBRARY = torch.library.Library("messages", "DEF")
"""Operators that do what no operator of PyTorch does."""


def operator(schema: str, function: Any, *kinds: str) -> None:
    """Define an operator; one that its kernels are not seen in has kernels of several kinds."""
    name = LIBRARY.define(schema)
    for kind in kinds or ("CompositeImplicitAutograd",):
        LIBRARY.impl(name, function, kind)


operator("named(Tensor x, str name) -> Tensor", lambda x, name: x + len(name), "CPU", "Meta")
operator("lists(Tensor x) -> int[]", lambda x: [1, 2], "CPU", "Meta")
operator("writes(Tensor(a!) x) -> int", lambda x: 3, "CPU", "Meta")
operator("unseen(Tensor x) -> Tensor", lambda x: x + 1, "CPU")
operator("text(str x) -> str", lambda x: x + "!", "CompositeExplicitAutograd")

COMPOSITES = torch.library.Library("prims", "FRAGMENT")
"""Operators that consist of others. They stand for ones of PyTorch's, which are decomposed; those of others are not."""
COMPOSITES.define("roots(Tensor x) -> Tensor")
COMPOSITES.impl("roots", lambda x: x * (x.shape[0] ** 0.5 / 3), "CompositeImplicitAutograd")
COMPOSITES.define("masks(Tensor x) -> Tensor")
COMPOSITES.impl("masks", lambda x: x.new_zeros([x.shape[0] & 3]), "CompositeImplicitAutograd")


@rejected(X, 2, says="an op on a dynamic string; call it")
def name_from_number(x: Tensor, n: int):
    return torch.ops.messages.named(x, f"{n}")  # rejected


@rejected(X, says="messages::unseen, of which nothing says what its results look like; .*torch.library.register_fake")
def without_fake_kernel(x: Tensor):
    return torch.ops.messages.unseen(x)  # rejected


@rejected(X, says="messages::text, whose result is neither a number nor a tensor, .* another one at each call; call it")
def text_of_operator(x: Tensor):
    return x + len(torch.ops.messages.text("a"))  # rejected


@rejected(X, says="aten::set_grad_enabled, which does more than compute a result; call it")
def sets_grad_mode(x: Tensor):
    torch.set_grad_enabled(True)  # rejected
    return x + 1


@rejected(X, says="aten::zeros on meta; the arguments of the program are on cpu")
def on_another_device(x: Tensor):
    return x + torch.zeros(2, device="meta")  # rejected


def doubled(function: Any) -> Any:
    @functools.wraps(function)
    def call(x: Tensor) -> Tensor:
        return function(x) * 2

    return call


@rejected(X, says="a decorator of 'decorated', which TorchScript leaves out; call what it wraps")
@doubled
def decorated(x: Tensor):
    return x + 1  # rejected


@rejected(X, says="is_inference, as compiled code makes no inference tensors; ask")
def asks_for_inference(x: Tensor):
    return (x + 1).is_inference()  # rejected
