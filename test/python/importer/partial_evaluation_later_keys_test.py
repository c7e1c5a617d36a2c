# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Dicts whose elements are of several types, and which get keys after they are made."""

import pytest
import torch
from torch import nn

import ssa_compiler
from ssa_compiler import errors
from ssa_compiler.testing import check

X = torch.tensor([1.0, 3.0, 2.0])


def ranked(x):
    order = x.argsort()
    return order, len(x)


def straight(x, n):
    result = {"first": x[:n]}
    result["order"], result["count"] = ranked(x)
    total = result["first"].sum()
    result["total"] = total.item()
    result["path"] = [k * 2 for k in range(n)]
    result["first"] = x * 2
    result["count"] += n
    return result, result["total"] + 1, len(result), list(result), "path" in result


def test_keys_are_added_one_after_the_other():
    check(straight, (X, 2), (X, 0), (X, 3))


def chosen(x, n, with_order=True):
    made = {"x": x, "n": n}
    if with_order:
        made["order"] = x.argsort()
        made["names"] = [[1], [n]]
    made["last"] = n * 0.5
    return made


def test_a_flag_decides():
    check(chosen, (X, 2), (X, 1, False), (X, 3, True))
    check(chosen, (X, 2, False), (X, 1), (X, 3, True))


def found(x, n):
    made = {"x": x, "n": n}
    if n > 1:
        made["later"] = x * n
    if x.sum() > n:
        made["sum"] = float(x.sum())
    if n > 2:
        made["flag"] = n == 3
    return made


def test_values_decide():
    check(found, *[(x, n) for n in (3, 0, 2, 5) for x in (X, X * 0)])


def read(x, n):
    made = {"x": x, "n": n}
    if n > 1:
        made["later"] = x * n
        made["n"] += 1
    if "later" in made:
        made["later"] += 1
        made["later"] = made["later"] * 2
    elif "later" not in made and n > 0:
        made["n"] -= 1
    got = made.get("later")
    return made, made["n"], x if got is None else got, made.get("missing", 3)


def test_keys_are_asked_for():
    check(read, (X, 3), (X, 0), (X, 1), (X, 2))


def missed(x, n):
    made = {"x": x, "n": n}
    if n > 1:
        made["later"] = x * n
    return made["later"] + made["x"]


def test_a_key_that_is_not_there_raises():
    check(missed, (X, 3), (X, 2), compiled=False)
    with pytest.raises(KeyError, match="'later'"):
        ssa_compiler.compile(missed, (X, 3))(X, 0)


def captured(x, n):
    d = {"a": x, "n": 1}

    def get():
        return d["n"]

    d = {"a": x + 1}
    k = get() if n > 0 else 7
    d["n"] = k + 1
    return d, k


def test_a_closure_reads_what_the_variable_holds_then():
    check(captured, (X, 0), (X, -1), compiled=False)
    with pytest.raises(KeyError, match="'n'"):
        ssa_compiler.compile(captured, (X, 0))(X, 1)


def in_a_loop(x, n):
    made = {"x": x, "best": 0.0}
    for i in range(n):
        value = (x * (i - 1)).sum().item()
        if value > made["best"]:
            made["best"] = value
            made["row"] = x * i
            made["at"] = i
    return made


def counted(x, n):
    made = {"x": x, "n": n}
    for i in range(n):
        if "hits" in made:
            made["hits"] += i
        else:
            made["hits"] = 1
    return made


@pytest.mark.parametrize("program", [in_a_loop, counted])
def test_loops_add_them(program):
    check(program, (X, 4), (X, 0), (X, 1), (X, 2), (X, 3))


def several(x, n):
    rows = []
    for i in range(3):
        entry = {"row": x[i], "i": i}
        if n > 0:
            entry["scaled"], other = ranked(x * n)
            entry["count"] = other
        rows.append(entry)
    return rows


def test_a_list_of_them_is_a_result():
    check(several, (X, 2), (X, 0))


def helper(made, x):
    made["sum"] = x.sum().item()
    return made


def shared(x, n):
    made = {"x": x, "n": n}
    other = made
    same = helper(made, x)
    other.update({"x": x + 1, "late": n > 0}, n=3)
    made["own"] = x
    return made, other, same, same is made, made["own"] is x


def test_a_dict_with_two_names_gets_them_once():
    check(shared, (X, 3), (X, 0))


