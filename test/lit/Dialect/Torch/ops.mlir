// The textual form of the ops; that it is torch-mlir's is tested in test/python/tools/dialect_roundtrip_test.py.
// RUN: ssa-opt %s | ssa-opt | FileCheck %s
// RUN: ssa-opt %s --mlir-print-op-generic | ssa-opt | FileCheck %s

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK: %int-3 = torch.constant.int -3
  %0 = torch.constant.int -3
  // CHECK: %float1.500000e00 = torch.constant.float 1.500000e+00
  %1 = torch.constant.float 1.5
  // CHECK: %true = torch.constant.bool true
  %2 = torch.constant.bool true
  // CHECK: %none = torch.constant.none
  %3 = torch.constant.none
  // CHECK: %str = torch.constant.str "a\22b"
  %4 = torch.constant.str "a\"b"
  // CHECK: torch.vtensor.literal(dense_resource<blob> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  %5 = torch.vtensor.literal(dense_resource<blob> : tensor<2xf32>) : !torch.vtensor<[2],f32>
  return
}

// CHECK-LABEL: func.func @schema_ops
func.func @schema_ops(%x: !torch.tensor, %i: !torch.int, %s: !torch.str, %t: !torch.tuple<int, str>) {
  // CHECK: torch.aten.add_.Tensor %{{.*}}, %{{.*}}, %{{.*}} {note = "x"} : !torch.tensor, !torch.tensor, !torch.int -> !torch.tensor
  %0 = torch.aten.add_.Tensor %x, %x, %i {note = "x"} : !torch.tensor, !torch.tensor, !torch.int -> !torch.tensor
  // CHECK: %values, %indices = torch.aten.sort
  %b = torch.constant.bool true
  %1:2 = torch.aten.sort %x, %i, %b : !torch.tensor, !torch.int, !torch.bool -> !torch.tensor, !torch.tensor
  // CHECK: torch.aten.format(%{{.*}}, %{{.*}}) : !torch.str, !torch.int -> !torch.str
  %2 = torch.aten.format(%s, %i) : !torch.str, !torch.int -> !torch.str
  // CHECK: torch.prim.Print(%{{.*}}) : !torch.str
  torch.prim.Print(%s) : !torch.str
  // CHECK: torch.prim.TupleUnpack %{{.*}} : !torch.tuple<int, str> -> !torch.int, !torch.str
  %3:2 = torch.prim.TupleUnpack %t : !torch.tuple<int, str> -> !torch.int, !torch.str
  // CHECK: torch.prim.Uninitialized : !torch.int
  %4 = torch.prim.Uninitialized : !torch.int
  return
}

// CHECK-LABEL: func.func @control_flow
func.func @control_flow(%n: !torch.int, %c: !torch.bool, %x: !torch.tensor) -> !torch.tensor {
  // CHECK: torch.prim.Loop %{{.*}}, %{{.*}}, init(%{{.*}}) {
  %0 = torch.prim.Loop %n, %c, init(%x) {
  ^bb0(%i: !torch.int, %y: !torch.tensor):
    // CHECK: torch.prim.If %{{.*}} -> (!torch.tensor) {
    %1 = torch.prim.If %c -> (!torch.tensor) {
      torch.prim.If.yield %y : !torch.tensor
    // CHECK: } else {
    } else {
      torch.prim.If.yield %x : !torch.tensor
    }
    // CHECK: torch.prim.Loop.condition %{{.*}}, iter(%{{.*}} : !torch.tensor)
    torch.prim.Loop.condition %c, iter(%1 : !torch.tensor)
  // CHECK: } : (!torch.int, !torch.bool, !torch.tensor) -> !torch.tensor
  } : (!torch.int, !torch.bool, !torch.tensor) -> !torch.tensor
  return %0 : !torch.tensor
}

{-#
  dialect_resources: {
    builtin: {
      blob: "0x040000000000803F00000040"
    }
  }
#-}
// CHECK: blob: "0x040000000000803F00000040"
