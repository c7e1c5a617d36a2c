"""What TorchScript takes otherwise than Python: classes of exceptions, ints for floats, dtypes as texts, attributes of
modules.
"""

import enum
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

X = torch.tensor([-1, 2, 3])


class OwnError(Exception):
    pass


def raises_classes(n: int, x: Tensor):  # type: ignore[no-untyped-def]
    if n == 0:
        raise ValueError
    if n == 1:
        raise KeyError
    if n == 2:
        raise OwnError
    if n == 3:
        raise KeyError("a")
    return x


def test_classes_of_exceptions() -> None:
    check(raises_classes, *[(n, X) for n in (4, 0, 1, 2, 3)], compiled=False)


def scaled(x: Tensor, s: float = 2):  # type: ignore[no-untyped-def]
    return x * s, s, x // s, s + 1, s == 2**53 + 1


def elements(d: dict[str, float], values: list[float], pair: tuple[float, int]):  # type: ignore[no-untyped-def]
    d["b"] = d["a"] + values[0] + pair[0]
    values.append(d["b"])
    return sum(values), d["a"] // 2, values[0] % 2, str(pair[0])


def halved(x: Tensor, s: float, n: int):  # type: ignore[no-untyped-def]
    for _ in range(n):
        s = s * 0.5
    return x * s, s


def test_an_int_for_a_float_stays_an_int() -> None:
    """Python does not convert what the annotation calls a float."""
    check(scaled, (X,), (X, 3), (X, 2**53 + 1), compiled=False)
    check(scaled, (X, 2.0), compiled=False)
    check(elements, ({"a": 1}, [2], (3, 1)), compiled=False)
    check(elements, ({"a": 1.0}, [2.0], (3.0, 1)), compiled=False)
    for n in (0, 1, 3):
        check(halved, (X, 2, n), compiled=False)
    compiled = ssa_compiler.compile(scaled, (X, 2.0))
    assert [type(compiled(X, s)[1]) for s in (2.0, 2)] == [float, int]


class Annotated(nn.Module):
    s: float

    def __init__(self) -> None:
        super().__init__()
        self.s = 2

    def forward(self, x: Tensor):  # type: ignore[no-untyped-def]
        y = x * self.s
        self.s = self.s + 1
        return y


def test_an_int_attribute_annotated_float_stays_an_int() -> None:
    check(Annotated(), (X,), (X,), compiled=False)


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class How(str, enum.Enum):
    SUM = "sum"
    MEAN = "mean"


def of_subclasses(x: Tensor, f: float, n: int, ns: list[int], d: dict[str, float], u: int | float, mode: str):  # type: ignore[no-untyped-def]
    y = x.view(n, -1) * f
    for i in ns:
        y = y + i * u
    y = y * d["a"]
    if mode == "sum":
        return y.sum(), n + 1
    return y, n + 1


def test_numbers_and_strings_of_classes_of_their_own() -> None:
    plain = (torch.ones(4), 2.0, 1, [1, 2], {"a": 3.0}, 4, "mean")
    f = np.float64(0.5)
    derived = (torch.ones(4), f, Size.LARGE, [Size.SMALL, Size.LARGE], {"a": f}, Size.LARGE, How.SUM)
    for first, second in ((plain, derived), (derived, plain)):
        compiled = ssa_compiler.compile(of_subclasses, first)
        for arguments in (first, second, (*derived[:6], How.MEAN)):
            found, expected = compiled(*arguments), of_subclasses(*arguments)
            assert torch.equal(found[0], expected[0])
            assert found[1] == expected[1]
    with pytest.raises(
        ssa_compiler.ArgumentTypeError, match=r"'n': values of type int64 are not supported: .*x\.item\(\)"
    ):
        compiled(torch.ones(4), 2.0, np.int64(1), [1, 2], {"a": 3.0}, 4, "mean")


def texts(x: Tensor):  # type: ignore[no-untyped-def]
    dtype = x.to(torch.int32).dtype
    return f"{x.dtype} {x.shape}", str(dtype), "%s" % x.dtype, "{}".format(dtype)  # noqa: UP031, UP032


def printed(x: Tensor, n: int):  # type: ignore[no-untyped-def]
    print(x.shape, x.dtype, f"{n} rows", n)
    return x


def test_a_dtype_as_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    check(texts, (X,), compiled=False)
    compiled = ssa_compiler.compile(printed, (X, 3))
    for function in (printed, compiled):
        function(X, 4)
    assert capsys.readouterr().out == "torch.Size([3]) torch.int64 4 rows 4\n" * 2


def repeated(n: int) -> int:
    text = "x"
    for _ in range(n):
        text = text + text
    return len(text)


def test_a_string_that_a_loop_changes() -> None:
    check(repeated, (0,), compiled=False)
    check(repeated, (3,), compiled=False)


class Config(NamedTuple):
    a: int
    b: float


class Mode(enum.Enum):
    ADD = 0
    SUBTRACT = 1


