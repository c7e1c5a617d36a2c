// A constant that a branch forwards, in a loop, loses its register to what another branch forwards
//
// RUN: iree-compile %s --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu --iree-llvmcpu-target-cpu=host --compile-from=vm -o %t.vmfb
// RUN: iree-run-module --device=local-sync --module=%t.vmfb --function=f --input="1"
//
// Expected: i32=37
// Actual:   i32=13
//
// Project: IREE. ^latch consists of its branch only, and %nine is live behind it, as the next trip reads
// it. The register allocation takes that branch for the end of %nine, which is where %m begins, and lets
// %m have its register.
// Seen with torch-mlir 20261001, iree-base-compiler and iree-base-runtime 3.13.0 on x86-64 Linux.

vm.module public @m {
  vm.export @f
  vm.func private @f(%c: i32) -> i32 attributes {iree.reflection = {iree.abi = "0i_i"}} {
    %one = vm.const.i32 1
    %nine = vm.const.i32 9
    %start = vm.const.i32 4
    vm.br ^head(%start, %one, %one : i32, i32, i32)
  ^head(%trips: i32, %seen: i32, %sum: i32):
    %more = vm.add.i32 %sum, %nine : i32
    %left = vm.sub.i32 %trips, %one : i32
    %again = vm.cmp.nz.i32 %left : i32
    vm.cond_br %again, ^body, ^done
  ^body:
    vm.cond_br %c, ^other, ^latch(%nine : i32)
  ^other:
    %last = vm.sub.i32 %left, %one : i32
    vm.br ^latch(%last : i32)
  ^latch(%m: i32):
    vm.br ^head(%left, %m, %more : i32, i32, i32)
  ^done:
    vm.return %more : i32
  }
}
