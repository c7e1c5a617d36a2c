// cat([-x[:2], x[2:]]) is compiled as cat([-x[2:], x[:2]])
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=main --input="4xf32=1 2 3 4"
//
// Expected: 4xf32=-1 -2 3 4
// Actual:   4xf32=-3 -4 1 2
//
// Project: IREE. A pattern for the rotation of rotary embeddings matches any negated part of a
// tensor before any other part, whatever the offsets are.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

func.func @main(%x: !torch.vtensor<[4],f32>) -> !torch.vtensor<[4],f32> {
  %zero = torch.constant.int 0
  %one = torch.constant.int 1
  %two = torch.constant.int 2
  %four = torch.constant.int 4
  %p = torch.aten.slice.Tensor %x, %zero, %zero, %two, %one : !torch.vtensor<[4],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2],f32>
  %q = torch.aten.slice.Tensor %x, %zero, %two, %four, %one : !torch.vtensor<[4],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.vtensor<[2],f32>
  %n = torch.aten.neg %p : !torch.vtensor<[2],f32> -> !torch.vtensor<[2],f32>
  %l = torch.prim.ListConstruct %n, %q : (!torch.vtensor<[2],f32>, !torch.vtensor<[2],f32>) -> !torch.list<vtensor>
  %s = torch.aten.cat %l, %zero : !torch.list<vtensor>, !torch.int -> !torch.vtensor<[4],f32>
  return %s : !torch.vtensor<[4],f32>
}
