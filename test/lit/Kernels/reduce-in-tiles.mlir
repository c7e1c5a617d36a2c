// RUN: ssa-opt %s --pass-pipeline="builtin.module(func.func(linalg-to-loops,canonicalize,cse))" | FileCheck %s

// Products of matrices and convolutions are computed in tiles of registers: six
// rows of as many results as 64 bytes hold.

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#wt = affine_map<(m, n, k) -> (n, k)>
#y = affine_map<(m, n, k) -> (m, n)>

// What a row of w has is loaded once for all rows of the tile. Each result is
// added up in the order of k.
// CHECK-LABEL: func.func @product(
// CHECK-SAME: %[[X:.+]]: memref<12x5xf32>, %[[W:.+]]: memref<5x16xf32>, %[[Y:.+]]: memref<12x16xf32>
func.func @product(%x: memref<12x5xf32>, %w: memref<5x16xf32>, %y: memref<12x16xf32>) {
  // CHECK: scf.for %[[M:.+]] = %c0 to %c12 step %c6 {
  // CHECK: %[[START:.+]] = vector.load %[[Y]][%[[M]], %c0]
  // CHECK: %[[M1:.+]] = arith.addi %[[M]], %c1
  // CHECK: %[[START1:.+]] = vector.load %[[Y]][%[[M1]], %c0]
  // CHECK: %[[SUMS:.+]]:6 = scf.for %[[K:.+]] = %c0 to %c5 step %c1 iter_args(%[[SUM:.+]] = %[[START]], %[[SUM1:.+]] = %[[START1]],
  // CHECK-NEXT: %[[A:.+]] = memref.load %[[X]][%[[M]], %[[K]]]
  // CHECK-NEXT: %[[B:.+]] = vector.load %[[W]][%[[K]], %c0] : memref<5x16xf32>, vector<16xf32>
  // CHECK-NEXT: %[[ALL:.+]] = vector.broadcast %[[A]]
  // CHECK-NEXT: %[[P:.+]] = arith.mulf %[[ALL]], %[[B]]
  // CHECK-NEXT: arith.addf %[[SUM]], %[[P]]
  // CHECK-NEXT: memref.load %[[X]][%[[M1]], %[[K]]]
  // CHECK-NEXT: vector.broadcast
  // CHECK-NEXT: %[[P1:.+]] = arith.mulf %{{.+}}, %[[B]]
  // CHECK-NEXT: arith.addf %[[SUM1]], %[[P1]]
  // CHECK: vector.store %[[SUMS]]#0, %[[Y]][%[[M]], %c0]
  // CHECK: vector.store %[[SUMS]]#1, %[[Y]][%[[M1]], %c0]
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<12x5xf32>, memref<5x16xf32>) outs(%y : memref<12x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Rows that are left are one smaller tile, and lanes that are left are some of
// half the lanes and less.
// CHECK-LABEL: func.func @rest(
// CHECK-COUNT-6: vector.load %{{.+}} : memref<7x13xf64>, vector<8xf64>
// CHECK: scf.for
// CHECK: scf.for {{.*}} -> (vector<8xf64>) {
// CHECK-COUNT-6: vector.load %{{.+}} : memref<7x13xf64>, vector<4xf64>
// CHECK: scf.for
// CHECK: scf.for {{.*}} -> (vector<4xf64>) {
// CHECK-COUNT-6: vector.load %{{.+}} : memref<7x13xf64>, vector<1xf64>
// CHECK: scf.for
// CHECK: scf.for {{.*}} -> (vector<1xf64>) {
func.func @rest(%x: memref<7x5xf64>, %w: memref<5x13xf64>, %y: memref<7x13xf64>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<7x5xf64>, memref<5x13xf64>) outs(%y : memref<7x13xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %p = arith.mulf %a, %b : f64
    %s = arith.addf %c, %p : f64
    linalg.yield %s : f64
  }
  return
}

