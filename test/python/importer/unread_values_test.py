"""Values that nothing reads, in branches in branches: `--torch-simplify` removes one in each of its iterations, and is
not to fail where these are not enough.
"""

from __future__ import annotations

import pytest

from ssa_compiler._opt import run_ssa_opt


def _iterations(number: int, depth: int, count: str) -> str:
    """A loop with a break and a counter that nobody reads, written out."""
    rest = f"scf.yield %true, %a{number}#2 : i1, i64"
    if number + 1 < depth:
        inner = _iterations(number + 1, depth, f"%a{number}#2")
        rest = f"{inner}\nscf.yield %b{number + 1}#0, %b{number + 1}#1 : i1, i64"
    return f"""
    %a{number}:3 = scf.if %c -> (i1, i64, i64) {{
      %n{number} = arith.addi {count}, %one : i64
      %s{number} = arith.cmpi sge, %n{number}, %three : i64
      %i{number}:2 = scf.if %s{number} -> (i1, i64) {{
        scf.yield %true, %n{number} : i1, i64
      }} else {{
        scf.yield %false, %zero : i1, i64
      }}
      scf.yield %i{number}#0, %i{number}#1, %n{number} : i1, i64, i64
    }} else {{
      scf.yield %false, %zero, {count} : i1, i64, i64
    }}
    %b{number}:2 = scf.if %a{number}#0 -> (i1, i64) {{
      scf.yield %false, %a{number}#1 : i1, i64
    }} else {{
      torch.prim.Print(%x) : !torch.vtensor<[4],f32>
      {rest}
    }}"""


@pytest.mark.parametrize("depth", [2, 14, 40])
def test_deep_branches_are_taken(depth: int) -> None:
    text = f"""
    func.func @main(%x: !torch.vtensor<[4],f32>, %c: i1) -> !torch.vtensor<[4],f32> {{
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %three = arith.constant 3 : i64
      %true = arith.constant true
      %false = arith.constant false
      {_iterations(0, depth, "%zero")}
      return %x : !torch.vtensor<[4],f32>
    }}"""
    simplified = run_ssa_opt(text, ("--torch-simplify",))
    assert simplified.count("torch.prim.Print") == depth
