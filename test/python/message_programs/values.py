"""Programs that are rejected for values: containers, classes, attributes, results; and for writes."""

import collections
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from .registry import X, rejected


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
    return n, f"{x}"  # rejected


@rejected(X, 2, says="a dynamic dict key; use constants as keys")
def dict_key(x: Tensor, n: int):
    return {n: x}[n]  # rejected


@rejected(X, 2, says="a list of dynamic length with tuples that may be None; keep a flag in the tuple")
def tuples_or_none(x: Tensor, n: int):
    items: list[tuple[int, int] | None] = [None]  # rejected
    for i in range(int(x[n, 0])):
        items.append((i, n))
    return items


@rejected(X, says="dict access with a dynamic index or key; use a constant, or stack the elements")
def dict_access(x: Tensor):
    d = {1.5: x, 2.5: x + 1}
    return d[float(x[0, 0])]  # rejected


@rejected(X, 2, says=r"list on items.. of a dict with dynamic keys; go through it in a loop")
def items_of_dynamic_dict(x: Tensor, n: int):
    d = {1: n}
    d[int(x[0, 0])] = n
    pairs = d.items()
    return list(pairs)  # rejected


@rejected(X, 2, says=r"aten::format on a dict with dynamic keys; go through it in a loop")
def shown_with_dynamic_keys(x: Tensor, n: int):
    d = {1: n}
    d[int(x[0, 0])] = n
    return f"{d}"  # rejected


@rejected(X, 1, says="a dynamic dimension number; use a constant, or an if for each")
def dimension(x: Tensor, n: int):
    return x.stride(n)  # rejected


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


@rejected(X, 2, says="on a list that an if or loop with run-time values chose or replaced; build a new one")
def replaced_list(x: Tensor, n: int):
    first = [x]
    a = first
    for _ in range(n):
        a = [x + 1]
    a.append(x)  # rejected
    return a[0], first


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


@rejected(X, 2, says="sort of a list in the loop that appends to it; sort it after the loop")
def sorts(x: Tensor, n: int):
    items = [0]
    for k in range(n):
        items.append(-k)
        items.sort()  # rejected
    return items


@rejected(
    X,
    3,
    says="squeeze of a dimension whose size is dynamic, and decides the rank; name other dimensions, or select it",
)
def squeezes(x: Tensor, k: int):
    return x[:k].squeeze(0)  # rejected


class HasMethods(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.place = torch.device("cpu")
        self.tensors = collections.OrderedDict(a=torch.ones(3))
        self.rows = [torch.ones(3)]
        self.register_buffer("state", torch.zeros(3))


class AssignsDevice(HasMethods):
    def forward(self, x: Tensor):
        self.place = torch.zeros(1).device  # rejected
        return x


class AssignsList(HasMethods):
    def forward(self, x: Tensor):
        if bool(x.sum() > 0):
            self.rows = [x + 1]  # rejected
        return x


class AssignsShape(HasMethods):
    def forward(self, x: Tensor):
        if bool(x.sum() > 0):
            self.state = x + 1  # rejected
        return x


class ListsViews(HasMethods):
    def forward(self, x: Tensor):
        self.state += 1
        self.rows[0] = self.state[:2]  # rejected
        return x + 1


class ListsTensors(HasMethods):
    def forward(self, x: Tensor):
        return x + self.tensors["a"]  # rejected


class HoldsDict(nn.Module):
    parts: dict[str, int]

    def __init__(self) -> None:
        super().__init__()
        self.parts = collections.Counter({"a": 1})

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
        self.other = self.holder

    def forward(self, x: Tensor):
        self.holder.n += 1  # rejected
        return x + self.other.n


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


rejected(X, says="attribute place, which is no tensor, number, string .*; compile the unscripted module, or make")(
    AssignsDevice()
)
rejected(X, says="assignment to the attribute rows, a list or dict, in a branch or loop .*; change its contents")(
    AssignsList()
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
rejected(X, says="the attribute rows, which gets a tensor that may share memory with another one.*; clone.. it")(
    ListsViews()
)
rejected(X, says="the tensor tensors.* inside a container; register it as a parameter or buffer")(ListsTensors())
rejected(X, says="one and other, two tensors of one memory, one of which gets another shape; clone.. one")(
    HoldsOneMemory()
)
rejected(X, says="on a dict of a module that is scripted, or of another class .*; compile the unscripted module, or")(
    HoldsDict()
)
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


@rejected(X, says="a context manager other than torch.no_grad")
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


@rejected(
    torch.tensor(2), says=r"aten::divmod of a tensor that is passed for a number; read it with int\(x\), float\(x\)"
)
def tensor_for_number(x: Tensor):
    return divmod(x, 3)[0]  # rejected


@rejected(X, 2, says="as_strided of the result of .* which aliases or copies depending on a run-time size; call")
def storage_behind_a_copy(x: Tensor, k: int):
    return x[:, :k].contiguous().as_strided([2], [1])  # rejected


class _Doubling(nn.Module):
    def forward(self, x: Tensor):
        return x * 2


def _calling(module: nn.Module) -> Any:
    class Calling(nn.Module):
        def forward(self, x: Tensor):
            return module(x)  # rejected

    return Calling()


calls_a_variable = rejected(X, says="a call of a module that is a variable of Python; make it an attribute")(
    _calling(_Doubling())
)
