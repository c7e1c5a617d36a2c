# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Dicts whose elements are of several types: partial evaluation makes them objects with an attribute for each key."""

from typing import Dict, List  # noqa: UP035

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([1.0, 3.0, 2.0])


def scaled(batch):
    batch["image"].add_(1)
    batch["n"] += 1
    return batch["image"] * batch["scale"]


def test_arguments_are_read_and_changed():
    calls = [({"image": X, "scale": scale, "n": n},) for scale, n in ((2.0, 3), (-1.0, -(2**63)), (0.0, 0))]
    check(scaled, *calls)


def test_other_keys_types_and_orders_compile_again():
    compiled = ssa_compiler.compile(scaled, ({"image": X.clone(), "scale": 2.0, "n": 3},))
    assert torch.equal(compiled({"n": 1, "image": X.clone(), "scale": 3.0}), (X + 1) * 3)
    assert torch.equal(compiled({"image": X.clone(), "scale": 3, "n": 1}), (X + 1) * 3)
    with pytest.raises(TypeError):
        compiled({"image": X.clone(), "scale": "a", "n": 1})


def boxes_of(targets):
    out = []
    for target in targets:
        out.append(target["boxes"] * target["id"])
    return out


def test_lists_of_records_are_arguments():
    check(boxes_of, ([{"boxes": X, "id": 2}, {"boxes": X[:1], "id": 3}],))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0
        self.config = {"act": torch.relu, "factor": 3, "name": "a"}

    def forward(self, batch):
        logits = self.config["act"](batch["x"] - self.scale)
        out = {"logits": logits}
        loss = logits.sum() if batch["train"] else None
        out["loss"] = loss
        out["count"] = len(batch)
        return out


def test_results_get_keys_after_they_are_made():
    check(Model(), ({"x": X, "train": True},), ({"x": X, "train": False},))


def counted(x, n):
    counts = {"hit": 0, "loss": 0.0, "last": None}
    for i in range(n):
        if x[i] > 1:
            counts["hit"] += 1
            counts["last"] = x[i] * 2
        counts["loss"] += float(x[i])
    return counts


def step(state, x):
    state["h"] = state["h"] * 0.5 + x
    state["t"] += 1
    return state


def stepped(x, n):
    state = {"h": torch.zeros(3), "t": 0}
    first = state
    while state["t"] < n:
        state = step(state, x)
    return state["h"], state, first is state


def best(x, n):
    found = {"score": 0.0, "x": x}
    for i in range(n):
        score = float((x * i).sum())
        if score > found["score"]:
            found = {"score": score, "x": x * i}
    return found


@pytest.mark.parametrize("program", [counted, stepped, best])
def test_loops_carry_them(program):
    check(program, (X, 3), (X, 0), (X, 1), (X, 2))


def shared(x, n):
    a = {"v": x, "n": n}
    b = a
    c = [a, a.copy()]
    b["n"] = 9
    c[0]["v"] = x * 3
    c[1]["n"] += 5
    return a, b, a is b, c


def test_a_dict_with_two_names_is_one():
    check(shared, (X, 3))


def inner(x, scale=1.0, **options):
    return outer_step(x * scale, **options) + options.get("bias", 0) + options.get("missing", 1)


def outer_step(x, bias=1, weight=None):
    return x + bias if weight is None else x * weight


def passed(x, n):
    return inner(x, bias=n), inner(x, weight=x, bias=n), inner(x, 3.0)


def test_keyword_arguments_are_passed_on():
    check(passed, (X, 2), (X, -5))


def viewed(batch):
    made = {**batch, "z": 1}
    values = []
    for key, value in made.items():
        if key == "x":
            made["z"] = 5  # which the loop sees
        if key != "x":
            values.append(value)
    made.update({"x": made["y"], "y": made["x"]}, z=7)
    names = [key + key for key in made]
    return values, names, list(made.keys()), len(made), "x" in made, "w" in made, made, dict(made, z=0)


def test_views_read_what_the_dict_holds_then():
    check(viewed, ({"x": 3, "y": 2},), ({"x": -(2**63), "y": 2**63 - 1},))


def configured(x, options=None):
    config = {"lr": 0.5, "steps": 3, "mode": "fast"}
    config.update(options or {})
    for _ in range(config["steps"]):
        x = x - config["lr"] * x if config["mode"] == "fast" else x + 1
    return x


def test_configurations_are_updated():
    for options in (None, {}, {"lr": 1.0}, {"mode": "slow"}, {"steps": 0}, {"lr": 0.25, "steps": 2}):
        check(configured, (X, options))