// If w lies the other way, what a tile needs of it is transposed into a panel
// first, in squares, for all rows.
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME: %[[X:.+]]: memref<12x9xf64>, %[[W:.+]]: memref<16x9xf64>, %[[Y:.+]]: memref<12x16xf64>
func.func @transposed(%x: memref<12x9xf64>, %w: memref<16x9xf64>, %y: memref<12x16xf64>) {
  // CHECK: %[[PANEL:.+]] = memref.alloc() : memref<9x8xf64>
  // CHECK: scf.for %[[N:.+]] = %c0 to %c16 step %c8 {
  // CHECK-COUNT-8: vector.load %[[W]][%{{.+}}, %c0] : memref<16x9xf64>, vector<8xf64>
  // CHECK-COUNT-24: vector.shuffle
  // CHECK-COUNT-8: vector.store %{{.+}}, %[[PANEL]]
  // CHECK: scf.for %[[L:.+]] = %c0 to %c8 step %c1 {
  // CHECK-NEXT: %[[COLUMN:.+]] = arith.addi %[[N]], %[[L]]
  // CHECK-NEXT: %[[LEFT:.+]] = memref.load %[[W]][%[[COLUMN]], %c8]
  // CHECK-NEXT: memref.store %[[LEFT]], %[[PANEL]][%c8, %[[L]]]
  // CHECK: scf.for %{{.+}} = %c0 to %c12 step %c6 {
  // CHECK: scf.for %[[K:.+]] = %c0 to %c9
  // CHECK: vector.load %[[PANEL]][%[[K]], %c0]
  linalg.generic {indexing_maps = [#x, #wt, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<12x9xf64>, memref<16x9xf64>) outs(%y : memref<12x16xf64>) {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %p = arith.mulf %a, %b : f64
    %s = arith.addf %c, %p : f64
    linalg.yield %s : f64
  }
  return
}

// A convolution: rows of the tile are output channels, lanes are neighbours.
// CHECK-LABEL: func.func @convolution(
// CHECK-SAME: %[[X:.+]]: memref<3x18xf32>, %[[W:.+]]: memref<6x3x3xf32>
func.func @convolution(%x: memref<3x18xf32>, %w: memref<6x3x3xf32>, %y: memref<6x16xf32>) {
  // CHECK: scf.for %[[I:.+]] = %c0 to %c3 step %c1 iter_args
  // CHECK: scf.for %[[T:.+]] = %c0 to %c3 step %c1 iter_args
  // CHECK: vector.load %[[X]][%[[I]], %[[T]]] : memref<3x18xf32>, vector<16xf32>
  // CHECK: memref.load %[[W]][%c5, %[[I]], %[[T]]]
  linalg.generic {indexing_maps = [affine_map<(o, l, i, t) -> (i, l + t)>, affine_map<(o, l, i, t) -> (o, i, t)>, affine_map<(o, l, i, t) -> (o, l)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : memref<3x18xf32>, memref<6x3x3xf32>) outs(%y : memref<6x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Sizes that are dynamic: what is left of them is computed one by one.
// CHECK-LABEL: func.func @dynamic(
// CHECK: %[[N:.+]] = memref.dim %{{.+}}, %c1
// CHECK: %[[LEFT:.+]] = arith.remui %[[N]], %c16
// CHECK: %[[END:.+]] = arith.subi %[[N]], %[[LEFT]]
// CHECK: scf.for %{{.+}} = %c0 to %[[END]] step %c16
// CHECK: scf.for %{{.+}} = %[[END]] to %[[N]] step %c1
func.func @dynamic(%x: memref<?x5xf32>, %w: memref<5x?xf32>, %y: memref<?x?xf32>) {
  linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x5xf32>, memref<5x?xf32>) outs(%y : memref<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// If the rows are dynamic, a panel is made for eight or more.
// CHECK-LABEL: func.func @dynamic_rows(
// CHECK: %[[ROWS:.+]] = memref.dim %{{.+}}, %c0
// CHECK: %[[MANY:.+]] = arith.cmpi sge, %[[ROWS]], %c8
// CHECK: scf.if %[[MANY]] {
// CHECK: memref.alloc() : memref<5x16xf32>
// CHECK: } else {
// CHECK-NOT: memref.alloc
// CHECK: vector.load {{.*}} vector<4xf32>
func.func @dynamic_rows(%x: memref<?x5xf32>, %w: memref<16x5xf32>, %y: memref<?x16xf32>) {
  linalg.generic {indexing_maps = [#x, #wt, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : memref<?x5xf32>, memref<16x5xf32>) outs(%y : memref<?x16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// A row times a matrix uses each number of the matrix once: there is no tile.
// CHECK-LABEL: func.func @row(
// CHECK-NOT: vector.broadcast
// CHECK: return
func.func @row(%x: memref<5xf32>, %w: memref<5x16xf32>, %y: memref<16xf32>) {
  linalg.generic {indexing_maps = [affine_map<(n, k) -> (k)>, affine_map<(n, k) -> (k, n)>, affine_map<(n, k) -> (n)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : memref<5xf32>, memref<5x16xf32>) outs(%y : memref<16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}