class Chooses(nn.Module):
    config: Config

    def __init__(self) -> None:
        super().__init__()
        self.config = Config(1, 2.5)
        self.mode = Mode.ADD
        self.act = F.relu
        self.first = nn.Linear(3, 3)
        self.second = self.first

    def offset(self, x: Tensor) -> Tensor:
        return x + 1

    def forward(self, x: Tensor):  # type: ignore[no-untyped-def]
        x = x + 10 if self.mode == Mode.ADD else x - 10
        return self.offset(self.act(self.first(x) - self.second(x))), self.config


def _negated(x: Tensor) -> Tensor:
    return -x


_CHANGES = {"mode": Mode.SUBTRACT, "act": torch.tanh, "offset": _negated, "second": nn.Linear(3, 3)}


def test_what_a_module_is_told_to_compute_is_looked_at_by_each_call() -> None:
    module, x = Chooses(), torch.tensor([-1.0, 2.0, 3.0])
    compiled = ssa_compiler.compile(module, (x,))
    for name, value in _CHANGES.items():
        setattr(module, name, value)
        with torch.no_grad():
            actual, expected = compiled(x), module(x)
        torch.testing.assert_close(actual[0], expected[0])
        assert type(actual[1]) is Config
        assert actual[1] == expected[1]


@torch.jit.script
def _doubled(x: Tensor) -> Tensor:
    return x * 2


@torch.jit.script
def _halved(x: Tensor) -> Tensor:
    return x / 2


class OtherReLU(nn.ReLU):
    def forward(self, x: Tensor) -> Tensor:
        return -x


class Watched(nn.Module):
    """A module whose attributes a program reads, or TorchScript decides by."""

    modes: list[Mode]

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.late, self.known, self.limit = 0.0, 3, 1, 2
        self.nan = [float("nan")]
        self.numbers: tuple[int, ...] = (1, 2)
        self.nested = [[1, 2], [3]]
        self.table = {"a": 1.0, "b": 2.0}
        self.complex = complex(0.0, 1.0)
        self.modes = [Mode.ADD, Mode.SUBTRACT]
        self.tensors = [nn.Parameter(torch.ones(3)), nn.Parameter(torch.zeros(3))]
        self.one, self.two = self.tensors
        self.gate = nn.Parameter(torch.ones(3))
        self.weight = nn.Parameter(torch.arange(9.0).reshape(3, 3))
        self.items = nn.ParameterList([nn.Parameter(torch.ones(3))])
        self.last, self.later, self.function = nn.ReLU(), nn.ModuleList(), _doubled
        self.layers = nn.ModuleDict({"a": nn.LeakyReLU(0.5), "b": nn.LeakyReLU(-0.25)})

    @property
    def limited(self) -> bool:
        return self.limit is not None

    @torch.no_grad()
    def forward(self, x: Tensor):  # type: ignore[no-untyped-def]
        for layer in self.later:
            x = layer(x)
        x = self.function(self.last(x))
        y = (x @ self.weight + self.nested[0][1] + self.tensors[0]) * self.complex
        for factor in self.table.values():
            y = y * factor + 1
        for item in self.items:
            y = y + item
        for layer in self.layers.values():
            x = layer(x) - 1
        if self.gate is not None:
            y = y + 1
        if isinstance(self.late, int):
            y = y + 2
        if self.known is not None:
            y = y + 4
        if self.modes[0] == Mode.ADD:
            y = y + 8
        if self.limited:
            y = y + 16
        return x, y, x / self.scale, x + self.nan[0], self.numbers


def _set(name: str, value: Any) -> Callable[[Watched], object]:
    return lambda module: setattr(module, name, value)


def _move_first_layer_to_the_end(module: Watched) -> None:
    module.layers._modules["a"] = module.layers._modules.pop("a")


# A change, and what the difference is said to be.
_NOTICED: list[tuple[Callable[[Watched], object], str]] = [
    (_set("scale", -0.0), "'scale'.*expected 0.0, got -0.0"),
    (_set("numbers", (1.0, 2)), r"'numbers'.*expected \(1, 2\), got \(1.0, 2\)"),
    (_set("numbers", (True, 2)), "'numbers'"),
    (lambda module: module.nested[0].__setitem__(1, 2.0), "'nested'"),
    (_set("table", {"b": 2.0, "a": 1.0}), "'table'"),
    (_set("complex", complex(-0.0, 1.0)), "'complex'"),
    (lambda module: module.modes.reverse(), "'modes'"),
    (lambda module: module.tensors.reverse(), r"'tensors'.*expected \[one, two\], got \[two, one\]"),
    (_set("one", nn.Parameter(torch.ones(3))), r"'tensors'.*expected \[one, two\], got \[a tensor, two\]"),
    (_set("late", 3.0), "'late'.*expected one of type int, got one of type float"),
    (_set("known", None), "'known'"),
    (_set("limit", None), "'limit'"),
    (_set("function", _halved), "function"),
    (lambda module: setattr(module.last, "__class__", OtherReLU), "last"),
    (lambda module: module.later.append(nn.ReLU()), "later.0"),
    (_set("gate", None), "parameters or buffers of the module changed: gate"),
    (lambda module: module.items.append(nn.Parameter(torch.zeros(3))), "changed: items.1"),
    (lambda module: module.register_buffer("more", torch.ones(1)), "changed: more"),
    (_move_first_layer_to_the_end, "submodules of the module changed: their order"),
]


