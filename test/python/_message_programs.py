"""One small program for each message of the importer; `messages_test.py` imports them and looks at what is raised.

The line that the message is about ends in `# rejected`. Annotations are evaluated, as TorchScript reads those of ignored
functions as they are.
"""

import functools
import math
from typing import Any, NamedTuple, Union

import torch
from torch import Tensor, nn

X = torch.arange(12.0).reshape(4, 3)
PROGRAMS: list[tuple[Any, tuple[Any, ...], str]] = []
"""Program, example arguments, and a part of the message."""


def rejected(*args: Any, says: str) -> Any:
    """Note a program, and the message that it is rejected with."""

    def note(program: Any) -> Any:
        PROGRAMS.append((program, args, says))
        return program

    return note


# Ops. ----------------------------------------------------------------------------------------------------------------


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


@rejected(X, says=r"math.sqrt of a tensor, which is a number; write float\(x\)")
def roots_of_tensor(x: Tensor):
    return math.sqrt(x.sum())  # rejected


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
    y = x + 1  # rejected
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


@rejected(X, 2, says="on a list whose length depends on run-time values; (stack it first|call it)")
def sorts_growing(x: Tensor, n: int):
    items = [1]
    for i in range(n):
        items.append(i)
    items.sort()  # rejected
    return x + items[0]


@rejected(X, 2, says="aten::count on a list whose length depends on run-time values; stack it first")
def counts_in_growing(x: Tensor, n: int):
    items = [1]
    for i in range(n):
        items.append(i)
    return x + items.count(1)  # rejected


@rejected(X, 2, says="aten::eq on a list whose length depends on run-time values; (stack it first|call it)")
def compares_with_growing(x: Tensor, n: int):
    items = [1]
    for i in range(n):
        items.append(i)
    first = [1]
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


@rejected(X, says="a Generator, a stream of random numbers of its own; use torch.manual_seed")
def own_generator(x: Tensor):
    return x + torch.rand(2, generator=torch.Generator())  # rejected


@rejected(X, says="messages::lists, whose result is a list of numbers; call it")
def list_of_numbers(x: Tensor):
    return x + torch.ops.messages.lists(x)[0]  # rejected


@rejected(X, says="messages::writes, which writes tensors and returns something other than tensors; call it")
def writes_and_counts(x: Tensor):
    y = x.clone()
    return y + torch.ops.messages.writes(y)  # rejected


@rejected(X, 2, says="a number computed from sizes as .*; compute it with")
def root_of_size(x: Tensor, n: int):
    return torch.ops.prims.roots(x[:n])  # rejected


@rejected(X, 2, says="a size that depends on the run-time value .*; compute it with")
def bits_of_size(x: Tensor, n: int):
    return torch.ops.prims.masks(x[:n])  # rejected


@rejected(X, 2, says="a result that is a dynamic string; return tensors")
def returns_text(x: Tensor, n: int):
    return x, f"{n}"  # rejected


@rejected(X, 2, says="a dynamic dict key; use constants as keys")
def dict_key(x: Tensor, n: int):
    return {n: x}[n]  # rejected


@rejected(X, 2, says="with a dynamic index or key; use a constant, or stack the elements")
def dict_access(x: Tensor, n: int):
    d = {1: x, 2: x + 1}
    return d[n]  # rejected


@rejected(X, 1, says="a dynamic dimension number; use a constant, or an if for each")
def dimension(x: Tensor, n: int):
    return x.stride(n)  # rejected


@rejected(X, 2, says="a new dict key in an if or loop that depends on run-time values; set it to something before")
def new_key(x: Tensor, n: int):
    d = {"a": x}
    for _ in range(n):
        d["b"] = x  # rejected
    return d["a"]


@rejected(X, 2, says="a variable that is .* or .*, depending on a.*; make them alike with to")
def two_dtypes(x: Tensor, n: int):
    y = x
    if n > 1:  # rejected
        y = x.double()
    return y


@rejected(X, says="a tuple of one class or of another, depending on a.* with run-time values; unpack it")
def two_classes(x: Tensor):
    found = x.max(0)
    if bool(x.sum() > 1):  # rejected
        found = x.min(0)
    return found


