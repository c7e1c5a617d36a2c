"""Whole programs in the cache: what they depend on, what has no key, and that what comes from the cache is checked as
before.
"""

import json
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim

import ssa_compiler
from _mutation_table import load
from ssa_compiler.frontend import ImportOptions
from ssa_compiler.importer.boundary.import_key import import_key
from ssa_compiler.importer.torchscript.models import open_model

X = torch.arange(12.0).reshape(4, 3)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, which is on."""
    monkeypatch.setenv("SSA_COMPILER_CACHE", "1")
    monkeypatch.setenv("SSA_COMPILER_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "programs"


def _key(model: Any, *args: Any, options: ImportOptions | None = None, **kwargs: Any) -> str | None:
    return import_key(open_model(model), args, kwargs, options or ImportOptions())


# What a program depends on. ------------------------------------------------------------------------------------------

_HELPERS = """
import torch
from torch import Tensor

def helper(x: Tensor) -> Tensor:
    return x + 1.5

def program(x: Tensor, n: int) -> Tensor:
    y = x.clone()
    for i in range(n):
        y[i] = helper(y[i])
    return y
"""


def test_the_text_of_a_program_and_of_what_it_calls(tmp_path: Path) -> None:
    def key(text: str) -> str | None:
        # Under one name, as after an edit.
        return _key(load(text, tmp_path, "model"), X, 2)

    keys = {}
    for old, new in [
        ("", ""),
        ("1.5", "1.6"),
        ("1.5", "1.5000000000000002"),
        ("range(n)", "range(n + 1)"),
        ("import torch\n", "import torch\n\n"),  # other lines in messages
        ("return y", "return y  # the result"),
    ]:
        keys[old, new] = key(_HELPERS.replace(old, new) if old else _HELPERS)
    assert None not in keys.values()
    assert len(set(keys.values())) == len(keys)


class _Pair:
    def __init__(self, x: Tensor) -> None:
        self.x = x

    def first(self) -> Tensor:
        return self.x


class _Other:
    def __init__(self, x: Tensor) -> None:
        self.x = x

    def first(self) -> Tensor:
        return self.x


def _pair(x: Tensor) -> Tensor:
    return _Pair(x).first()


def _other(x: Tensor) -> Tensor:
    return _Other(x).first()


def _either(x: Tensor, flag: bool) -> Tensor:
    return _Pair(x).first() if flag else _Pair(x).x


def test_classes() -> None:
    keys = [_key(_pair, X), _key(_other, X), _key(_either, X, True)]
    assert None not in keys
    assert len(set(keys)) == len(keys)
    assert _key(_pair, X) == keys[0]


def _two(x: Tensor, y: Tensor) -> Tensor:
    return x + y


def _numbers(x: Tensor, n: int, f: float, b: bool) -> Tensor:
    return x * n * f if b else x


def _lists(xs: list[Tensor], names: dict[str, Tensor]) -> Tensor:
    return xs[0] + names["a"]


def test_everything_that_is_seen_of_tensors() -> None:
    base = torch.zeros(40)
    expanded = torch.zeros(1, 3).expand(4, 3)
    pairs = [
        (X, X.clone()),
        (X, X),  # one object
        (base[:12].view(4, 3), base[12:24].view(4, 3)),  # one storage
        (X.t().contiguous().t(), X.clone()),
        (X[1:], X[1:].clone()),
        (expanded, X.clone()),
        (X.double(), X.clone()),
        (X, X.clone().requires_grad_()),
        (X, torch.nn.Parameter(X.clone())),
        (X, torch._neg_view(X.clone())),
        (base[:12].view(4, 3), X.clone()),  # a larger storage
    ]
    keys = [_key(_two, *pair) for pair in pairs]
    assert None not in keys
    assert len(set(keys)) == len(keys)
    assert _key(_two, X + 1, X * 2) == keys[0], "numbers in tensors do not count"


def test_numbers_and_containers() -> None:
    numbers = [(X, 1, 1.0, True), (X, 2, 1.0, True), (X, 1, 1.5, True), (X, 1, 1.0, False), (X, True, 1.0, True)]
    keys = [_key(_numbers, *args) for args in [*numbers, (X, 1, 0.0, True), (X, 1, -0.0, True)]]
    assert len(set(keys)) == len(keys)
    other = X.clone()
    containers = [([X], {"a": other}), ([X, X], {"a": other}), ([X], {"a": other, "b": X}), ([X], {"b": X, "a": other})]
    keys = [_key(_lists, *args) for args in [*containers, ([X], {"a": X})]]
    assert None not in keys
    assert len(set(keys)) == len(keys)
    assert _key(_two, X, y=other) != _key(_two, X, other)


def _traced(constant: Tensor) -> Any:
    return torch.jit.trace(lambda x: x + constant, (torch.ones(4),))


def test_constants() -> None:
    """Tensors that a trace has recorded by their numbers, floats by their signs, strings by every letter."""
    base = torch.arange(40.0)
    tensors = [base[0:4], base[4:8], base[:8:2], base[:4].clone(), base[:4].flip(0), torch._neg_view(base[:4].clone())]
    keys = [_key(_traced(tensor), torch.ones(4)) for tensor in [*tensors, base[:4].bool(), base[:4].bfloat16()]]
    assert None not in keys
    assert len(set(keys)) == len(keys)

    def with_default(number: float) -> Any:
        def scaled(x: Tensor, by: float = number) -> Tensor:
            return x * by

        return scaled

    assert _key(with_default(0.0), X) != _key(with_default(-0.0), X)

    def returning(text: str) -> Any:
        class Named(torch.nn.Module):
            __constants__ = ("text",)

            def __init__(self) -> None:
                super().__init__()
                self.text = text

            def forward(self, x: Tensor) -> tuple[Tensor, str]:
                return x + 1, self.text

        return Named()

    assert _key(returning("a"), X) != _key(returning("___torch_mangle_5.a"), X)


class _Scaled(torch.nn.Module):
    eps: float

    def __init__(self) -> None:
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.eps = 0.5
        self.count = 0
        self.names = ["a", "b"]
        self.register_buffer("seen", torch.zeros(3))
        self.act = torch.nn.functional.relu
        self.maybe: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        self.count += 1
        y = self.act(self.inner(x)) * self.eps + len(self.names) + self.seen
        if self.maybe is not None:
            y = y + 1
        return y * 2 if self.training else y


def _changed(change: Callable[[Any], Any]) -> _Scaled:
    module = _Scaled()
    change(module)
    return module


def test_what_a_module_has() -> None:
    changes: list[Callable[[Any], Any]] = [
        lambda m: None,
        lambda m: setattr(m, "eps", 0.25),
        lambda m: setattr(m, "count", 1),
        lambda m: setattr(m, "eps", 1),
        lambda m: setattr(m, "eps", 1.0),
        lambda m: m.names.append("c"),
        lambda m: m.eval(),
        lambda m: m.double(),
        lambda m: m.requires_grad_(False),
        lambda m: setattr(m, "act", torch.nn.functional.gelu),
        lambda m: setattr(m, "maybe", torch.zeros(())),
        lambda m: setattr(m, "inner", torch.nn.Linear(3, 3, bias=False)),
        lambda m: setattr(m, "seen", m.inner.bias.detach()),  # shared memory
    ]
    keys = [_key(_changed(change), X) for change in changes]
    assert None not in keys
    assert len(set(keys)) == len(keys)
    assert _key(_changed(lambda m: m.seen.fill_(7.0)), X) == keys[0], "nor do the numbers in parameters"


@contextmanager
def _default(dtype: torch.dtype) -> Iterator[None]:
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(torch.float32)


def test_settings_and_options() -> None:
    y = X.clone()
    keys = [_key(_two, X, y)]
    for setting in (_default(torch.float64), torch.no_grad(), torch.autocast("cpu", torch.bfloat16)):
        with setting:
            keys.append(_key(_two, X, y))
    n = Dim("n")
    for shapes in ({"x": {0: n}, "y": {0: n}}, {"x": {0: Dim.AUTO}, "y": None}, {"x": {0: Dim("n", max=9)}, "y": None}):
        keys.append(_key(_two, X, y, options=ImportOptions(dynamic_shapes=shapes)))
    for options in (ImportOptions(index_checks=False), ImportOptions(lenient=True), ImportOptions(kernels=True)):
        keys.append(_key(_two, X, y, options=options))
    assert None not in keys
    assert len(set(keys)) == len(keys)


@torch.jit.ignore
def _logged(x: Tensor) -> Tensor:
    return x + 1


def _calls_python(x: Tensor) -> Tensor:
    return _logged(x)


class _Subclass(Tensor):
    pass


def test_what_has_no_key() -> None:
    y = X.clone()
    assert _key(_calls_python, X) is None
    assert _key(_two, X, y.as_subclass(_Subclass)) is None
    assert _key(_two, X, y.to_sparse()) is None
    with torch.device("cpu"):  # a mode: what others of its kind do is not known
        assert _key(_two, X, y) is None


# What comes from the cache. ------------------------------------------------------------------------------------------


def _rows(x: Tensor) -> Tensor:
    y = torch.zeros(x.shape[0] + 1)
    for i in range(x.shape[0]):
        y[i + 1] = y[i] + x[i]
    return y


def test_dynamic_sizes_are_checked(folder: Path) -> None:
    shapes = {"x": {0: Dim("n", min=2, max=6)}}
    made = [ssa_compiler.compile(_rows, (X[:, 0],), dynamic_shapes=shapes) for _ in range(2)]
    assert [each.explain().cached for each in made] == [False, True]
    assert made[0].explain().sizes == made[1].explain().sizes
    for count in (2, 3, 6):
        x = torch.arange(float(count * 3))[::3]
        torch.testing.assert_close(made[1](x), _rows(x))
    with pytest.raises(ssa_compiler.ArgumentValueError, match="at most 6"):
        made[1](torch.ones(7))
    assert len(made[1].specialisations) == 1


def test_a_module_is_the_one_at_hand(folder: Path) -> None:
    """Its own parameters are read and its own numbers are set; changes of what was a constant compile anew."""
    one, other = _Scaled(), _Scaled()
    compiled = [ssa_compiler.compile(module, (X,), gradients="detach") for module in (one, other)]
    assert [each.explain().cached for each in compiled] == [False, True]
    for module, program in zip((one, other), compiled):
        torch.testing.assert_close(program(X), module(X).detach())
    assert (one.count, other.count) == (2, 2)
    other.eps = 0.125
    torch.testing.assert_close(compiled[1](X), other(X).detach())
    assert len(compiled[1].specialisations) == 2
    other.seen += 3
    torch.testing.assert_close(compiled[1](X), other(X).detach())
    assert len(compiled[1].specialisations) == 2


def _prints(x: Tensor, n: int) -> Tensor:
    print("n is", n)
    return x + n


def test_programs_that_print_are_imported(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        compiled = ssa_compiler.compile(_prints, (X, 1))
        assert "import" in compiled.seconds
        compiled(X, 3)
        assert capsys.readouterr().out == "n is 3\n"


def _raises(x: Tensor, n: int) -> Tensor:
    if n > 2:
        raise ValueError("too many")
    return x[n] * 2


def test_errors_are_those_of_the_program(folder: Path) -> None:
    for _ in range(2):
        compiled = ssa_compiler.compile(_raises, (X, 1))
        torch.testing.assert_close(compiled(X, -1), X[-1] * 2)
        with pytest.raises(ValueError, match="too many"):
            compiled(X, 3)
        with pytest.raises(IndexError):
            compiled(X, -5)
    assert compiled.explain().cached


@pytest.mark.parametrize("content", [b"", b"no pickle", pickle.dumps((1, 2))], ids=["empty", "text", "other"])
def test_entries_that_cannot_be_read_are_made_again(folder: Path, content: bytes) -> None:
    ssa_compiler.compile(_two, (X, X.clone()))
    (entry,) = [entry for entry in folder.iterdir() if (entry / "program.pickle").exists()]
    (entry / "program.pickle").write_bytes(content)
    (entry / "digests.json").write_text(json.dumps({"program.pickle": sha256(content).hexdigest()}))
    again = ssa_compiler.compile(_two, (X, X.clone()))
    assert "import" in again.seconds
    torch.testing.assert_close(again(X, X.clone()), X + X)
    assert "import" not in ssa_compiler.compile(_two, (X, X.clone())).seconds


def test_strict_holds_for_what_comes_from_the_cache(folder: Path) -> None:
    def program(x: Tensor) -> Tensor:
        return torch.igamma(x + 1, x + 2)

    ssa_compiler.compile(program, (X,))
    with pytest.raises(ssa_compiler.UnsupportedOpError, match="strict"):
        ssa_compiler.compile(program, (X,), strict=True)
