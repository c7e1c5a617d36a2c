"""Calls that raise each message about models, arguments and targets; `messages_test.py` makes them.

A message is noted with the call that raises it. Programs that have to be compiled for it are compiled once.
"""

import collections
import functools
import gc
import operator
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

import ssa_compiler
from ssa_compiler.importer import import_program
from ssa_compiler.runtime.c_library import address_of

X = torch.arange(12.0).reshape(4, 3)
CALLS: list[tuple[Callable[[], Any], str]] = []
"""What raises, and a part of the message."""


def raises(call: Callable[[], Any], says: str) -> None:
    """Note a call."""
    CALLS.append((call, says))


def of_import(model: Any, *args: Any, **kwargs: Any) -> Callable[[], Any]:
    """An import that raises."""
    return functools.partial(import_program, model, args, kwargs)


# Models. -------------------------------------------------------------------------------------------------------------


class Sub(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        return self.layer(x)


class HasScriptedHook(nn.Module):
    def __init__(self) -> None:
        super().__init__()

        def double(self: Any, inputs: tuple[Tensor], output: Tensor) -> Tensor:
            return output * 2

        self.register_forward_hook(double)

    def forward(self, x: Tensor) -> Tensor:
        return x + 1


class HasNoForward(nn.Module):
    @torch.jit.export
    def encode(self, x: Tensor) -> Tensor:
        return x + 1


def varying(*x: Tensor) -> Tensor:
    try:
        return x[0]
    except IndexError:
        return torch.zeros(1)


def hooked() -> nn.Module:
    model = Sub()
    model.layer.register_forward_hook(lambda module, inputs, output: output)
    return model


def parametrized() -> nn.Module:
    model = Sub()
    torch.nn.utils.parametrizations.weight_norm(model.layer)
    return model


def under_a_global_hook() -> None:
    handle = torch.nn.modules.module.register_module_forward_hook(lambda module, inputs, output: None)
    try:
        import_program(Sub(), (X,))
    finally:
        handle.remove()


def exported() -> Any:
    return torch.export.export(Sub(), (X,))


raises(
    lambda: import_program(parametrized(), (X,)), "'weight' of the submodule 'layer' is parametrized.*: call torch.nn"
)
raises(of_import(varying, X), "TorchScript cannot script varying: [^\n]*; write out the parameters")
raises(under_a_global_hook, "a global forward hook is registered.*: remove it")
raises(of_import("missing.pt", X), r"got 'missing.pt' \(there is no such file\): of what torch.save wrote, pass")
raises(of_import(operator.itemgetter(0), X), "got a callable object of the class itemgetter, which is not written in")
raises(of_import(functools.partial(varying, X)), "varying cannot be compiled: ")
raises(of_import(functools.partial(torch.add, X)), "got a functools.partial of what is not written in Python: pass a")
raises(of_import(lambda x: x, X), "got a lambda, which TorchScript cannot script: write it as a function with def")
raises(lambda: import_program(compiled(), (X, 2)), "got a program that is compiled already: pass the model")
raises(lambda: import_program(exported(), (X,)), "got a torch.export.ExportedProgram: pass the model that it was")
raises(of_import(torch.optim.SGD([X.clone()]).step, X), "got the method '.*' of PyTorch's class SGD: pass a function")
raises(of_import(nn.Linear, X), "got the class Linear: pass an instance")
raises(of_import(torch.relu, X), "got the operator relu: pass a function that calls it")
raises(of_import(3, X), "got int: pass the program itself")
raises(
    of_import(torch.jit.script(Sub()).extra_repr, X), "'extra_repr' of a Sub is not scripted: mark it @torch.jit.export"
)
raises(lambda: import_program(hooked(), (X,)), "'layer' has a forward hook, '.*', which is not compiled: remove it")
raises(of_import(HasNoForward(), X), r"HasNoForward has no forward method: pass one of its methods \(model.encode\)")
raises(of_import(torch.jit.script(HasScriptedHook()), X), "has the hook 'double', which is not compiled: remove it")


def with_quantized_constant() -> Any:
    """A trace that holds a quantized tensor."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quantized = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)
        return torch.jit.trace(lambda x: x + quantized.dequantize(), (X,))


def with_packed_weights() -> Any:
    """A layer whose weights are an object of PyTorch's own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.jit.script(torch.ao.nn.quantized.dynamic.Linear(3, 3))


CLASS_OF_ANOTHER_PROCESS = """
import sys
import torch
from torch import Tensor

@torch.jit.script
class Data:
    def __init__(self, a: Tensor):
        self.a = a

def wraps(x: Tensor):
    return Data(x)

torch.jit.script(wraps).save(sys.argv[1])
"""


def returns_an_unknown_class() -> None:
    with tempfile.TemporaryDirectory() as folder:
        script, saved = Path(folder) / "wraps.py", Path(folder) / "wraps.pt"
        script.write_text(CLASS_OF_ANOTHER_PROCESS, encoding="utf-8")
        subprocess.run([sys.executable, str(script), str(saved)], check=True, capture_output=True)
        import_program(str(saved), (X,))


raises(of_import(with_quantized_constant(), X), "a constant tensor of dtype torch.qint8; make it an argument")
raises(of_import(with_packed_weights(), X), "an object of a custom class such as packed weights; dequantize, or keep")
raises(returns_an_unknown_class, "a result of the class Data, which Python does not know; return its attributes")


# Examples. -----------------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    one: Tensor
    two: int


@torch.jit.script
class Data:
    def __init__(self, a: Tensor):
        self.a = a


def typed(
    x: Tensor, n: int = 1, t: tuple[int, int] = (1, 2), o: Any = None, s: str = "a", items: list[int] | None = None
) -> Tensor:
    return x


def takes_data(d: Data) -> Tensor:
    return d.a


raises(of_import(typed, X.to_sparse()), r"'x': expected a dense tensor, got layout .*: pass x.to_dense\(\)")
raises(of_import(typed, 3), "'x': expected a tensor, got int: parameters without annotation are tensors")
raises(of_import(typed, np.ones(3)), "'x': expected a tensor, got ndarray: pass torch.from_numpy")
raises(of_import(typed, X, t=(1, 2, 3)), "'t': expected 2 elements, got 3")
raises(of_import(typed, X, n=X), "'n': expected int, got a tensor")
raises(of_import(typed, X, n="a"), "'n': expected int, got str")
raises(of_import(takes_data, Pair(X, 1)), "'d': expected .*Data, got Pair: pass an object of that class")
raises(
    of_import(typed, torch.empty(3, dtype=torch.bits8)),
    r"'x': tensors of dtype torch.bits8 are not supported: convert it with x.to",
)
raises(of_import(typed, X, o=range(3)), "'o': values of type range are not supported: pass tensors, numbers, strings")
raises(of_import(typed, X, n=2**70), "'n': the number does not fit into a 64-bit int")
raises(of_import(typed, X, k=1), r"typed\(\) got an unexpected keyword argument 'k'")
raises(of_import(typed, X, x=X), r"typed\(\) got multiple values for argument 'x'")
raises(of_import(typed), r"typed\(\) missing required argument 'x'")
raises(of_import(typed, *[X] * 9), r"typed\(\) takes 6 positional arguments but 9 were given")
raises(lambda: ssa_compiler.compile(typed, X), r"example_inputs: expected a tuple.*: write compile\(model, \(x,\)\)")  # type: ignore[arg-type]
raises(
    lambda: ssa_compiler.compile(typed, (X,), max_specialisations=0), "max_specialisations: expected at least 1, got 0"
)
raises(lambda: ssa_compiler.compile(typed, (X,), target="tpu"), "unknown target .*: expected 'auto', 'cpu', 'cuda'")
raises(lambda: ssa_compiler.compile(typed, (X,), target="cuda:sm_1"), "unknown CUDA architecture.*: expected one of")
raises(lambda: ssa_compiler.compile(typed, (X.to("meta"),)), "lie on 'meta': only cpu and cuda tensors are supported")
raises(
    lambda: ssa_compiler.compile(two_tensors, (X.to("meta"), X)),
    "parameters lie on several devices .*: move them to one",
)


# Calls. --------------------------------------------------------------------------------------------------------------


def two_tensors(x: Tensor, y: Tensor) -> Tensor:
    return x + y


def nested(x: Tensor, n: int, d: dict[str, Tensor], items: list[Tensor], s: str, p: Pair) -> Tensor:
    x[0] += n
    return x.reshape(-1)[0] + d["a"] + items[0] + p.one


EXAMPLE: dict[str, Any] = {"x": X, "n": 1, "d": {"a": X + 1}, "items": [X + 2], "s": "a", "p": Pair(X + 3, 1)}


@functools.cache
def compiled() -> ssa_compiler.CompiledProgram:
    """A program that takes one kind of arguments only."""
    examples = {name: value.clone() if isinstance(value, Tensor) else value for name, value in EXAMPLE.items()}
    return ssa_compiler.compile(nested, (), example_kwargs=examples, max_specialisations=1)


def of_call(**changed: Any) -> Callable[[], Any]:
    """A call of the program that raises."""
    return lambda: compiled()(**{**EXAMPLE, "x": X.clone(), **changed})


raises(of_call(x=3), "'x': expected a tensor, got int")
raises(of_call(n="a"), "'n': expected an int, got str")
raises(of_call(n=2**70), "'n': the number does not fit into a 64-bit int")
raises(of_call(s="b"), "'s': the program was compiled for 'a' and cannot take 'b'")
raises(
    of_import(nested, **{**EXAMPLE, "d": collections.defaultdict(Tensor, a=X)}),
    "'d': a defaultdict makes elements that are not there",
)
raises(of_call(d={"b": X}), r"'d': expected the keys \['a'\] in this order, got \['b'\]")
raises(of_call(items=[X, X]), "'items': expected 1 elements, got 2")
raises(of_call(x=X.double()), "'x': expected dtype torch.float32, got torch.float64")
raises(of_call(x=X[:2].clone()), r"'x': expected shape \(4, 3\), got \(2, 3\)")
raises(of_call(x=X.t().reshape(4, 3).t().contiguous().t()), r"'x': expected strides \(3, 1\), got \(1, 4\)")
raises(of_call(x=X.clone().requires_grad_()), "compiled programs do not record gradients: call")
raises(of_call(x=torch.ones(3).expand(4, 3)), "'x'")
raises(
    of_call(x=EXAMPLE["d"]["a"]), "'x' is written by the program and shares memory with argument .*: pass tensors that"
)


def changes_one(a: list[int], b: list[int]) -> int:
    a.append(1)
    return len(b)


ONE_LIST = [1]
raises(
    lambda: ssa_compiler.compile(changes_one, (ONE_LIST, ONE_LIST), max_specialisations=1)([1], [1]),
    "arguments 'a' and 'b': expected one list, dict or object, as in the example",
)


class HoldsState(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("state", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.state


def without_its_buffer() -> None:
    model = HoldsState()
    program = ssa_compiler.compile(model, (X,), max_specialisations=1)
    del model.state  # a call would say first that the module has other buffers
    program.imported.parameters[0].current()


class HoldsTwo(HoldsState):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("other", torch.ones(3))

    def forward(self, x: Tensor) -> Tensor:
        self.state += 1
        return x + self.state * self.other


def with_one_buffer() -> None:
    model = HoldsTwo()
    program = ssa_compiler.compile(model, (X,), max_specialisations=1)
    model.other = model.state
    program(X)


def asks_for_conjugation(x: Tensor) -> Tensor:
    return x + 1 if x.is_conj() else x


def of_conjugated() -> None:
    x = torch.ones(3, dtype=torch.complex64)
    ssa_compiler.compile(asks_for_conjugation, (x,))(x.conj())


class Ignores(nn.Module):
    @torch.jit.ignore
    def helper(self, x: Tensor) -> Tensor:
        return x + 1

    def forward(self, x: Tensor) -> Tensor:
        return self.helper(x)


def of_a_module_that_is_gone() -> None:
    module = import_program(Ignores(), (X,)).module
    operator = re.search(r"torch\.(ssa_ignored)\.(\w+)\.(\w+)", module)
    assert operator is not None
    namespace, name, overload = operator.groups()
    gc.collect()
    getattr(getattr(getattr(torch.ops, namespace), name), overload)(X)


def on_another_device(**options: Any) -> Callable[[], Any]:
    return lambda: ssa_compiler.compile(plus_one, (X,), **options)(X.to("meta"))


def plus_one(x: Tensor) -> Tensor:
    return x + 1


raises(with_one_buffer, "parameters .*'state'.*: expected 2 tensors, got one")
raises(without_its_buffer, "the module holds no tensor under the name 'state' any more: give it one")
raises(of_conjugated, r"'x': is_conj is true, and compiled programs take it for false .*: pass its .resolve_conj\(\)")
raises(of_a_module_that_is_gone, "'helper' is a method of a module that does not exist any more: keep the module")
raises(
    on_another_device(target="cpu"), "expected tensors on cpu, got one on meta: .* 'cpu'; move the tensor, or compile"
)
raises(on_another_device(max_specialisations=1), "'x': expected a tensor on cpu, got one on meta; compile with example")
raises(lambda: compiled().mlir("nothing"), "no stage 'nothing': expected one of")

raises(lambda: address_of("sine_of"), "the C library has no function sine_of; compile with kernels=False")