def read_whole(x, n, flag=True):
    made = {"x": x, "n": n}
    if flag:
        made["y"] = x * 2
    made["z"] = 1.5
    keys = [key + key for key in made]
    total = 0.0
    for key, value in made.items():
        if key != "x" and key != "y":
            total += value
    return {**made, "w": total}, keys, made.copy(), dict(made, v=3)


def test_all_of_them_are_read():
    check(read_whole, (X, 2), (X, -3))


def empty(x, n):
    report, other = {}, {}
    for _ in range(n):
        x = x + 1
        report["last"] = x
    report["n"] = n
    other["last"] = n
    if n > 1:
        other["x"] = x
    return report, other


def test_empty_dicts_are_told_apart():
    check(empty, (X, 2), (X, 0), (X, 1))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.training_steps = 0
        self.head = nn.Linear(3, 2)

    def forward(self, x, labels=None):
        out = {"logits": self.head(x), "steps": self.training_steps}
        if labels is not None:
            out["loss"] = (out["logits"] - labels).pow(2).mean()
        if self.training:
            out["trained"] = True
        return out


def test_a_module_returns_them():
    check(Model(), (X, torch.zeros(2)), (X * 2, torch.ones(2)))
    check(Model(), (X,), (X * 2,))


def other_order(x, n):
    made = {"x": x, "n": n}
    for i in range(2):
        if i + n > 1:
            made["a"] = x * i
        if i + n < 2:
            made["b"] = i
    return made


def iterated(x, n):
    made = {"x": x, "n": n}
    if n > 1:
        made["later"] = x * n
    return len(made)


def of_the_caller(x, batch):
    batch["later"] = x
    return batch["n"]


def removed(x, n):
    made = {"x": x, "n": n}
    if n > 1:
        made["later"] = x
        del made["later"]
    return made


def nothing(x, n):
    made = {"x": x, "n": n}
    if n > 1:
        made["later"] = None
    return made


def with_a_dynamic_default(x, n):
    made = {"x": x, "n": n}
    if n > 1:
        made["later"] = x
    return made.get("later", n)


@pytest.mark.parametrize(
    ("program", "says"),
    [
        (of_the_caller, "'later', a key that is added to a dict of the caller's"),
        (removed, "cannot script removed"),
        (nothing, "'later', a key that is added to a dict with a value that may be None"),
        (with_a_dynamic_default, r"get\(\) of 'later', a key that is added to a dict, with a default"),
    ],
)
def test_others_are_rejected(program, says):
    args = (X, {"x": X, "n": 1}) if program is of_the_caller else (X, 3)
    with pytest.raises(errors.SsaCompilerError, match=says):
        ssa_compiler.compile(program, args)


def test_another_order_raises():
    check(other_order, (X, 2), (X, 3), (X, -1), compiled=False)
    with pytest.raises(errors.UnsupportedProgramError, match="in another order than that of the program's text"):
        ssa_compiler.compile(other_order, (X, 2))(X, 1)


def test_reading_all_keys_before_one_is_added_raises():
    check(iterated, (X, 2), (X, 3), compiled=False)
    with pytest.raises(errors.UnsupportedProgramError, match="reading all keys of a dict to which one is added later"):
        ssa_compiler.compile(iterated, (X, 2))(X, 1)


def with_any_keys(x, n):
    made = {"val/loss": x.sum().item(), "acc@1": x, "class": n, "self": [n], "größe": 1, "": n * 2}
    for number in range(2):
        made[f"layers.{number}"] = {"error": x * number, "levels.n": [number, n]}
    if n > 1:
        made["layers.2"] = x + made["layers.1"]["error"]
    made["val/loss"] += 1
    total = made["val/loss"] + made["layers.0"]["levels.n"][1]
    return made, total, "acc@1" in made, "layers.2" in made, made.get("layers.2"), made.get("layers.3", 4)


def test_keys_are_any_strings():
    check(with_any_keys, (X, 2), (X, 0), (X, 3))


def read_any_keys(x, n):
    made = {"a.b": x, "a_2e_b": n}
    made["a b"] = 2.5
    copied = {**made, "a-b": n}
    return [key for key, value in made.items()], list(copied.keys()), copied, dict(made)


def test_keys_that_are_alike_are_told_apart():
    check(read_any_keys, (X, 2), (X, 0))


def of_any_keys(x, batch):
    return batch["a.b"] * batch["n"]


def test_dicts_of_the_caller_have_names():
    with pytest.raises(errors.SsaCompilerError, match="with keys that are no names"):
        ssa_compiler.compile(of_any_keys, (X, {"a.b": X, "n": 2}))