@rejected(X, 2, says="pop on a dict in an if or loop that depends on run-time values; set the key to something instead")
def loses_a_key(x: Tensor, n: int):
    d = {"a": x, "b": x + 1}
    if n > 1:
        d.pop("b")  # rejected
    return d["a"]


@rejected(X, 2, says="on a list that an if or loop with run-time values chose or replaced; build a new one")
def replaced_list(x: Tensor, n: int):
    a = [x]
    for _ in range(n):
        a = [x + 1]
    a.append(x)  # rejected
    return a[0]


@rejected(X, 2, says="pop or del anywhere but at the ends.*; stack it first")
def pops_inside(x: Tensor, n: int):
    items = [x, x]
    for _ in range(n):
        items.append(x)
    items.pop(1)  # rejected
    return items


@rejected(X, 2, says="insert anywhere but at the start.*; build a new one")
def inserts_inside(x: Tensor, n: int):
    items = [x, x]
    for _ in range(n):
        items.append(x)
    items.insert(1, x)  # rejected
    return items


@rejected(X, 2, says="a step in a slice of a list whose length depends on run-time values; stack it first")
def steps(x: Tensor, n: int):
    items = [x, x]
    for _ in range(n):
        items.append(x)
    return items[::2]  # rejected


@rejected(X, 2, says="reverse of a list in the loop that appends to it; reverse it after the loop")
def reverses(x: Tensor, n: int):
    items = [x, x]
    for _ in range(n):
        items.append(x)
        items.reverse()  # rejected
    return items


@rejected(X, 3, says="squeeze of a dimension whose size is dynamic; select it instead")
def squeezes(x: Tensor, k: int):
    return x[:k].squeeze(0)  # rejected


