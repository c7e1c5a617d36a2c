# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""OrderedDicts that programs make."""

from collections import OrderedDict

import pytest
import torch

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([1.0, 2.0])


def named(x, n):
    return OrderedDict(x=x * n, n=n, items=[x], more=OrderedDict([("b", x + 1), ("a", x - 1)]))


def grown(x, n):
    out = OrderedDict([("first", x)], n=n)
    for i in range(n):
        x = x + i
    out["last"] = x
    total = 0
    for _, v in out.items():
        total = total + v
    return out, total, list(out), "last" in out, isinstance(out, OrderedDict), isinstance(out, dict), len(out)


def alike(x):
    a = OrderedDict(b=x, a=x * 2)
    a["c"] = x + 1
    return a, a.get("d", x), [v.sum() for v in a.values()]


def chosen(x, kind, n):
    layers = OrderedDict(relu=torch.relu, tanh=torch.tanh)
    for f in layers.values():
        x = f(x)
    return layers[kind](x) * n


def either(x, n, test=False):
    if test:
        return x, x + n
    return OrderedDict(x=x, n=n)


def unfinished(x, n, later=False):
    for i in range(n):
        x = x * i
    if later:
        return x.no_method()
    return x


def asked(batch):
    return batch["x"] * 2 if isinstance(batch, OrderedDict) else batch["x"]


def test_ordered_dicts_of_keywords_and_pairs():
    check(named, (X, 2), (X, 0))
    check(grown, (X, 2), (X, 0), (X, 1), (X, 5))
    check(alike, (X,))
    check(chosen, (X, "relu", 2), (X, "relu", 3))


def test_results_of_several_types_by_a_flag():
    check(either, (X, 2), (X, 3))
    check(either, (X, 2, True), (X, 3, True))


def test_what_a_flag_leaves_out_may_be_anything():
    check(unfinished, (X, 2), (X, 0), (X, 1), (X, 3, False))
    with pytest.raises(errors.ScriptError, match="no_method"):
        ssa_compiler.compile(unfinished, (X, 2, True))


def test_a_dict_of_the_caller_may_be_an_ordered_dict():
    with pytest.raises(errors.SsaCompilerError, match="whether a dict is of a class of its own"):
        ssa_compiler.compile(asked, ({"x": X, "n": 1},))
