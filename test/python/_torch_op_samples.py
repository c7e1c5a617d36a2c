"""One valid instance, as MLIR text, of every op that torch-mlir registers: the material of dialect_roundtrip_test.

Ops that have a schema are made up from it. The others are written by hand below.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

# Snippets of ops that no schema describes. Inside a function, `%t`, `%v`, `%i`, `%f`, `%b`, `%s`, `%n`, `%li` and `%d`
# are a mutable tensor, an immutable tensor, an int, a float, a bool, a str, a none, a list of ints and a device. A `|`
# in the key separates the ops that the snippet covers.
FUNCTION_SNIPPETS: dict[str, str] = {
    "torch.bind_symbolic_shape|torch.symbolic_int": """
  %sym = torch.symbolic_int "s0" {min_val = 5, max_val = 10} {attribute} : !torch.int
  %sym2 = torch.symbolic_int "s1" {min_val = -5, max_val = 9223372036854775807} : !torch.int
  torch.bind_symbolic_shape %v, [%sym, %sym2], affine_map<()[s0, s1] -> (s0, s1 * 2 + 3)> : !torch.vtensor<[2,3],f32>
  torch.bind_symbolic_shape %v, [], affine_map<() -> (2, 3)> {a = 1} : !torch.vtensor<[2,3],f32>""",
    "torch.constant.bool|torch.constant.device|torch.constant.float|torch.constant.int|torch.constant.none|"
    "torch.constant.number|torch.constant.str": r"""
  %true = torch.constant.bool true
  %false = torch.constant.bool false {a}
  %dev = torch.constant.device "cuda:0"
  %dev2 = torch.constant.device "cpu" {a = 1 : i32}
  %f0 = torch.constant.float 1.000000e-30
  %f1 = torch.constant.float 0x7FF0000000000000
  %f2 = torch.constant.float -1.5 {a}
  %f3 = torch.constant.float 0.1
  %f4 = torch.constant.float 0x7FF8000000000000
  %f5 = torch.constant.float -0.0
  %i0 = torch.constant.int 0
  %i1 = torch.constant.int -9223372036854775808 {a = "x"}
  %i2 = torch.constant.int 9223372036854775807
  %none = torch.constant.none
  %none2 = torch.constant.none {a}
  %num = "torch.constant.number"() <{value = 1 : i64}> : () -> !torch.number
  %num2 = "torch.constant.number"() <{value = 2.5 : f64}> {a} : () -> !torch.number
  %str = torch.constant.str "a\"b\n\00\FF"
  %str2 = torch.constant.str "" {a}""",
    "torch.copy.to_tensor|torch.copy.to_vtensor|torch.overwrite.tensor.contents": """
  %c0 = torch.copy.to_tensor %v : !torch.tensor<[2,3],f32>
  %c1 = torch.copy.to_vtensor %t {a} : !torch.vtensor<[2,3],f32>
  torch.overwrite.tensor.contents %v overwrites %t {a} : !torch.vtensor<[2,3],f32>, !torch.tensor<[2,3],f32>""",
    "torch.derefine|torch.tensor_static_info_cast": """
  %d0 = torch.derefine %i : !torch.int to !torch.optional<int>
  %d1 = torch.derefine %v {a} : !torch.vtensor<[2,3],f32> to !torch.any
  %d2 = torch.tensor_static_info_cast %v : !torch.vtensor<[2,3],f32> to !torch.vtensor
  %d3 = torch.tensor_static_info_cast %t {a} : !torch.tensor<[2,3],f32> to !torch.tensor<[?,3],unk>""",
    "torch.dtype.calculate|torch.dtype.calculate.yield|torch.dtype.calculate.yield.dtypes": """
  %dc:2 = torch.dtype.calculate {
    torch.dtype.calculate.yield %t, %i : !torch.tensor<[2,3],f32>, !torch.int
  } dtypes {
    torch.dtype.calculate.yield.dtypes %i, %i : !torch.int, !torch.int
  } {a} : !torch.tensor<[2,3],f32>, !torch.int""",
    "torch.shape.calculate|torch.shape.calculate.yield|torch.shape.calculate.yield.shapes": """
  %sc:2 = torch.shape.calculate {
    torch.shape.calculate.yield %t, %v : !torch.tensor<[2,3],f32>, !torch.vtensor<[2,3],f32>
  } shapes {
    torch.shape.calculate.yield.shapes %li, %li : !torch.list<int>, !torch.list<int>
  } : !torch.tensor<[2,3],f32>, !torch.vtensor<[2,3],f32>""",
    "torch.hop_flex_attention": """
  %q = torch.prim.Load "q" : !torch.vtensor<[1,2,3,4],f32>
  %fa:3 = torch.hop_flex_attention %q, %q, %q, %f, %b, %b {enable_gqa = true, mask_mod_fn = @f, x, score_mod_fn = @g}
      : !torch.vtensor<[1,2,3,4],f32>, !torch.vtensor<[1,2,3,4],f32>, !torch.vtensor<[1,2,3,4],f32>, !torch.float, !torch.bool, !torch.bool
      -> !torch.vtensor<[1,2,3,4],f32>, !torch.none, !torch.none""",
    "torch.linear_params.create": """
  %lp0 = torch.linear_params.create %t : !torch.tensor<[2,3],f32>
  %lp1 = torch.linear_params.create %t, %v {a} : !torch.tensor<[2,3],f32>, !torch.vtensor<[2,3],f32>""",
    "torch.operator|torch.operator_terminator": """
  %op0 = torch.operator "torch.aten.foo.bar"(%t, %i) {tssa.other = "x"} : (!torch.tensor<[2,3],f32>, !torch.int) -> !torch.int
  torch.operator "foo"() : () -> ()
  %op1:2 = torch.operator "foo"() : () -> (!torch.int, !torch.int)
  %op2 = torch.operator "region"(%i) : (!torch.int) -> !torch.int {
  ^bb0(%arg: !torch.int):
    torch.operator_terminator %arg, %i {a} : !torch.int, !torch.int
  }
  %op3 = torch.operator "torch.aten.sinc_"(%t) {tssa.schema = "aten::sinc_(Tensor(a!) self) -> Tensor(a!)"}
      : (!torch.tensor<[2,3],f32>) -> !torch.tensor<[2,3],f32>""",
    "torch.prim.DictConstruct|torch.prim.ListConstruct|torch.prim.ListUnpack|torch.prim.TupleConstruct": """
  %di0 = torch.prim.DictConstruct keys(%s, %s : !torch.str, !torch.str) values(%i, %i : !torch.int, !torch.int) {a} -> !torch.dict<str, int>
  %di1 = torch.prim.DictConstruct keys() values() -> !torch.dict<int, list<vtensor<[2],f32>>>
  %ls0 = torch.prim.ListConstruct %t, %t {a} : (!torch.tensor<[2,3],f32>, !torch.tensor<[2,3],f32>) -> !torch.list<tensor<[2,3],f32>>
  %ls1 = torch.prim.ListConstruct : () -> !torch.list<union<int, tuple<int, nn.Module<"b">>>>
  %ls2 = torch.prim.ListConstruct %i, %n : (!torch.int, !torch.none) -> !torch.list<optional<int>>
  %tu0 = torch.prim.TupleConstruct %i, %v {a} : !torch.int, !torch.vtensor<[2,3],f32> -> !torch.tuple<int, vtensor<[2,3],f32>>
  %un:2 = torch.prim.ListUnpack %li {a} : !torch.list<int> -> !torch.int, !torch.int""",
    "torch.prim.Enter|torch.prim.Exit|torch.prim.Load|torch.prim.Store": """
  torch.prim.Store "x", %i {a} : !torch.int
  %ld = torch.prim.Load "x" {a} : !torch.int
  %en = torch.prim.Enter %i {a} : !torch.int
  %ex = torch.prim.Exit %i {a} : !torch.int -> !torch.tensor""",
    "torch.prim.If|torch.prim.If.yield": """
  %if0:2 = torch.prim.If %b -> (!torch.int, !torch.tensor<[2,3],f32>) {
    torch.prim.If.yield %i, %t : !torch.int, !torch.tensor<[2,3],f32>
  } else {
    torch.prim.If.yield {a} %i, %t : !torch.int, !torch.tensor<[2,3],f32>
  } {a = 1 : i64}
  torch.prim.If %b -> () {
    torch.prim.If.yield
  } else {
    torch.prim.If %b -> () {
      torch.prim.If.yield
    } else {
      torch.prim.If.yield
    }
    torch.prim.If.yield
  }""",
    "torch.prim.Loop|torch.prim.Loop.condition": """
  %lo0:2 = torch.prim.Loop %i, %b, init(%i, %t) {
  ^bb0(%iter: !torch.int, %x: !torch.int, %y: !torch.tensor<[2,3],f32>):
    torch.prim.Loop.condition %b, iter(%iter, %y : !torch.int, !torch.tensor<[2,3],f32>) {a}
  } {a} : (!torch.int, !torch.bool, !torch.int, !torch.tensor<[2,3],f32>) -> (!torch.int, !torch.tensor<[2,3],f32>)
  torch.prim.Loop %i, %b, init() {
  ^bb0(%iter: !torch.int):
    torch.prim.Loop.condition %b, iter()
  } : (!torch.int, !torch.bool) -> ()""",
    "torch.promote_dtypes": """
  %ranks = torch.prim.ListConstruct %i, %n : (!torch.int, !torch.none) -> !torch.list<optional<int>>
  %pd = torch.promote_dtypes %ranks, %li {a} : (!torch.list<optional<int>>, !torch.list<int>) -> !torch.int""",
    "torch.runtime.assert": """
  torch.runtime.assert %b, "IndexError: \\"out\\" of range"
  torch.runtime.assert %b, "" {a}""",
    "torch.tensor.literal|torch.vtensor.literal": """
  %l0 = torch.tensor.literal(dense<1.0> : tensor<2xf32>) {a} : !torch.tensor
  %l1 = torch.tensor.literal(dense<[1, -2]> : tensor<2xsi64>) : !torch.tensor<[2],si64>
  %l2 = torch.vtensor.literal(dense<[true, false]> : tensor<2xi1>) : !torch.vtensor<[2],i1>
  %l3 = torch.vtensor.literal(dense_resource<blob> : tensor<2xf32>) {a} : !torch.vtensor<[2],f32>
  %l4 = torch.vtensor.literal(dense<3> : tensor<ui8>) : !torch.vtensor<[],ui8>""",
    "torch.prim.CallMethod|torch.prim.CreateObject|torch.prim.GetAttr|torch.prim.SetAttr": """
  %ob = torch.prim.CreateObject {a} !torch.nn.Module<"c">
  %ga = torch.prim.GetAttr %ob["i"] {a} : !torch.nn.Module<"c"> -> !torch.int
  torch.prim.SetAttr %ob["i"] = %ga {a} : !torch.nn.Module<"c">, !torch.int
  %cm = torch.prim.CallMethod %ob["m"] (%i, %t) {a} : !torch.nn.Module<"c">, (!torch.int, !torch.tensor<[2,3],f32>) -> !torch.int""",
    "torch.aten.count_nonzero": """
  %cn = torch.aten.count_nonzero %v, %n : !torch.vtensor<[2,3],f32>, !torch.none -> !torch.vtensor<[],si64>""",
    "torch.aten.count_nonzero.dim_IntList": """
  %zero = torch.constant.int 0
  %dims = torch.prim.ListConstruct %zero : (!torch.int) -> !torch.list<int>
  %cd = torch.aten.count_nonzero.dim_IntList %v, %dims {a} : !torch.vtensor<[2,3],f32>, !torch.list<int> -> !torch.vtensor<[2],si64>""",
    "torch.global_slot.get|torch.global_slot.set": """
  %gg = torch.global_slot.get @slot {a} : !torch.int
  torch.global_slot.set @slot = %gg {a} : !torch.int""",
    "torch_c.from_builtin_tensor|torch_c.to_builtin_tensor": """
  %bt = torch_c.to_builtin_tensor %v {a} : !torch.vtensor<[2,3],f32> -> tensor<2x3xf32>
  %vt = torch_c.from_builtin_tensor %bt {a} : tensor<2x3xf32> -> !torch.vtensor<[2,3],f32>""",
    "torch_c.from_f64|torch_c.from_i1|torch_c.from_i64|torch_c.to_f64|torch_c.to_i1|torch_c.to_i64": """
  %b1 = torch_c.to_i1 %b {a}
  %b2 = torch_c.from_i1 %b1
  %n1 = torch_c.to_i64 %i
  %n2 = torch_c.from_i64 %n1 {a}
  %r1 = torch_c.to_f64 %f
  %r2 = torch_c.from_f64 %r1""",
    "torch_c.generator_to_i64|torch_c.get_next_seed|torch_c.i64_to_generator": """
  %seed = torch_c.get_next_seed {a} : () -> i64
  %gen = torch_c.i64_to_generator %seed
  %back = torch_c.generator_to_i64 %gen {a}""",
}

# Snippets that stand at the top of a module.
MODULE_SNIPPETS: dict[str, str] = {
    "torch.attr|torch.class_type|torch.class_type_terminator|torch.method|torch.nn_module|torch.nn_module_terminator|"
    "torch.slot": """