class Configured(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0

    def forward(self, x):
        first = {"k": self.scale, "x": x}
        second = {"k": 2.0, "x": x}
        return first["x"] * first["k"] + second["k"]


def test_elements_that_are_constants_are_compared():
    model = Configured()
    compiled = ssa_compiler.compile(model, (X,))
    model.scale = 5.0
    assert torch.equal(compiled(X), X * 5 + 2)


def missing(x, batch):
    return x * batch["missing"]


def dynamic(x, batch, i):
    return batch[["x", "n"][i]] * x


def removed(x, batch):
    return batch.pop("n"), x


def kept_view(x, batch):
    view = batch.values()
    batch["n"] = 5
    return list(view)


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (missing, "'missing', a key that a dict does not have"),
        (dynamic, "a dynamic key of a dict whose elements are of several types"),
        (removed, r"pop\(\) of a dict whose elements are of several types"),
        (kept_view, r"values\(\) of a dict that is a value"),
    ],
)
def test_other_dicts_are_rejected(program, says):
    args = {dynamic: (X, {"x": X, "n": 1}, 1)}.get(program, (X, {"x": X, "n": 1}))
    with pytest.raises(errors.SsaCompilerError, match=says):
        ssa_compiler.compile(program, args)


def with_defaults(x, state):
    steps = state.get("steps", 3)
    for _ in range(steps):
        x = x * state["factor"]
    return x.clamp(max=5) if state.get("clamped", True) else x, steps, state.get("names", "none")


def test_keys_that_a_dict_may_have_have_defaults_of_other_types():
    program = ssa_compiler.compile(with_defaults, (X, {"factor": X}))
    for options in ({}, {"steps": 0}, {"steps": 2, "clamped": False}, {"clamped": True}, {}):
        args = X, {"factor": X, **options}
        assert repr(program(*args)) == repr(with_defaults(*args))


def of_nothing(x, n):
    options = None
    if n > 0:
        options = {"a": x, "n": n}
    return options.get("n"), options.get("b", 1)


def test_a_record_that_may_be_none():
    check(of_nothing, (X, 1), (X, 3), compiled=False)
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'get'"):
        ssa_compiler.compile(of_nothing, (X, 1))(X, 0)


def changed_meanwhile(x, n):
    a = {"k": x, "n": n}

    def change(value):
        a["n"] = value
        return value

    b = dict(a, j=change(7))
    c = {"k": x, "n": 1, "j": 0}
    c.update(a, j=change(9))
    return a, b, c


def test_copies_are_made_behind_the_arguments():
    check(changed_meanwhile, (X, 1), compiled=False)


def gathered(x, n):
    found = {name: [] for name in ("a", "b", "c")}
    for i in range(n):
        for name, value in zip(found, (x, x + i, x > i)):
            found[name].append(value)
    if n == 0:
        return {"x": x}
    made = {name: torch.stack(values) for name, values in found.items()}
    made["count"] = int(made["c"].sum())
    return made


def test_the_keys_of_a_record_come_from_another_dict():
    """`made` is a record, as `count` is an int: its keys are known if those of `found` are."""
    check(gathered, (X, 2), (X, 0), (X, 1), compiled=False)


def stepped(x, state):
    if x.sum() > 3:
        return None, {**state, "cache": x}
    h = x if state["h"] is None else state["h"] * 0.5 + x
    return h * 2, {"cache": x * 3, "h": h}


def states(x, n):
    state = {"cache": torch.zeros(2), "h": None}
    found = []
    for k in range(n):
        out, state = stepped(x[k, :2], state)
        if out is None:
            continue
        found.append(out + state["cache"])
    return torch.stack(found) if found else x[:0], state["cache"]


def counts(x, n):
    state = {"n": 0, "x": x, "best": None}
    for k in range(n):
        state = {**state, "n": state["n"] + 1, "best": k}
    return state["n"], state["x"], state["best"]


@pytest.mark.parametrize("program", [states, counts])
def test_records_that_come_to_one_variable_are_of_one_class(program):
    """An element that is None in one of them is Optional in all."""
    x = torch.tensor([[1.0, 0.0], [3.0, 4.0], [0.0, 2.0], [0.0, 1.0]])
    check(program, *[(x, n) for n in (3, 0, 1, 2, 4)], compiled=False)


def cached(x, cache=None):
    if cache is not None and "k" in cache:
        cache["k"] = cache["k"] * 0.5 + x
        return cache["k"] + 1
    if cache is not None:
        cache["k"] = x
    return x * 2


def annotated(x, n):
    caches: List[Dict[str, torch.Tensor]] = [{} for _ in range(2)]  # noqa: UP006
    y = cached(x[0], caches[0])
    for _ in range(n):
        for each in caches:
            y = cached(y, each)
    return y, cached(y)


def test_records_stand_in_an_annotated_list():
    x = torch.tensor([[1.0, 0.0], [3.0, 4.0]])
    check(annotated, *[(x, n) for n in (3, 0, 1, 2)], compiled=False)
