// The report of a program that is rejected says at which mutation.
// RUN: not ssa-opt --convert-to-tensorssa --tssa-report=%t.txt %s -o /dev/null 2>/dev/null
// RUN: FileCheck %s < %t.txt

// CHECK: p.py:2: aten.neg_ writes 'x', version 1:
// CHECK-NEXT: p.py:3: aten.zero_ writes 'x'.expand(_, 0), version 2: rejected: {{.+}}
// CHECK-NEXT: the program is rejected: {{.+}} (p.py:3)
func.func @main(%x: !torch.tensor<[3],f32> {tssa.name = "x"}) {
  %int-1 = torch.constant.int -1
  %int4 = torch.constant.int 4
  %false = torch.constant.bool false
  %neg = torch.aten.neg_ %x : !torch.tensor<[3],f32> -> !torch.tensor<[3],f32> loc("p.py":2:3)
  %size = torch.prim.ListConstruct %int4, %int-1 : (!torch.int, !torch.int) -> !torch.list<int>
  %wide = torch.aten.expand %x, %size, %false : !torch.tensor<[3],f32>, !torch.list<int>, !torch.bool -> !torch.tensor<[4,3],f32> loc("p.py":3:3)
  %zero = torch.aten.zero_ %wide : !torch.tensor<[4,3],f32> -> !torch.tensor<[4,3],f32> loc("p.py":3:7)
  return
}
