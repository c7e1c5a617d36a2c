// A sum of float16 is rounded after each addition: 4,096 times 1 is 2048
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf16=1"
//
// Expected: f16=16384
// Actual:   f16=2048
//
// Project: torch-mlir. Eager accumulates in float32 and rounds once.
// The linalg body shows it:
//   torch-mlir-opt --torch-decompose-complex-ops --torch-backend-to-linalg-on-tensors-backend-pipeline %s
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],f16>) -> !torch.vtensor<[],f16> {
  %n = torch.constant.none
  %d = torch.constant.int 0
  %ten = torch.constant.int 4096
  %m = torch.constant.int -1
  %l = torch.prim.ListConstruct %ten : (!torch.int) -> !torch.list<int>
  %u = torch.aten.unsqueeze %x, %d : !torch.vtensor<[4],f16>, !torch.int -> !torch.vtensor<[1,4],f16>
  %l2 = torch.prim.ListConstruct %ten, %m : (!torch.int, !torch.int) -> !torch.list<int>
  %f = torch.constant.bool false
  %b = torch.aten.expand %u, %l2, %f : !torch.vtensor<[1,4],f16>, !torch.list<int>, !torch.bool -> !torch.vtensor<[4096,4],f16>
  %s = torch.aten.sum %b, %n : !torch.vtensor<[4096,4],f16>, !torch.none -> !torch.vtensor<[],f16>
  return %s : !torch.vtensor<[],f16>
}
