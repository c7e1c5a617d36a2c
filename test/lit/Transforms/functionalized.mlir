// In-place ops without a functional form of the same dtype run on copies of what they write.
// RUN: ssa-opt --tssa-rewrite-mutation --split-input-file %s | FileCheck %s
// RUN: ssa-opt --convert-to-tensorssa --cse --canonicalize --split-input-file %s | FileCheck %s --check-prefix=KEPT

// CHECK-LABEL: func @no_functional_form
// CHECK-SAME: (%[[X:.*]]: !torch.vtensor<[3,3],f32>
func.func @no_functional_form(%x: !torch.tensor<[3,3],f32>) {
  %float1 = torch.constant.float 1.0
  %false = torch.constant.bool false
  // CHECK: %[[W:.*]] = torch.operator "torch.functionalized.aten.fill_diagonal_"(%[[X]], %{{.*}}, %{{.*}}) {tssa.schema = "functionalized::aten.fill_diagonal_(Tensor self, Scalar fill_value, bool wrap) -> (Tensor)"} : (!torch.vtensor<[3,3],f32>, !torch.float, !torch.bool) -> !torch.vtensor<[3,3],f32>
  // CHECK: tssa.update %[[W]] of %[[X]]
  %w = torch.operator "torch.aten.fill_diagonal_"(%x, %float1, %false) {tssa.schema = "aten::fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)"} : (!torch.tensor<[3,3],f32>, !torch.float, !torch.bool) -> !torch.tensor<[3,3],f32>
  return
}

// -----

// The functional form would return bools.
// CHECK-LABEL: func @result_of_another_dtype
func.func @result_of_another_dtype(%x: !torch.tensor<[4],f32>) {
  %int1 = torch.constant.int 1
  // CHECK: torch.operator "torch.functionalized.aten.lt_.Scalar"
  %w = torch.aten.lt_.Scalar %x, %int1 : !torch.tensor<[4],f32>, !torch.int -> !torch.tensor<[4],f32>
  return
}

// -----

// Of bools they are the functional form's own.
// CHECK-LABEL: func @result_of_the_same_dtype
func.func @result_of_the_same_dtype(%x: !torch.tensor<[4],i1>) {
  %int1 = torch.constant.int 1
  // CHECK: torch.aten.lt.Scalar %{{.*}} -> !torch.vtensor<[4],i1>
  %w = torch.aten.lt_.Scalar %x, %int1 : !torch.tensor<[4],i1>, !torch.int -> !torch.tensor<[4],i1>
  return
}

// -----

// A wider dtype promotes the functional form's result, in whatever argument it stands; eager converts back.
// CHECK-LABEL: func @wider_operand
func.func @wider_operand(%x: !torch.tensor<[4],f32>, %y: !torch.tensor<[4],f64>) {
  %int1 = torch.constant.int 1
  // CHECK: torch.operator "torch.functionalized.aten.mul_.Tensor"
  %w = torch.aten.mul_.Tensor %x, %y : !torch.tensor<[4],f32>, !torch.tensor<[4],f64> -> !torch.tensor<[4],f32>
  // CHECK: torch.operator "torch.functionalized.aten.addcmul_"
  %v = torch.aten.addcmul_ %x, %y, %y, %int1 : !torch.tensor<[4],f32>, !torch.tensor<[4],f64>, !torch.tensor<[4],f64>, !torch.int -> !torch.tensor<[4],f32>
  return
}

// -----

// Eager raises: a float does not fit into an integer tensor. fill_ converts.
// CHECK-LABEL: func @float_into_int
func.func @float_into_int(%x: !torch.tensor<[4],si64>) {
  %float1 = torch.constant.float 1.5
  %int1 = torch.constant.int 1
  // CHECK: torch.operator "torch.functionalized.aten.add_.Scalar"
  %w = torch.aten.add_.Scalar %x, %float1, %int1 : !torch.tensor<[4],si64>, !torch.float, !torch.int -> !torch.tensor<[4],si64>
  // CHECK: torch.aten.fill.Scalar
  %v = torch.aten.fill_.Scalar %x, %float1 : !torch.tensor<[4],si64>, !torch.float -> !torch.tensor<[4],si64>
  return
}

