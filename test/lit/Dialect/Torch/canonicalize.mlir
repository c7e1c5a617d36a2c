// Folding of constants and casts, of torch and of torch_c.
// RUN: ssa-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @casts_that_cancel
func.func @casts_that_cancel(%x: !torch.tensor<[2],f32>, %i: !torch.int) -> (!torch.tensor<[2],f32>, !torch.int) {
  // CHECK-NEXT: return %arg0, %arg1
  %0 = torch.tensor_static_info_cast %x : !torch.tensor<[2],f32> to !torch.tensor
  %1 = torch.tensor_static_info_cast %0 : !torch.tensor to !torch.tensor<[2],f32>
  %2 = torch_c.to_i64 %i
  %3 = torch_c.from_i64 %2
  return %1, %3 : !torch.tensor<[2],f32>, !torch.int
}

// A cast that forgets is not undone by one that says something else.
// CHECK-LABEL: func.func @casts_that_do_not_cancel
func.func @casts_that_do_not_cancel(%x: !torch.tensor<[2],f32>) -> !torch.tensor<[?],f32> {
  // CHECK-COUNT-2: torch.tensor_static_info_cast
  %0 = torch.tensor_static_info_cast %x : !torch.tensor<[2],f32> to !torch.tensor
  %1 = torch.tensor_static_info_cast %0 : !torch.tensor to !torch.tensor<[?],f32>
  return %1 : !torch.tensor<[?],f32>
}

// CHECK-LABEL: func.func @constants_through_casts
func.func @constants_through_casts() -> (i64, f64, i1, !torch.int) {
  // CHECK-DAG: arith.constant 3 : i64
  // CHECK-DAG: arith.constant 2.500000e+00 : f64
  // CHECK-DAG: arith.constant true
  // CHECK-DAG: torch.constant.int 7
  // CHECK-NOT: torch_c
  %i = torch.constant.int 3
  %f = torch.constant.float 2.5
  %b = torch.constant.bool true
  %0 = torch_c.to_i64 %i
  %1 = torch_c.to_f64 %f
  %2 = torch_c.to_i1 %b
  %c = arith.constant 7 : i64
  %3 = torch_c.from_i64 %c
  return %0, %1, %2, %3 : i64, f64, i1, !torch.int
}

// CHECK-LABEL: func.func @tensor_casts
func.func @tensor_casts(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
  // CHECK-NEXT: return %arg0
  %0 = torch_c.from_builtin_tensor %x : tensor<2x?xf32> -> !torch.vtensor<[2,?],f32>
  %1 = torch_c.to_builtin_tensor %0 : !torch.vtensor<[2,?],f32> -> tensor<2x?xf32>
  return %1 : tensor<2x?xf32>
}

// CHECK-LABEL: func.func @asserts
func.func @asserts() {
  // An assertion that always fails stays.
  // CHECK: torch.runtime.assert %false, "no"
  // CHECK-NOT: torch.runtime.assert
  %true = torch.constant.bool true
  %false = torch.constant.bool false
  torch.runtime.assert %true, "yes"
  torch.runtime.assert %false, "no"
  return
}

// Constants of the same number and different type are not merged, nor is None with anything.
// CHECK-LABEL: func.func @constants_stay_what_they_are
func.func @constants_stay_what_they_are() -> (!torch.int, !torch.number, !torch.none, !torch.vtensor<[],si64>) {
  // CHECK-DAG: torch.constant.int 1
  // CHECK-DAG: "torch.constant.number"() <{value = 1 : i64}>
  // CHECK-DAG: torch.constant.none
  // CHECK-DAG: torch.vtensor.literal(dense<1> : tensor<si64>)
  %0 = torch.constant.int 1
  %1 = "torch.constant.number"() <{value = 1 : i64}> : () -> !torch.number
  %2 = torch.constant.none
  %3 = torch.vtensor.literal(dense<1> : tensor<si64>) : !torch.vtensor<[],si64>
  return %0, %1, %2, %3 : !torch.int, !torch.number, !torch.none, !torch.vtensor<[],si64>
}
