# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Programs that take `*args`, `**kwargs` and keyword-only parameters with defaults."""

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors

X = torch.tensor([1.0, 3.0, 2.0])


def agree(model, *calls, **options):
    """Compile for the first call, and make them all; each is positional arguments and keyword arguments."""
    program = ssa_compiler.compile(model, calls[0][0], example_kwargs=calls[0][1], **options)
    for args, kwargs in calls:
        try:
            wanted = model(*args, **kwargs)
        except TypeError:
            with pytest.raises(TypeError):
                program(*args, **kwargs)
            continue
        assert repr(program(*args, **kwargs)) == repr(wanted)
    return program


def simulated(x, *, steps=3, scale=2.0, mode="sum"):
    for _ in range(steps):
        x = x * scale
    functions = {"sum": torch.sum, "max": torch.max}
    return functions[mode](x)


def test_keyword_only_parameters_have_defaults():
    agree(simulated, ((X,), {}), ((X,), {"steps": 0}), ((X,), {"scale": 3.0, "steps": 1}), ((X,), {"mode": "max"}))
    agree(simulated, ((X,), {"steps": 2, "mode": "max"}), ((X,), {}), ((X,), {"scale": 0.5}))
    program = ssa_compiler.compile(simulated, (X,))
    with pytest.raises(errors.ArgumentTypeError, match="takes 1 positional arguments but 2 were given"):
        program(X, 3)
    with pytest.raises(errors.ArgumentTypeError, match="unexpected keyword argument 'other'"):
        program(X, other=3)


def mixed(x, y=2, *, weight, bias=None):
    for f in (torch.relu, torch.neg):
        x = f(x) * y * weight
    return x if bias is None else x + bias


def test_some_of_them_are_required():
    agree(
        mixed,
        ((X,), {"weight": 2}),
        ((X, 3), {"weight": 1}),
        ((X,), {"weight": 2, "bias": X}),
        ((X,), {"y": 1, "weight": 3}),
    )
    with pytest.raises(errors.ArgumentTypeError, match="missing required argument 'weight'"):
        ssa_compiler.compile(mixed, (X,), example_kwargs={"weight": 2})(X)


def only_tensors(x, *, y):
    functions = [torch.relu]
    return functions[0](x) + y


def test_they_are_not_passed_by_position():
    program = ssa_compiler.compile(only_tensors, (X,), example_kwargs={"y": X})
    assert torch.equal(program(X, y=X), X + X)
    with pytest.raises(errors.ArgumentTypeError, match="takes 1 positional arguments but 2 were given"):
        program(X, X)


def total(x, *rest):
    functions = [torch.relu, torch.neg]
    for number, each in enumerate(rest):
        x = functions[number % 2](x) + each
    return x, len(rest), rest


def test_any_number_of_arguments():
    calls = [(X,), (X, 1), (X, X, 2.5), (X, 2, X), (X, 3, X), (X, X, 1.5), (X, 2)]
    agree(total, *((args, {}) for args in calls))
    agree(total, *((args, {}) for args in reversed(calls)))
    agree(total, ((X, 1), {}), ((), {}), ((X, 1), {"rest": 2}), ((X,), {"other": 3}))


def second(a, b):
    return a * b


def first(a, b=3, c=None):
    return a + b if c is None else a - c


def dispatched(kind, *args, **options):
    if kind == "first":
        return first(*args, **options)
    if kind == "second":
        return second(*args, **options)
    raise ValueError(f"no such kind: {kind}")


def test_arguments_are_passed_on():
    agree(
        dispatched,
        (("first", X), {}),
        (("second", X, 2), {}),
        (("first", X), {"b": 1}),
        (("first", X), {"c": X}),
        (("second", X), {"b": X}),
        (("first", X, 2), {}),
        (("first",), {"a": X}),
    )


def named(x, y=1, *values, scale=1.0, **options):
    names = []
    for key, value in options.items():
        names.append(key)
        x = x * value
    scale = scale + options.get("shift", 0)
    for value in values:
        x = x + value
    return x * scale + y, names, options, len(options), "a" in options


def test_keywords_of_any_name():
    agree(
        named,
        ((X,), {}),
        ((X,), {"a": 2, "b": 3.0}),
        ((X,), {"b": 3.0, "a": 2}),
        ((X, 2, X), {"a": 2, "scale": 2.0, "x1": X}),
        ((X,), {"scale": 0.5, "shift": 1}),
        ((X,), {"y": 3, "names": 2}),
        ((X, 1, 2), {}),
        ((X, 1, 3), {}),
    )


def changing(x, *values, **options):
    values[0].add_(1)
    options["n"] += 1
    options["last"] = x.sum().item()
    return options, values


def test_what_they_hold_is_changed():
    program = ssa_compiler.compile(changing, (X, X.clone()), example_kwargs={"n": 2, "more": X})
    for n in (1, 5):
        value, other = X * n, X * n
        got, (returned,) = program(X, value, n=n, more=X)
        want, _ = changing(X, other, n=n, more=X)
        assert repr(got) == repr(want)
        assert torch.equal(value, other)
        assert returned is value


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])

    def forward(self, *inputs, weights=None, **options):
        outputs = [layer(x) for layer, x in zip(self.layers, inputs)]
        return {"outputs": outputs, **options}


def test_modules_take_them():
    torch.manual_seed(0)
    with torch.no_grad():
        agree(Model(), ((X, X), {}), ((X,), {"n": 3}), ((), {}), ((X, X), {"n": 4, "m": 1}), ((X,), {"n": 1}))


def test_the_message_names_them():
    program = ssa_compiler.compile(total, (X, 1), max_specialisations=1)
    with pytest.raises(
        errors.ArgumentTypeError,
        match=r"expected the further arguments \['rest\[0\]'\] of the example, in this order, got \[\]",
    ):
        program(X)
    with pytest.raises(errors.ArgumentTypeError, match=r"'rest\[0\]'"):
        program(X, X)