func.func private @method(%self: !torch.nn.Module<"c">) {
  return
}
torch.class_type @c {
  torch.attr "i" : !torch.int {a}
  torch.attr private "t" : !torch.tensor<[2],f32>
  torch.method "m", @method {a}
  torch.method private "p", @method
} {a}
torch.class_type @empty {
}
%int = torch.constant.int 3
%tensor = torch.tensor.literal(dense<1.0> : tensor<2xf32>) : !torch.tensor<[2],f32>
%module = torch.nn_module {
  torch.slot "i", %int {a} : !torch.int
  torch.slot "t", %tensor : !torch.tensor<[2],f32>
} {a} : !torch.nn.Module<"c">""",
    "torch.global_slot|torch.global_slot.module_initializer|torch.initialize.global_slots": """
torch.global_slot @slot : !torch.int
torch.global_slot "private" @hidden {a} : !torch.tensor<*,f32>
torch.global_slot.module_initializer {
  %0 = torch.constant.int 3
  %1 = torch.tensor.literal(dense<1.0> : tensor<2xf32>) : !torch.tensor<*,f32>
  torch.initialize.global_slots [
    @slot(%0 : !torch.int)
    @hidden(%1 : !torch.tensor<*,f32>)
  ]
}""",
}

RESOURCE = '{-#\n  dialect_resources: {\n    builtin: {\n      blob: "0x040000000000803F00000040"\n    }\n  }\n#-}\n'

# `torch.global_slot.init` must be in a region of `torch.global_slot`, which has none: no module can hold it.
IMPOSSIBLE = {"torch.global_slot.init"}

# torch-mlir's verifiers of these want dtypes or sizes of their own: their samples say nothing of either.
ONLY_UNKNOWN_DTYPE = {"torch.aten._scaled_mm", "torch.aten._scaled_mm_v2"}

PREFIX = (
    "%t: !torch.tensor<[2,3],f32>, %v: !torch.vtensor<[2,3],f32>, %i: !torch.int, %f: !torch.float, %b: !torch.bool, "
    "%s: !torch.str, %n: !torch.none, %li: !torch.list<int>, %d: !torch.Device"
)

_ATOMS = {
    "float": "float",
    "bool": "bool",
    "SymBool": "bool",
    "Scalar": "number",
    "number": "number",
    "str": "str",
    "Device": "Device",
    "Generator": "Generator",
    "Any": "tuple<int, int>",
    "Dict(str, t)": "dict<str, int>",
}
_INTS = {"int", "SymInt", "ScalarType", "Layout", "MemoryFormat"}


def _contained(kind: str, tensor: str) -> str:
    """The torch type, without `!torch.`, of a schema type without annotations."""
    if kind.endswith("?"):
        return f"optional<{_contained(kind[:-1], tensor)}>"
    if match := re.fullmatch(r"(.*)\[\d*\]", kind):
        return f"list<{_contained(match[1], tensor)}>"
    if kind == "Tensor":
        return tensor
    if kind in _INTS or re.fullmatch(r"t\d?", kind):
        return "int"
    if kind.startswith("__torch__"):
        return "LinearParams"
    return _ATOMS[kind]


def _split(text: str) -> list[str]:
    """Splits at commas that are not inside brackets."""
    parts, depth, start = [], 0, 0
    for position, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "," and depth == 0:
            parts.append(text[start:position])
            start = position + 1
    parts.append(text[start:])
    return [part.strip() for part in parts if part.strip()]


def _types(schema: str, tensor: str) -> tuple[list[str], list[str]]:
    """Operand and result types of a schema: `!torch.tensor<...>`, `!torch.int`."""
    plain = re.sub(r"\((?:[a-z|*]+!?|[a-z]!? -> [a-z|*]+)\)(?=[\[ ?,)]|$)", "", schema)
    arguments, returns = plain.rsplit("->", 1)
    arguments = arguments[arguments.index("(") + 1 : arguments.rindex(")")]
    returns = returns.strip()
    if returns.startswith("(") and returns.endswith(")"):
        returns = returns[1:-1]
    operands = [part for part in _split(arguments) if part not in ("*", "...")]
    # A type ends at the last space before the name and the default value.
    operand_kinds = [re.sub(r"(?:=.*)$", "", part, flags=re.S).rsplit(" ", 1)[0] for part in operands]
    result_kinds = [
        part if part.startswith("Dict") else part.split(" ")[0] for part in _split(returns) if part != "..."
    ]
    return (
        [f"!torch.{_contained(kind, tensor)}" for kind in operand_kinds],
        [f"!torch.{_contained(kind, tensor)}" for kind in result_kinds],
    )


def _call(name: str, operands: list[str], results: list[str], index: int) -> str:
    """A function that holds one op in its generic form."""
    arguments = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(operands))
    uses = ", ".join(f"%a{i}" for i in range(len(operands)))
    left = f"%r:{len(results)} = " if results else ""
    attributes = " {test.attribute = 1 : i64}" if index % 2 else ""
    operand_types, result_types = ", ".join(operands), ", ".join(results)
    return (
        f'func.func @f{index}({arguments}) {{\n  {left}"{name}"({uses}){attributes} : ({operand_types}) -> '
        f"({result_types})\n  return\n}}\n"
    )


def schema_samples(name: str, schema: str, start: int) -> list[str]:
    """Functions that hold an op, with mutable and, where it writes none, immutable tensors.

    Args:
        name: `torch.aten.add.Tensor`.
        schema: its PyTorch schema.
        start: number that makes the functions' names unique; uses `start` to `start + 3`.
    Returns:
        Texts of functions. No vararg op stands there without operands: torch-mlir prints those in a way that it cannot
        read itself, as it does an empty `torch.prim.TupleConstruct`.
    """
    vararg, varret = ("..." in part for part in schema.rsplit("->", 1))
    kinds = ["tensor"] if name in ONLY_UNKNOWN_DTYPE else ["tensor", "tensor<[2,?],f32>"]
    if "!" not in schema:
        kinds += ["vtensor"] if name in ONLY_UNKNOWN_DTYPE else ["vtensor<[2,?],f32>", "vtensor<*,f64>"]
    samples: list[str] = []
    for offset, tensor in enumerate([] if vararg or varret else kinds):
        operands, results = _types(schema, tensor)
        samples.append(_call(name, operands, results, start + offset))
    if vararg or varret:
        operands, results = _types(schema, "tensor")
        operands = ["!torch.str", "!torch.int"] if vararg else operands
        results = ["!torch.int", "!torch.int"] if varret else results
        samples.append(_call(name, operands, results, start))
    return samples


def hand_written_samples() -> tuple[dict[str, str], str]:
    """Snippets by the ops they cover: those inside functions, and the text for the top of the module."""
    functions = {
        key: f"func.func @snippet{index}({PREFIX}) {{{body}\n  return\n}}\n"
        for index, (key, body) in enumerate(FUNCTION_SNIPPETS.items())
    }
    return functions, "\n".join(MODULE_SNIPPETS.values()) + "\n"


def covered(keys: Callable[[], Any] | dict[str, str]) -> set[str]:
    """The ops that the snippets of a table cover."""
    table = keys() if callable(keys) else keys
    return {name for key in table for name in key.split("|")}
