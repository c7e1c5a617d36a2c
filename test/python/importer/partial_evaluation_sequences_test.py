# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Lists of the caller's that say what is done: names, and parameters of several types."""

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([0.5, -1.0, 2.0, -3.0])


def high(x, a):
    return x * a


def low(x, a, b=1.0):
    return x - a * b


TABLE = {"high": high, "low": low}


def scale(x, factor=2.0, offset=1.0, levels=3):
    gains = []
    for v in x.tolist():
        gains.append(v * factor if v > 0 else 0.0)
    return x * factor + offset, sum(gains) + levels


def process(x, effects):
    info = {}
    for name, params in effects:
        if name in TABLE:
            x = TABLE[name](x, *params)
        elif name == "scale":
            x, info["gain"] = scale(x, **params)
        elif name == "norm":
            if x.max() > 1:
                x = x / x.max()
        else:
            raise ValueError(f"unknown effect: {name}")
    return x, info


def asked(x, steps, mode):
    a, *rest = steps
    n = len(steps) + len(rest)
    if not steps[-1]:
        n += 10
    if isinstance(steps, list) and isinstance(steps[0], tuple) and a[0] is not None:
        n += 100
    for k, (step, y) in enumerate(zip(steps, x)):
        n += k * len(step) * y
    return n * a[1], steps, [mode], steps[0]


def changes(x, steps):
    steps.append(x)
    return x


def compares(x, steps):
    return x if steps == [("a", 1)] else -x


def shows(x, steps):
    return x, str(steps)


def test_effects_with_parameters():
    check(process, (X, [("high", (3.0,)), ("norm", ())]), (-X, [("high", (0.5,)), ("norm", ())]))
    check(
        process,
        (X, [("high", (2.0,)), ("scale", {"factor": 3.0})]),
        (X, [("high", (-1.0,)), ("scale", {"factor": 0.5})]),
    )
    check(process, (X, [("scale", {}), ("low", (1.0, 2.0)), ("low", (2.0,))]))
    check(process, (X, [("high", (2.0,))]), (X, [("high", (0.5,))]))
    check(process, (X, [("scale", {"offset": 0.5, "levels": 2})]), (X, [("scale", {"offset": 1.5, "levels": 0})]))
    check(process, (X, []))


def test_another_text_is_another_program():
    compiled = ssa_compiler.compile(process, (X, [("high", (3.0,)), ("norm", ())]))
    for effects in ([("low", (3.0,)), ("norm", ())], [("high", (3.0,))], [("scale", {"factor": 1.0}), ("norm", ())]):
        assert torch.equal(compiled(X, effects)[0], process(X, effects)[0])
    with pytest.raises(Exception, match="unknown effect: other"):
        compiled(X, [("other", ())])


def test_what_is_asked_of_a_list():
    steps = [("a", 2.0), (None, X[:2], 3), ()]
    check(asked, (X, steps, "k"), (X + 1, [("a", 0.5), (None, X[1:3], 4), ()], "k"))
    compiled = ssa_compiler.compile(asked, (X, steps, "k"))
    assert compiled(X, steps, "k")[1] is steps


@pytest.mark.parametrize("program", [changes, compares, shows])
def test_what_is_not_known_of_a_list(program):
    with pytest.raises(errors.SsaCompilerError):
        ssa_compiler.compile(program, (X, [("a", 1), ("b", X)]))
