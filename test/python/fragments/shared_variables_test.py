# mypy: disable-error-code="no-untyped-def, no-untyped-call, name-defined"
# ruff: noqa: B023, E731, PLW0603, RUF100, E701, E702
"""Variables that others see, control flow that leaves in the middle, and results whose memory or strides matter."""

import functools
import time
from contextlib import suppress

import pytest
import torch

import ssa_compiler
from _broken_programs import compiled_with_breaks
from _graph_breaks import InterpretedFragment
from ssa_compiler.errors import ScriptError
from ssa_compiler.fragments import splitting, variants
from ssa_compiler.testing.harness import check_other

X = torch.tensor([1.0, 2.0, 3.0, 4.0])
ROWS = torch.arange(16.0).reshape(4, 4)
G = 1.0


def by_nonlocal(x):
    c = 0

    def inc(v):
        nonlocal c
        c += 1
        time.sleep(0)
        return v * c

    y = inc(x)
    y = inc(y)
    y = inc(y)
    return y, c


def bump():
    global G
    time.sleep(0)
    G += 1


def by_global(x):
    global G
    G = 1.0
    bump()
    y = x * G
    bump()
    return y * G


def read_by_a_function(x):
    a = 2

    def f(z):
        time.sleep(0)
        return z * a

    y = x * a + 1
    a = a + 3
    z = f(y) + a
    a = a * 2
    return f(z) - a, a


def read_by_a_lambda(x):
    time.sleep(0)
    w = x * 2
    f = lambda: w
    w = x * 3 + 1
    y = f() * 2
    time.sleep(0)
    w = x * 5
    return y + f()


def lambdas_of_a_loop(x):
    functions = []
    for i in range(3):
        time.sleep(0)
        functions.append(lambda v: v * i + 1)
    y = x
    for f in functions:
        y = f(y) + 1
    i = 10
    return functions[0](y) * 2


def calls_itself(x):
    def f(v, n):
        time.sleep(0)
        if n == 0:
            return v
        return f(v * 2 + 1, n - 1) + x

    y = f(x, 3) + 1
    x = x * 2
    return f(y, 2) * x


def read_by_a_class(x):
    class A:
        w = x * 2

        def go(self, v):
            time.sleep(0)
            return v * self.w + x

    a = A()
    y = a.go(x) + 1
    x = x + 1
    A.w = y
    return a.go(y) + x


def leaves_by_match(x):
    y = x
    for i in range(3):
        time.sleep(0)
        y = x * 2 + i
        match i:
            case 1:
                break
        y = x
    return y + 0


def goes_on_by_match(x):
    s = x
    y = x
    for i in range(4):
        s = s + y
        time.sleep(0)
        y = x * 2 + i
        match i:
            case 2:
                continue
        y = x
    return s


def fails():
    raise ValueError("no")


def swallowed(x):
    y = x
    for i in range(2):
        time.sleep(0)
        y = x * 2 + i
        with suppress(ValueError):
            y = fails()
    return y


class Swallowing:
    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return True


class Library:
    no_grad = Swallowing


def swallowed_by_another_no_grad(x):
    time.sleep(0)
    y = x
    with Library.no_grad():
        y = x * 2 + 1
        time.sleep(0)
        y = y * fails()
    return y * 2 + 1


def deleted(x):
    y = x
    k = time.sleep(0)
    with suppress(NameError):
        del y
    if k is None:
        y = x * 2 + 1
    z = y * 3
    return z


def strides_decide(x):
    time.sleep(0)
    y = x.reshape(2, 2).t() * 2 + 1
    time.sleep(0)
    f = y.flatten()
    time.sleep(0)
    f.add_(1)
    time.sleep(0)
    return y


class Doubling:
    def __init__(self, v):
        self.v = v

    def __getattribute__(self, name):
        found = object.__getattribute__(self, name)
        return found * 2 if name == "v" else found


def attributes_are_computed(x):
    o = Doubling(x)
    time.sleep(0)
    y = o.v * 3 + 1
    return y + o.v


def shown(function):
    @functools.wraps(function)
    def wrapper(*args):
        try:
            return function(*args) + len(function.__name__)
        except Exception as error:
            return args[0] + len(str(error)), str(error), type(error).__name__

    return wrapper


@shown
def raises(x):
    y = x * 2 + 1
    if y.sum() > 3:
        raise ValueError("bad")
    return y


def decorated(x):
    time.sleep(0)
    return raises(x), raises(x * 0 - 1)


def recursive(x, n):
    y = x * 2 + 1
    if n == 0:
        return y
    return recursive(y, n - 1)


def calls_a_recursive_one(x):
    time.sleep(0)
    return recursive(x, 3) * 2


class Private:
    def __init__(self, v):
        self.__v = v

    def go(self, x):
        time.sleep(0)
        y = x * self.__v + 1
        return y


def private_names(x):
    time.sleep(0)
    return Private(x).go(x)


class Holder:
    def __init__(self, v):
        self.v = v


def similar_names(x):
    p = Holder(x)
    _p = Holder(x * 10)
    time.sleep(0)
    y = _p.v * 2 + p.v
    z = y * 3 - p.v
    return z


def looks_at_variables(x):
    time.sleep(0)
    y = x * 2 + 1
    time.sleep(0)
    return eval("y + 1"), sorted(locals())


def test_functions_that_look_at_their_variables():
    with pytest.raises(ScriptError, match="looks_at_variables"):
        ssa_compiler.compile(looks_at_variables, (X,))


def annotated(x, eps: float = 1):
    y = x * eps + 1
    return y, eps


def default_stays_an_int(x):
    time.sleep(0)
    return annotated(x)


PROGRAMS = [
    *(by_nonlocal, by_global, read_by_a_function, read_by_a_lambda, lambdas_of_a_loop, calls_itself, read_by_a_class),
    *(leaves_by_match, goes_on_by_match, swallowed, swallowed_by_another_no_grad, deleted, strides_decide),
    *(attributes_are_computed, decorated, calls_a_recursive_one, private_names, similar_names),
    default_stays_an_int,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_as_eager(program, monkeypatch):
    monkeypatch.setattr(splitting, "FEWEST_OPS", 1)
    monkeypatch.setattr(variants, "CompiledProgram", InterpretedFragment)
    check_other(program, lambda model: compiled_with_breaks(model, X), [(X,), (X * 0,), (-X,)], "with graph breaks")


class Cached(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cache = None

    def keep(self, x):
        self.cache = x[1:]

    def forward(self, x, view: bool):
        time.sleep(0)
        if view:
            self.keep(x)
        else:
            self.cache = x
        time.sleep(0)
        same = self.cache is x
        x.add_(1)
        time.sleep(0)
        y = x * 2 + 1
        return self.cache * 1, same, self.cache is x, y


def test_attributes_that_share_memory(monkeypatch):
    monkeypatch.setattr(splitting, "FEWEST_OPS", 1)
    calls = [(X, True), (X, False), (X * 2, True)]
    check_other(Cached(), lambda model: compiled_with_breaks(model, X.clone(), True), calls, "with graph breaks")


class Remembers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("last", torch.zeros(4))

    def forward(self, x):
        if self.last is x:
            return x * 2
        return x * 3


def test_whether_an_argument_is_a_tensor_of_the_module():
    module = Remembers()
    compiled = ssa_compiler.compile(module, (X,))
    with torch.no_grad():
        assert compiled(X).equal(module(X))
        assert compiled(module.last).equal(module(module.last))
        module.last = X
        assert compiled(X).equal(module(X))
