// What became of each mutation, as text and as JSON, also of a program that is
// rejected.
// RUN: ssa-opt --convert-to-tensorssa --tssa-report %s -o /dev/null 2>&1 | FileCheck %s --match-full-lines
// RUN: ssa-opt --convert-to-tensorssa --tssa-report=%t.json --tssa-report-format=json %s -o %t.mlir
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// The report leaves no trace in the program.
// RUN: ssa-opt --convert-to-tensorssa %s --mlir-print-debuginfo -o %t.without
// RUN: ssa-opt --convert-to-tensorssa %s --mlir-print-debuginfo --tssa-report=%t.txt -o %t.with
// RUN: diff %t.without %t.with
// RUN: not ssa-opt --cse --tssa-report %s -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: ssa-opt --help | FileCheck %s --check-prefix=HELP

// NONE: error: --tssa-report needs --convert-to-tensorssa
// HELP-DAG: --tssa-report{{.*}}With --convert-to-tensorssa
// HELP-DAG: --tssa-report-format

// CHECK: p.py:12: aten.mul_.Scalar writes the result of aten.clone (p.py:10).select(0, _), version 1: updated in place
// CHECK-NEXT:     in the loop at p.py:11
// CHECK-NEXT:     one copy at the start of the loop at p.py:11, since the caller keeps 'x'; clone() at p.py:10 asks for it
// CHECK-NEXT: p.py:14: aten.zero_ writes the result of aten.clone (p.py:10).select(0, 1), version 2: updated in a copy
// CHECK-NEXT:     in the function at lib.py:3
// CHECK-NEXT:     one copy at the start of the loop at p.py:11, since the caller keeps 'x'; clone() at p.py:10 asks for it
// CHECK-NEXT:     one copy at the update at p.py:14, since it is read later (p.py:15)
// CHECK-NEXT: p.py:16: aten.neg_ writes the result of aten.clone (p.py:10), version 3: computed anew: every element is written
// CHECK-NEXT: p.py:17: aten.zero_ writes the result of aten.tanh (p.py:13).select(0, 0), version 1: not made: nothing reads it
// CHECK-NEXT: 4 mutations, 2 copies
// CHECK-NEXT:     one copy at the start of the loop at p.py:11, since the caller keeps 'x'; clone() at p.py:10 asks for it
// CHECK-NEXT:     one copy at the update at p.py:14, since it is read later (p.py:15)

// JSON: "copies": [
// JSON: "asked_for": "p.py:10"
// JSON-NEXT: "line": "p.py:11"
// JSON-NEXT: "place": "loop"
// JSON-NEXT: "reason": "the caller keeps 'x'"
// JSON: "error": ""
// JSON: "mutations": [
// JSON: "fate": "in place"
// JSON: "regions": [
// JSON: "fate": "copy"
// JSON: "lines": [
// JSON-NEXT: "p.py:14",
// JSON-NEXT: "lib.py:3"
func.func @main(%x: !torch.tensor<[4,3],f32> {tssa.name = "x"}, %n: index) -> (!torch.tensor<[4,3],f32>, !torch.tensor<[4,3],f32>) {
  %none = torch.constant.none
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %false = torch.constant.bool false
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %y = torch.aten.clone %x, %none : !torch.tensor<[4,3],f32>, !torch.none -> !torch.tensor<[4,3],f32> loc("p.py":10:3)
  scf.for %i = %c0 to %n step %c1 {
    %i64 = arith.index_cast %i : index to i64
    %int = torch_c.from_i64 %i64
    %row = torch.aten.select.int %y, %int0, %int : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
    %w = torch.aten.mul_.Scalar %row, %int1 : !torch.tensor<[3],f32>, !torch.int -> !torch.tensor<[3],f32> loc("p.py":12:3)
  } loc("p.py":11:3)
  %z = torch.aten.tanh %y : !torch.tensor<[4,3],f32> -> !torch.tensor<[4,3],f32> loc("p.py":13:3)
  %old = torch.aten.clone %y, %none : !torch.tensor<[4,3],f32>, !torch.none -> !torch.tensor<[4,3],f32> loc("p.py":13:9)
  %first = torch.aten.select.int %y, %int0, %int1 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  %zero = torch.aten.zero_ %first : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32> loc(callsite("lib.py":3:1 at "p.py":14:3))
  %sum = torch.aten.add.Tensor %y, %old, %int1 : !torch.tensor<[4,3],f32>, !torch.tensor<[4,3],f32>, !torch.int -> !torch.tensor<[4,3],f32> loc("p.py":15:3)
  %neg = torch.aten.neg_ %y : !torch.tensor<[4,3],f32> -> !torch.tensor<[4,3],f32> loc("p.py":16:3)
  %other = torch.aten.select.int %z, %int0, %int0 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  %dead = torch.aten.zero_ %other : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32> loc("p.py":17:3)
  return %y, %sum : !torch.tensor<[4,3],f32>, !torch.tensor<[4,3],f32>
}