@pytest.mark.slow
def test_other_values_that_are_equal_are_noticed() -> None:
    for change, text in _NOTICED:
        module = Watched()
        facts = import_program(module, (X.float(),)).facts
        assert facts is not None
        assert facts.difference() is None
        change(module)
        found = facts.difference()
        assert found is not None, text
        assert re.search(text, found), found


def test_the_same_values_in_other_objects_are_no_difference() -> None:
    module = Watched()
    facts = import_program(module, (X.float(),)).facts
    assert facts is not None
    module.nan, module.table, module.nested = [float("nan")], {"a": 1.0, "b": 2.0}, [[1, 2], [3]]
    module.late, module.known = 5, 7  # only their types decide
    module.gate = nn.Parameter(torch.zeros(3))
    module.one = nn.Parameter(torch.zeros(3))
    module.tensors = [module.one, module.two]
    assert facts.difference() is None


class Reads(nn.Module):
    values: list[float]

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.arange(9.0).reshape(3, 3))
        self.items = nn.ParameterList([nn.Parameter(torch.ones(3))])
        self.register_buffer("bits", torch.arange(3.0))
        self.values = [2, 3.5, True]
        self.pair = (1, 2)

    def forward(self, x: Tensor):  # type: ignore[no-untyped-def]
        y = x @ self.weight
        for item in self.items:
            y = y * item
        return y, self.bits * 2, self.values, self.pair, x.to(torch.int64) * self.pair[0]


def _set_data(module: Reads) -> None:
    module.weight.data = module.weight.data.t()


def _set_other_dtype(module: Reads) -> None:
    module.bits.data = module.bits.data.view(torch.int32)


def test_a_call_goes_by_the_module_as_it_is() -> None:
    module, x = Reads(), torch.tensor([1.0, 2.0, 3.0])
    compiled = ssa_compiler.compile(module, (x,))
    changes: list[Callable[[Reads], object]] = [
        lambda module: None,
        _set_data,
        _set_other_dtype,
        lambda module: module.items.append(nn.Parameter(torch.zeros(3))),
        lambda module: setattr(module, "pair", (1.0, 2)),
    ]
    for change in changes:
        change(module)
        for _ in range(2):
            with torch.no_grad():
                actual, expected = compiled(x), module(x)
            torch.testing.assert_close(actual[:2], expected[:2], rtol=0, atol=0)
            assert repr(actual[2:]) == repr(expected[2:])
    assert len(compiled.specialisations) == 4


@torch.jit.script
def scripted(x: Tensor, s: float = 2):  # type: ignore[no-untyped-def]
    return x * s, s


def test_torchscript_converts_ints() -> None:
    """Where eager runs TorchScript itself."""
    check(scripted, (X, 2.5), (X, 2), (X,), compiled=False)


class Typed(NamedTuple):
    values: Tensor
    dtype: torch.dtype


def cast(x: Tensor, dtype: torch.dtype) -> tuple[Tensor, torch.dtype]:
    return x.to(dtype), dtype


def dtypes(x: Tensor, given: torch.dtype, n: int):  # type: ignore[no-untyped-def]
    wider = torch.float16
    if x.dtype is torch.float32:
        wider = torch.float64
    common = torch.promote_types(x.dtype, wider)
    last = x.dtype
    for _ in range(n):
        x = x + 1
        last = x.dtype
    facts = {"a": x.dtype, "b": torch.int8}
    numbers = x.size(0), x.dtype == torch.float32, x.dtype in [torch.float32, torch.int8]
    return numbers, [x.dtype, given], (wider, common, last), facts, x.device, x.layout, str(wider), {last: n}


def more_dtypes(x: Tensor, given: torch.dtype, n: int):  # type: ignore[no-untyped-def]
    return cast(x, torch.float64), Typed(x + n, given), torch.result_type(x, 1.0), torch.int32


class HoldsDtype(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.dtype = torch.float64

    def forward(self, x: Tensor):  # type: ignore[no-untyped-def]
        return x.to(self.dtype), self.dtype


def test_dtypes_among_the_results() -> None:
    for program in (dtypes, more_dtypes):
        for x in (X, X * 1.0):
            check(program, (x, torch.int8, 2), (x, torch.int8, 0), compiled=False)
    check(HoldsDtype(), (X,), compiled=False)
    scripted = torch.jit.script(cast)
    assert ssa_compiler.compile(scripted, (X, torch.int8))(X, torch.int8)[1] == scripted(X, torch.int8)[1]


def one_of_two_dtypes(x: Tensor, n: int):  # type: ignore[no-untyped-def]
    return torch.float64 if int(x.sum()) > n else torch.float32


def test_a_dtype_that_is_known_only_at_run_time_is_rejected() -> None:
    with pytest.raises(
        ssa_compiler.UnsupportedProgramError, match=r"a variable that is torch\.float64 or torch\.float32"
    ):
        import_program(one_of_two_dtypes, (X, 1))
