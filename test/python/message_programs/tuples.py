"""Programs that are rejected for what is a tuple to Python and a list to TorchScript."""

from torch import Tensor

from .registry import X, rejected


@rejected(X, says="isinstance of what is a tuple to Python and a list to TorchScript; ask isinstance")
def class_of_parts(x: Tensor):
    x = x.clone().t_()
    return x if isinstance(x.split(2), tuple) else -x  # rejected


@rejected(X, says="a list in some runs and a tuple in others, to TorchScript a list, where it matters which it is")
def list_or_tuple(x: Tensor):
    parts = [x, x, x]  # rejected
    if bool(x[0, 0] > 0):
        parts = x.expand(3, 4, 3).unbind(0)
    return parts


@rejected(X, says="a tuple whose length is dynamic as a result; return list")
def parts_of_part(x: Tensor):
    parts = x.unbind(0)  # rejected
    if bool(x[0, 0] > 0):
        parts = x[1:].unbind(0)
    return parts
