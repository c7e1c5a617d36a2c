// select_scatter of a tensor that lost static sizes by a cast does not verify
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="2x3xf32=0" --input="3xf32=1 2 3"
//
// Expected: 2x3xf32=[1 2 3][0 0 0]
// Actual:   operand and result must have the same size and dtype
//
// Project: torch-mlir. It is decomposed to a tensor of the sizes before the cast.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[2,3],f32>, %row: !torch.vtensor<[?],f32>) -> tensor<?x?xf32> {
  %zero = torch.constant.int 0
  %y = torch.tensor_static_info_cast %x : !torch.vtensor<[2,3],f32> to !torch.vtensor<[?,?],f32>
  %z = torch.aten.select_scatter %y, %row, %zero, %zero : !torch.vtensor<[?,?],f32>, !torch.vtensor<[?],f32>, !torch.int, !torch.int -> !torch.vtensor<[?,?],f32>
  %r = torch_c.to_builtin_tensor %z : !torch.vtensor<[?,?],f32> -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
