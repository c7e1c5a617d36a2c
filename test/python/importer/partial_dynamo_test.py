"""torch._dynamo after a compilation that loaded a part of it: importer/isolation/partial_dynamo.py."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import os
import sys
import traceback

import torch

from ssa_compiler.testing import check

def program(x: torch.Tensor, n: int) -> torch.Tensor:
    y = x.clone()
    for i in range(n):
        y[i] = y[i] + 1
    return y

def parts(x: torch.Tensor, n: int) -> torch.Tensor:
    "What is asked of its sizes depends on data, and one becomes static: PyTorch has traces for both."
    return torch.split(x, n)[0] + x[:n].view(2, 3)

traced = []

@torch._disable_dynamo
def kept_out(x):
    traced.append(torch.compiler.is_compiling())
    return x + 1

x = torch.zeros(4, 3)
check(program, (x, 2), compiled=False)
check(parts, (x, 2), compiled=False)
loaded = [name for name in ("torch._dynamo.variables", "torch._dynamo.convert_frame", "torch._inductor") if name in sys.modules]
assert not loaded, loaded
kept_out(x)
assert isinstance(torch._dynamo, type(sys)) and type(torch._dynamo) is not type(sys)

def compiling():
    torch.testing.assert_close(torch.compile(lambda x: x.sin() + 1, backend="eager")(x), x.sin() + 1)

def a_submodule():
    from torch._dynamo.backends.registry import lookup_backend
    assert lookup_backend("eager")

def a_nested_submodule():
    from torch._dynamo.variables.builder import TrackedFake
    import torch._dynamo.utils as utils
    assert TrackedFake and utils is torch._dynamo.utils

def an_attribute():
    import torch._dynamo as dynamo
    dynamo.reset()
    assert dynamo.symbolic_convert

def exporting():
    assert torch.export.export(torch.nn.Linear(3, 2), (x,)).graph_signature.user_inputs == ("input",)

def keeping_out():
    '''What PyTorch keeps out of traces stays out though it was called before there were any.'''
    def by_the_user(x):
        traced.append(torch.compiler.is_compiling())
        return x + 1
    traced.clear()
    for function in (kept_out, torch._dynamo.disable(by_the_user)):
        torch.compile(lambda x: function(x) * 2, backend="eager")(x)
    assert traced == [False] * 2, traced

for use in (compiling, a_submodule, a_nested_submodule, an_attribute, exporting, keeping_out):
    child = os.fork()
    if child == 0:
        try:
            use()
            assert type(torch._dynamo) is type(sys), type(torch._dynamo)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, use.__name__
"""


@pytest.mark.slow
def test_the_rest_is_loaded_when_it_is_used(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(_PROGRAM, encoding="utf-8")
    subprocess.run([sys.executable, "-W", "ignore", path], check=True, timeout=300)
