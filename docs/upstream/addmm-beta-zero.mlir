// addmm with beta = 0 multiplies NaN by 0
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="2x2xf32=[nan inf][1 2]" --input="2x2xf32=[1 0][0 1]"
//
// Expected: 2x2xf32=[1 0][0 1]
// Actual:   2x2xf32=[NAN -NAN][0 1]
//
// Project: torch-mlir. PyTorch does not read the input where beta is 0. addmv, addr, baddbmm,
// addbmm likewise.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%b: !torch.vtensor<[2,2],f32>, %x: !torch.vtensor<[2,2],f32>) -> !torch.vtensor<[2,2],f32> {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %s = torch.aten.addmm %b, %x, %x, %zero, %one : !torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],f32>, !torch.vtensor<[2,2],f32>, !torch.int, !torch.int -> !torch.vtensor<[2,2],f32>
  return %s : !torch.vtensor<[2,2],f32>
}