class HasMethods(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.name = "a"
        self.tensors = [torch.ones(3)]
        self.register_buffer("state", torch.zeros(3))


class AssignsText(HasMethods):
    def forward(self, x: Tensor):
        self.name = "b"  # rejected
        return x


class AssignsShape(HasMethods):
    def forward(self, x: Tensor):
        if bool(x.sum() > 0):
            self.state = x + 1  # rejected
        return x


class ListsTensors(HasMethods):
    def forward(self, x: Tensor):
        return x + self.tensors[0]  # rejected


class HoldsDict(nn.Module):
    parts: dict[str, int]

    def __init__(self) -> None:
        super().__init__()
        self.parts = {"a": 1}

    def forward(self, x: Tensor):
        self.parts["b"] = 2  # rejected
        return x + self.parts["a"]


class Enlarges(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.zeros(3))

    def forward(self, x: Tensor):
        return self.state.resize_(4) + x  # rejected


class HoldsOneMemory(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("one", torch.zeros(3, 3))
        self.register_buffer("other", self.one.detach())

    def forward(self, x: Tensor):
        self.one.t_()  # rejected
        return x @ self.other


class HoldsSparse(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.eye(3).to_sparse())

    def forward(self, x: Tensor):
        return torch.mm(self.state, x.t())  # rejected


class HoldsQuantized(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8))

    def forward(self, x: Tensor):
        return self.state.dequantize() + x  # rejected


class HoldsBits(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("bits", torch.ones(3, dtype=torch.uint8).view(torch.bits8))

    def forward(self, x: Tensor):
        return x + self.bits.numel()  # rejected


@torch.jit.script
class Holder:
    def __init__(self, n: int):
        self.n = n


class HoldsObject(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.holder = Holder(3)

    def forward(self, x: Tensor):
        return x + self.holder.n  # rejected


class SharesState(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.zeros(3))
        self.register_buffer("other", torch.ones(3))

    def forward(self, x: Tensor):
        self.other = self.state.view(3)  # rejected
        self.state += 1
        return self.other + x


class SharesInBranches(SharesState):
    def forward(self, x: Tensor):
        y = x * 2
        if bool(x.sum() > 0):
            self.state = y[0]
            self.other = y[0]
        if bool(x.sum() > 1):
            z = y[1]
            self.state = z
            if bool(x.sum() > 2):  # rejected
                self.other = z
        return y


class IgnoresAndWrites(HasMethods):
    @torch.jit.ignore
    def helper(self, x: Tensor) -> Tensor:
        return x + self.state

    def forward(self, x: Tensor):
        self.state += 1
        return self.helper(x)  # rejected


rejected(X, says="assignment to the attribute name, which is no tensor, bool, int or float; make it a buffer")(
    AssignsText()
)
rejected(X, says="the attribute other, bound to a tensor that may share memory with the attribute state; clone.. it")(
    SharesState()
)
rejected(X, says="the attributes state and other, bound to one tensor in two branches or loops; clone.. it")(
    SharesInBranches()
)
rejected(X, says="assignment to the attribute state, which changes its dtype or shape in a branch or loop; assign")(
    AssignsShape()
)
rejected(X, says="the tensor tensors.* inside a container; register it as a parameter or buffer")(ListsTensors())
rejected(X, says="one and other, two tensors of one memory, one of which gets another shape; clone.. one")(
    HoldsOneMemory()
)
rejected(X, says="on a dict that belongs to a module, which would not see it; copy it first")(HoldsDict())
rejected(X, says="resize_, which makes the storage of a module.s tensor larger; assign a new tensor")(Enlarges())
rejected(X, says="the attribute state, a tensor that is not strided; make it dense")(HoldsSparse())
rejected(X, says=r"the attribute state, a quantized tensor; dequantize\(\) it")(HoldsQuantized())
rejected(X, says="the attribute holder, an object of a class; keep what it holds in the module")(HoldsObject())
rejected(X, says=r"dtype torch.bits8; convert the tensor with to\(\)")(HoldsBits())
rejected(X, says="'helper' of a module whose 'state' the program writes.*; make it a function")(IgnoresAndWrites())


@torch.jit.script
class Waits:
    def __init__(self, n: int):
        self.n = n

    def __enter__(self):
        self.n = 1

    def __exit__(self, kind: Any, value: Any, trace: Any):
        self.n = 2


@rejected(X, says="a context manager; only torch.no_grad")
def context(x: Tensor):
    with Waits(1):  # rejected
        y = x + 1
    return y


class Pair(NamedTuple):
    one: Tensor
    two: int


# Writes. -------------------------------------------------------------------------------------------------------------


@rejected(X, says=r"its result depends on the order in which eager visits them; clone\(\) the source")
def shifts(x: Tensor):
    y = x.clone()
    y.mul_(y[:, :1])  # rejected
    return y


@rejected(
    X, 2, says=r"writes the result of .* at .*, which aliases or copies depending on a run-time size; call .clone\(\)"
)
def writes_maybe(x: Tensor, k: int):
    y = x[:, :k].contiguous()
    y += 1  # rejected
    return x


@rejected(
    X, 2, says="reads the result of .* at .*, which aliases or copies.*after what it may alias was written; call .clone"
)
def reads_maybe(x: Tensor, k: int):
    y = x[:, :k].contiguous()
    x += 1
    return y + 1  # rejected


@rejected(X, X, says="which changes the shape of a tensor in place; call it")
def grows_out(x: Tensor, y: Tensor):
    z = torch.zeros(2)
    torch.add(x, y, out=z)  # rejected
    return z


@rejected(X, says="fill_ of an expanded tensor of bools; fill the tensor itself")
def fills_expanded(x: Tensor):
    y = torch.zeros([1], dtype=torch.bool).expand(3)
    y.fill_(True)  # rejected
    return x, y


@rejected(X, 3, says="of a tensor whose sizes are dynamic; call it")
def asks_for_contiguity(x: Tensor, k: int):
    if x.t()[:k].is_contiguous():  # rejected
        return x
    return x + 1


@rejected(torch.tensor(2), says=r"prim::min of a tensor that is passed for a number; read it with int\(x\), float\(x\)")
def tensor_for_number(x: Tensor):
    return min(x, 3)  # rejected
