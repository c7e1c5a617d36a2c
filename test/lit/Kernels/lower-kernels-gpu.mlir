// RUN: ssa-opt %s --lower-kernels="threads=64 host-buffers=true" --split-input-file | FileCheck %s

#row = affine_map<(d0) -> (d0)>

// Scratch memory is shared by the threads of the workgroup, views of it too. The
// first thread writes the status.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[^:]+]]: memref<4x10xf32>
// CHECK-SAME: %[[STATUS:[^:]+]]: memref<2xi64> {kernel.role = "status"}
// CHECK: %[[T:.+]] = gpu.thread_id x
// CHECK: %[[FIRST:.+]] = arith.cmpi eq, %[[T]], %c0
// CHECK: memref.alloc() : memref<4x10xf32, #gpu.address_space<workgroup>>
// CHECK: memref.store %{{.*}} : memref<40xf32, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
// CHECK: cf.cond_br %[[FIRST]], ^[[SUCCESS:bb[0-9]+]], ^[[END:bb[0-9]+]]
// CHECK: ^[[END]]:
// CHECK-NEXT: return
// All threads come to the end of a kernel that has failed.
// CHECK: gpu.barrier
// CHECK: cf.cond_br %[[FIRST]]
func.func @main(%x: tensor<4x10xf32> {kernel.role = "input", bufferization.writable = false},
                %i: i64 {kernel.role = "input"}) -> tensor<10xf32> attributes {kernel.form = "kernel"} {
  %c4 = arith.constant 4 : i64
  %inside = arith.cmpi ult, %i, %c4 : i64
  cf.assert %inside, "IndexError"
  %at = arith.index_cast %i : i64 to index
  %empty = tensor.empty() : tensor<4x10xf32>
  %e = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x10xf32>) outs(%empty : tensor<4x10xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = math.exp %a : f32
    linalg.yield %s : f32
  } -> tensor<4x10xf32>
  %first = tensor.extract_slice %e[%at, 0] [1, 10] [1, 1] : tensor<4x10xf32> to tensor<10xf32>
  %second = tensor.extract_slice %e[2, 0] [1, 10] [1, 1] : tensor<4x10xf32> to tensor<10xf32>
  %out = tensor.empty() : tensor<10xf32>
  %r = linalg.generic {indexing_maps = [#row, affine_map<(d0) -> (9 - d0)>, #row], iterator_types = ["parallel"]}
      ins(%first, %second : tensor<10xf32>, tensor<10xf32>) outs(%out : tensor<10xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<10xf32>
  return %r : tensor<10xf32>
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>

// Several workgroups share the workspace alone. In its first word they count.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[WORKSPACE:[^:]+]]: memref<?xi8> {kernel.role = "scratch"}
// CHECK-DAG: gpu.block_id x
// CHECK-DAG: memref.extract_aligned_pointer_as_index %[[WORKSPACE]]
// CHECK: memref.view %[[WORKSPACE]][%c64]
// CHECK: gpu.barrier
// CHECK-NEXT: llvm.inline_asm has_side_effects "{{.*}}atom.add.release.gpu.u32{{.*}}ld.acquire.gpu.u32
// CHECK-NEXT: gpu.barrier
// CHECK-LABEL: func.func private @main.sizes(
func.func @main(%x: tensor<300x300xf32> {kernel.role = "input", bufferization.writable = false}) -> tensor<300x300xf32>
    attributes {kernel.form = "kernel", kernel.workgroups = 4 : i64} {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<300xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<300xf32>) -> tensor<300xf32>
  %sums = linalg.generic {indexing_maps = [#all, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<300x300xf32>) outs(%start : tensor<300xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<300xf32>
  %out = tensor.empty() : tensor<300x300xf32>
  %r = linalg.generic {indexing_maps = [#all, #columns, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sums : tensor<300x300xf32>, tensor<300xf32>) outs(%out : tensor<300x300xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.divf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<300x300xf32>
  return %r : tensor<300x300xf32>
}
