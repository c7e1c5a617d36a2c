// max_pool2d_with_indices gives -1 for the place of NaN
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="1x1x4x4xf32=[[[1 nan 3 4][5 6 7 8][1 2 3 4][5 6 nan 8]]]"
//
// Expected:
//   1x1x2x2xf32=[[[NAN 8][6 NAN]]]
//   1x1x2x2xi64=[[[1 7][13 14]]]
// Actual:
//   1x1x2x2xf32=[[[NAN 8][6 NAN]]]
//   1x1x2x2xi64=[[[-1 7][13 -1]]]
//
// Project: torch-mlir. The values keep NaN, the comparison for the places does not.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[1,1,4,4],f32>) -> (!torch.vtensor<[1,1,2,2],f32>, !torch.vtensor<[1,1,2,2],si64>) {
  %two = torch.constant.int 2
  %one = torch.constant.int 1
  %z = torch.constant.int 0
  %f = torch.constant.bool false
  %k = torch.prim.ListConstruct %two, %two : (!torch.int, !torch.int) -> !torch.list<int>
  %p = torch.prim.ListConstruct %z, %z : (!torch.int, !torch.int) -> !torch.list<int>
  %d = torch.prim.ListConstruct %one, %one : (!torch.int, !torch.int) -> !torch.list<int>
  %s, %i = torch.aten.max_pool2d_with_indices %x, %k, %k, %p, %d, %f : !torch.vtensor<[1,1,4,4],f32>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.list<int>, !torch.bool -> !torch.vtensor<[1,1,2,2],f32>, !torch.vtensor<[1,1,2,2],si64>
  return %s, %i : !torch.vtensor<[1,1,2,2],f32>, !torch.vtensor<[1,1,2,2],si64>
}