// -----

// Narrower and lower dtypes, and indices, do not promote.
// CHECK-LABEL: func @lower_operand
func.func @lower_operand(%x: !torch.tensor<[4],f32>, %i: !torch.tensor<[4],si64>, %n: !torch.tensor<[4],si32>) {
  %int0 = torch.constant.int 0
  // CHECK: torch.aten.mul.Tensor
  %w = torch.aten.mul_.Tensor %x, %i : !torch.tensor<[4],f32>, !torch.tensor<[4],si64> -> !torch.tensor<[4],f32>
  // CHECK: torch.aten.scatter_add
  %v = torch.aten.scatter_add_ %n, %int0, %i, %n : !torch.tensor<[4],si32>, !torch.int, !torch.tensor<[4],si64>, !torch.tensor<[4],si32> -> !torch.tensor<[4],si32>
  return
}

// -----

// Two tensors written, through a view and directly, and a new one returned.
// CHECK-LABEL: func @several
// CHECK-SAME: (%[[X:.*]]: !torch.vtensor<[4,3],f32>, %[[Y:.*]]: !torch.vtensor<[3],f32>
func.func @several(%x: !torch.tensor<[4,3],f32>, %y: !torch.tensor<[3],f32>) -> !torch.tensor<[],f32> {
  %int0 = torch.constant.int 0
  %a = torch.aten.select.int %x, %int0, %int0 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  // CHECK: %[[A:.*]] = tssa.access "torch.aten.select.int" %[[X]]
  // CHECK: %[[R:.*]]:3 = torch.operator "torch.functionalized.my.op_"(%[[A]], %[[Y]]) {tssa.random, tssa.schema = "functionalized::my.op_(Tensor x, Tensor y) -> (Tensor, Tensor, Tensor)"}
  // CHECK: %[[X1:.*]] = tssa.assign "torch.aten.select.int" %[[X]], %[[R]]#0
  // CHECK: tssa.update %[[X1]] of %[[X]]
  // CHECK: tssa.update %[[R]]#1 of %[[Y]]
  // CHECK: return %[[R]]#2
  %r:2 = torch.operator "torch.my.op_"(%a, %y) {tssa.random, tssa.schema = "my::op_(Tensor(a!) x, Tensor(b!) y) -> (Tensor(a!), Tensor)"} : (!torch.tensor<[3],f32>, !torch.tensor<[3],f32>) -> (!torch.tensor<[3],f32>, !torch.tensor<[],f32>)
  return %r#1 : !torch.tensor<[],f32>
}

// -----

// Random ones stay, and stay apart, even if nobody uses them.
// KEPT-LABEL: func @random
// KEPT-COUNT-2: torch.operator "torch.functionalized.aten.rrelu_with_noise_"
func.func @random(%x: !torch.vtensor<[4],f32>) {
  %none = torch.constant.none
  %true = torch.constant.bool true
  %float1 = torch.constant.float 0.5
  %0:2 = torch.operator "torch.functionalized.aten.rrelu_with_noise_"(%x, %x, %float1, %float1, %true, %none) {tssa.schema = "functionalized::aten.rrelu_with_noise_(Tensor self, Tensor noise, Scalar lower, Scalar upper, bool training, Generator? generator) -> (Tensor, Tensor)"} : (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.float, !torch.float, !torch.bool, !torch.none) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>)
  %1:2 = torch.operator "torch.functionalized.aten.rrelu_with_noise_"(%x, %x, %float1, %float1, %true, %none) {tssa.schema = "functionalized::aten.rrelu_with_noise_(Tensor self, Tensor noise, Scalar lower, Scalar upper, bool training, Generator? generator) -> (Tensor, Tensor)"} : (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>, !torch.float, !torch.float, !torch.bool, !torch.none) -> (!torch.vtensor<[4],f32>, !torch.vtensor<[4],f32>)
  return
}
