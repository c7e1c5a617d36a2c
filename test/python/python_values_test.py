"""What TorchScript takes otherwise than Python: classes of exceptions, ints for floats, dtypes as texts, attributes of modules."""

import enum
from typing import NamedTuple

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import ssa_compiler
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
def scripted(x: Tensor, s: float = 2):  # type: ignore[no-untyped-def]
    return x * s, s


def test_torchscript_converts_ints() -> None:
    """Where eager runs TorchScript itself."""
    check(scripted, (X, 2.5), (X, 2), (X,), compiled=False)
