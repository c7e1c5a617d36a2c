// Merges that are found only once others are known: one more in each pass over the function.
// RUN: ssa-opt-test --test-print-tensor-aliases %s -o /dev/null | FileCheck %s

// %z is always %b. %y is %a, then %b; %x is what %y was. Only the third pass sees that %w is not always %a.
// CHECK-LABEL: function @handed_down
// CHECK: %0#0 -> %0#0 (merge)
// CHECK: %0#1 -> %0#1 (merge)
// CHECK: %0#2 -> %0#2 (merge)
// CHECK: %0#3 -> %arg1{{$}}
// CHECK: %arg4 -> %arg4 (merge)
// CHECK: %arg5 -> %arg5 (merge)
// CHECK: %arg6 -> %arg6 (merge)
// CHECK: %arg7 -> %arg1{{$}}
func.func @handed_down(%a: !torch.tensor<[4],f32>, %b: !torch.tensor<[4],f32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:4 = scf.for %i = %c0 to %n step %c1 iter_args(%w = %a, %x = %a, %y = %a, %z = %b) -> (!torch.tensor<[4],f32>, !torch.tensor<[4],f32>, !torch.tensor<[4],f32>, !torch.tensor<[4],f32>) {
    scf.yield %x, %y, %z, %z : !torch.tensor<[4],f32>, !torch.tensor<[4],f32>, !torch.tensor<[4],f32>, !torch.tensor<[4],f32>
  }
  return
}

// The result is the tensor that was written, or the other one.
// CHECK-LABEL: function @written_or_other
// CHECK: %[[R:[0-9]+]] -> %[[R]] (merge)
func.func @written_or_other(%a: !torch.tensor<[4],f32>, %b: !torch.tensor<[4],f32>) {
  %r = torch.operator "torch.test.either_"(%a, %b) {tssa.schema = "test::either_(Tensor(a!) self, Tensor(a) other) -> Tensor(a!)"} : (!torch.tensor<[4],f32>, !torch.tensor<[4],f32>) -> !torch.tensor<[4],f32>
  return
}
