"""Programs that the importer rejects: the error names the op or construct and the user's line."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from ssa_compiler import compile, errors
from ssa_compiler.importer import import_program
from ssa_compiler.testing import check

X = torch.zeros(4, 3)


def rejected_line(function: Callable[..., Any]) -> int:
    """Number of the line of a function that ends in the comment `# rejected`."""
    lines, first = inspect.getsourcelines(function)
    return next(first + number for number, line in enumerate(lines) if line.rstrip().endswith("# rejected"))


def grows_in_a_loop(x: Tensor, n: Tensor) -> Tensor:
    out = [x]
    for _ in range(int(n)):  # rejected
        out.append(torch.cat([out[-1], x], 1))
    return torch.cat(out, 1)


def dtype_changes(x: Tensor, n: Tensor) -> Tensor:
    for _ in range(int(n)):  # rejected
        x = x.double()
    return x


def takes_another_storage(x: Tensor) -> Tensor:
    x.set_(x + 1)  # rejected
    return x


def split_dynamically(x: Tensor, n: Tensor) -> list[Tensor]:
    return list(torch.split(x, int(n)))  # rejected


def new_key(x: Tensor, n: Tensor) -> list[str]:
    table = {"a": x}
    if n > 0:
        table["b"] = x * 2
    return list(table.keys())  # rejected


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (grows_in_a_loop, (X, torch.tensor(2)), "a list whose length depends on run-time values: its elements differ"),
        (dtype_changes, (X, torch.tensor(2)), r"f32 tensor of shape \[4, 3\] or a f64 tensor"),
        (takes_another_storage, (X,), "set_.*changes the shape or storage of a tensor in place"),
        (split_dynamically, (X, torch.tensor(2)), "split"),
        (new_key, (X, torch.tensor(2)), "a dict of which run-time values decide"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_rejected_program_names_the_construct_and_the_line(
    function: Callable[..., Any], args: tuple[Any, ...], message: str
) -> None:
    with pytest.raises(NotImplementedError, match=message) as raised:
        import_program(function, args)
    assert isinstance(raised.value, (errors.UnsupportedOpError, errors.UnsupportedProgramError))
    assert raised.value.location is not None
    assert raised.value.location.file.endswith("importer_errors_test.py")
    assert raised.value.location.line == rejected_line(function)


def surely_out_of_range(x: Tensor) -> Tensor:
    return x[9]  # rejected


class AnotherType(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.steps, self.size = 8, 3

    def forward(self, x: Tensor) -> Tensor:
        self.steps //= 2
        self.size = self.size / 2  # type: ignore[assignment]
        return x * self.steps


def test_the_rejection_is_that_of_the_program_as_it_is_rewritten() -> None:
    with pytest.raises(errors.ScriptError, match="Expected int but got float") as raised:
        import_program(AnotherType(), (torch.ones(2),))
    assert raised.value.location.line == AnotherType.forward.__code__.co_firstlineno + 2


def test_what_surely_raises_raises_at_import() -> None:
    with pytest.raises(errors.ProgramIndexError, match="index 9 out of range") as ours:
        import_program(surely_out_of_range, (X,))
    assert ours.value.location is not None
    assert ours.value.location.line == rejected_line(surely_out_of_range)


def unscriptable(x: Tensor) -> Tensor:
    yield x  # type: ignore[misc]


def unbound(x: Tensor) -> Tensor:
    return x + missing  # noqa: F821


def attempted(x: Tensor) -> Tensor:
    try:
        return x + 1
    except RuntimeError:
        return x


@pytest.mark.parametrize("function", [unscriptable, unbound, attempted])
def test_what_torchscript_rejects_is_explained_with_the_line(function: Callable[..., Any]) -> None:
    with pytest.raises(errors.ScriptError, match="TorchScript cannot script") as raised:
        import_program(function, (X,))
    assert raised.value.location is not None
    assert raised.value.location.file.endswith("importer_errors_test.py")
    assert raised.value.location.line - function.__code__.co_firstlineno in (0, 1)


@pytest.mark.parametrize("model", [3, "x", nn.Linear], ids=["int", "str", "class"])
def test_what_is_no_model(model: Any) -> None:
    with pytest.raises(errors.ScriptError, match="expected a function"):
        import_program(model, (X,))


class Scales(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


def typed(x: Tensor, n: int, f: float, b: bool, s: str, items: list[int]) -> Tensor:
    return x


TYPED: dict[str, Any] = {"x": X, "n": 1, "f": 1.0, "b": True, "s": "a", "items": [1]}


@pytest.mark.parametrize(
    ("name", "example", "message"),
    [
        ("n", "a", "expected int, got str"),
        ("n", None, "expected int, got NoneType"),
        ("n", True, "expected int, got bool"),
        ("n", 1.5, "expected int, got float"),
        ("n", [1], "expected int, got list"),
        ("n", {1: 2}, "expected int, got dict"),
        ("f", "a", "expected float, got str"),
        ("b", 1, "expected bool, got int"),
        ("s", 1, "expected str, got int"),
        ("s", True, "expected str, got bool"),
        ("items", 1, r"expected List\[int\], got int"),
        ("items", (1,), r"expected List\[int\], got tuple"),
        ("items", ["a"], r"'items\[0\]': expected int, got str"),
        ("x", torch.empty(3, dtype=torch.bits8), "dtype torch.bits8 are not supported"),
        ("x", X.to_sparse(), "expected a dense tensor, got layout torch.sparse_coo"),
    ],
)
def test_example_that_does_not_fit_its_declared_type(name: str, example: Any, message: str) -> None:
    import_program(typed, (), TYPED)
    with pytest.raises(errors.ArgumentTypeError, match=f"argument '{name}") as raised:
        import_program(typed, (), {**TYPED, name: example})
    assert re.search(message, str(raised.value))


@pytest.mark.parametrize(("name", "example"), [("n", 2**63), ("n", -(2**70)), ("f", 2**2000)])
def test_example_that_does_not_fit_64_bits(name: str, example: int) -> None:
    with pytest.raises(errors.ArgumentValueError, match=f"'{name}': the number does not fit"):
        import_program(typed, (), {**TYPED, name: example})


@pytest.mark.filterwarnings("ignore:.*quantize")
def test_quantized_tensors() -> None:
    quantized = torch.quantize_per_tensor(X, 1.0, 0, torch.qint8)
    with pytest.raises(errors.ArgumentTypeError, match=r"'x': tensors of dtype torch.qint8"):
        import_program(typed, (), {**TYPED, "x": quantized})
    module = Scales()
    del module.weight
    module.register_buffer("weight", quantized)
    with pytest.raises(errors.UnsupportedProgramError, match="weight, a quantized tensor"):
        import_program(module, (X,))


def makes_sparse(x: Tensor) -> Tensor:
    y = x.to_sparse()  # rejected
    return y.to_dense()


def quantizes(x: Tensor) -> Tensor:
    return torch.quantize_per_tensor(x, 1.0, 0, torch.qint8).dequantize()  # rejected


@pytest.mark.parametrize(
    ("function", "message"), [(makes_sparse, "layout torch.sparse_coo"), (quantizes, "dtype that PyTorch numbers 12")]
)
def test_tensors_that_are_not_dense_are_rejected(function: Callable[[Tensor], Tensor], message: str) -> None:
    with pytest.raises(errors.UnsupportedOpError, match=message) as raised:
        import_program(function, (X,))
    assert raised.value.location is not None
    assert raised.value.location.line == rejected_line(function)


def norm_of_integers(x: Tensor, n: int) -> Tensor:
    if n > 3:
        return nn.functional.layer_norm(x, [2]).to(torch.int64)
    return x


def gelu_of_integers(x: Tensor) -> Tensor:
    return nn.functional.gelu(x)


def test_ops_without_a_kernel_for_integers_raise_eagers_class() -> None:
    x = torch.ones(2, 2, dtype=torch.int64)
    check(norm_of_integers, (x, 1), (x, 4), compiled=False)
    with pytest.raises(errors.ProgramError, match="not implemented for 'Long'") as raised:
        import_program(gelu_of_integers, (x,))
    assert isinstance(raised.value, NotImplementedError)


def max_pool(x: Tensor) -> Tensor:
    return nn.functional.max_pool1d(x.reshape(1, 1, -1), 4)


def padded(x: Tensor) -> Tensor:
    return nn.functional.pad(x.reshape(1, 1, -1), [1, 1], mode="reflect")


def gated(x: Tensor) -> Tensor:
    return nn.functional.glu(x, 0)


def enlarged(x: Tensor) -> Tensor:
    return nn.functional.interpolate(x.reshape(1, 1, -1), scale_factor=2.0)


def resized(x: Tensor) -> Tensor:
    return nn.functional.interpolate(x.reshape(1, 1, 2, -1), size=[3, 3], mode="bilinear")


def convolved(x: Tensor) -> Tensor:
    return nn.functional.conv1d(x.reshape(1, 1, -1), x[:2].reshape(1, 1, -1))


def largest(x: Tensor) -> Tensor:
    return x.topk(2)[0]


def in_order(x: Tensor) -> Tensor:
    return torch.sort(x)[0]


@pytest.mark.parametrize(
    ("function", "dtype"),
    [
        (max_pool, torch.int64),
        (padded, torch.bool),
        (gated, torch.uint8),
        (enlarged, torch.int64),
        (resized, torch.complex64),
        (convolved, torch.bool),
        (largest, torch.bool),
        (in_order, torch.complex64),
    ],
)
def test_dtypes_that_eager_has_no_kernel_for(function: Callable[[Tensor], Tensor], dtype: torch.dtype) -> None:
    """FakeTensors take them, and so would the ops that these consist of."""
    x = torch.tensor([1, 0, 1, 1, 0, 1, 1, 0]).to(dtype)
    with pytest.raises((RuntimeError, TypeError)) as eager:
        function(x)
    with pytest.raises(type(eager.value), match=re.escape(str(eager.value).strip().splitlines()[0])):
        compile(function, (x,))(x)


def sampled_at(x: Tensor, y: Tensor) -> Tensor:
    return nn.functional.grid_sample(x[None, None], y[:, :6].reshape(1, 2, 6, 2), align_corners=False)


def sampled_in_volumes(x: Tensor, y: Tensor) -> Tensor:
    return nn.functional.grid_sample(x[None, None, None], y.reshape(1, 2, 2, 2, 3), align_corners=False)


def interpolated(x: Tensor, y: Tensor) -> Tensor:
    return torch.lerp(x, y, 0.5)


def layers_normalised(x: Tensor, y: Tensor) -> Tensor:
    return nn.functional.layer_norm(x, [12], y[0], y[1])


def cross_entropy(x: Tensor, y: Tensor) -> Tensor:
    return nn.functional.binary_cross_entropy(x, y)


def stepped(x: Tensor, y: Tensor) -> Tensor:
    return torch.heaviside(x, y)


def batches_normalised(x: Tensor, y: Tensor) -> Tensor:
    return nn.functional.batch_norm(x, y[0], y[1])


def crossed(x: Tensor, y: Tensor) -> Tensor:
    return torch.linalg.cross(x[:, :3], y[:, :3])


def added(x: Tensor, y: Tensor) -> Tensor:
    return x + y.sum(0)


@pytest.mark.parametrize(
    "dtypes",
    [(torch.float64, torch.float32), (torch.float16, torch.float32), (torch.float32, torch.float16)],
)
def test_floating_dtypes_that_eager_does_not_mix(dtypes: tuple[torch.dtype, torch.dtype]) -> None:
    """FakeTensors promote them, and so would what stands for the ops."""
    x, y = (torch.full((2, 12), 0.5, dtype=dtype) for dtype in dtypes)
    raised = 0
    for function in (
        *(sampled_at, sampled_in_volumes, interpolated, layers_normalised, cross_entropy, stepped, batches_normalised),
        *(crossed, added),
    ):
        try:
            function(x, y)
        except RuntimeError as error:
            raised += 1
            with pytest.raises(RuntimeError, match=re.escape(str(error).splitlines()[0].strip())):
                import_program(function, (x, y))
        else:
            import_program(function, (x, y))
    assert raised >= 6


@torch.jit.script
class Counter:
    def __init__(self, count: int):
        self.count = count


def exchanged(x: Tensor, n: int) -> tuple[Tensor, int]:
    one, other = Counter(1), Counter(2)
    for _ in range(n):
        one, other = other, one
        one.count += 3
    return x + one.count, other.count


def replaced(x: Tensor, n: int) -> Tensor:
    one = Counter(1)
    for _ in range(n):
        one = Counter(one.count + 1)
    one.count += 3
    return x + one.count


def test_objects_that_a_loop_exchanges_are_changed() -> None:
    check(exchanged, *((X, n) for n in (3, 0, 1, 2)), compiled=False)


def test_objects_that_a_loop_replaces_are_changed() -> None:
    check(replaced, *((X, n) for n in (3, 0, 1, 2)), compiled=False)


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.counter = Counter(3)
        self.other = self.counter

    def forward(self, x: Tensor) -> Tensor:
        self.counter.count += 1
        return x + self.other.count


def test_objects_of_a_module_with_several_names_are_rejected() -> None:
    with pytest.raises(errors.UnsupportedProgramError, match="the attribute counter, an object of a class; keep what"):
        import_program(Counting(), (X,))
