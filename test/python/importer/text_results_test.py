# mypy: disable-error-code="no-untyped-def, no-untyped-call"
"""Results that are strings which the run decides."""

import pytest
import torch
from torch import Tensor

from ssa_compiler.testing import check

X = torch.tensor([0.5, -1.0, 2.0])


def formatted(x: Tensor, n: int):
    return f"{n:03d} of {x.size(0)} is {x.sum().item() > 0}", "%.3f" % float(x[0])  # noqa: UP031 - another op


def chosen(x: Tensor, n: int):
    status = "running"
    steps = 0
    for i in range(n):
        steps = i
        x = x + x
        if bool(x.sum() > 20):
            status = "large"
            break
        if bool(x[0] < 0):
            status = f"negative after {i}" if i > 1 else "negative"
            break
    return status, steps


def nested(x: Tensor, n: int):
    name = "a" if n > 1 else "b"
    if bool(x[0] > 0):
        name = f"{n}!"
    else:
        if n > 3:
            name = "long"
    return {"name": name, "both": [name, "c"]}


def carried(x: Tensor, n: int):
    last = ""
    for i in range(n):
        last = f"step {i}: {float(x.sum()):.2f}"
    return last


def raised(x: Tensor, n: int):
    kind = f"{n} rows" if n > 2 else "few"
    if bool(x[0] > 0):
        raise ValueError("too many: " + kind)
    return x


@pytest.mark.parametrize("program", [formatted, chosen, nested, carried])
def test_texts(program):
    check(program, (X, 3), (X, 0), (X, 1), (X, 2), (X, 9), (-X, 3), (-X, 0), (X * 0, 7))


def test_message():
    check(raised, (-X, 3), (X, 3), (X, 1))


CODES = {"running": 0, "large": 5, "negative": 7}


def asked(x: Tensor, n: int):
    """Strings that branches and loops choose, as operands of what takes strings."""
    status, other = "running", "large" if n > 2 else "negative"
    for i in range(n):
        if bool(x[i] > 3):
            status = "large"
            break
        if bool(x[i] < 0):
            status = "negative"
            break
    found = {"running": 1, "large": 2, "negative": 3}
    found[status] += 10
    compared = status == "large", status != "negative" and len(status) > 6, status == other, status < other
    searched = "a" in status, status in ("large", "running"), status.startswith("n"), status in found
    made = "now " + status, status.upper() if compared[0] else status, f"<{status}>", status[0]
    return compared, searched, made, CODES[status], found


def test_strings_that_are_chosen_are_operands():
    large, negative = torch.tensor([1.0, 2.0, 5.0, 1.0]), torch.tensor([1.0, -2.0, 5.0, 1.0])
    check(asked, *((x, n) for x in (large, negative) for n in (2, 0, 1, 3, 4)))
