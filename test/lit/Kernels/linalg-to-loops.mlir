// RUN: ssa-opt %s --pass-pipeline="builtin.module(func.func(linalg-to-loops))" | FileCheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#rows = affine_map<(d0, d1) -> (d0)>
#columns = affine_map<(d0, d1) -> (d1)>

// The largest of each row stays in a register; LLVM vectorizes the loop.
// CHECK-LABEL: func.func @largest(
// CHECK-SAME: %[[X:.+]]: memref<8x21xi32>, %[[Y:.+]]: memref<8xi32>
func.func @largest(%x: memref<8x21xi32>, %y: memref<8xi32>) {
  // CHECK: scf.for %[[I:.+]] =
  // CHECK: %[[START:.+]] = memref.load %[[Y]][%[[I]]]
  // CHECK: %[[MOST:.+]] = scf.for %[[J:.+]] = {{.*}} iter_args(%[[SO_FAR:.+]] = %[[START]]) -> (i32)
  // CHECK-NEXT: %[[A:.+]] = memref.load %[[X]][%[[I]], %[[J]]]
  // CHECK-NEXT: %[[M:.+]] = arith.maxsi %[[A]], %[[SO_FAR]]
  // CHECK-NEXT: scf.yield %[[M]]
  // CHECK: memref.store %[[MOST]], %[[Y]][%[[I]]]
  linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x21xi32>) outs(%y : memref<8xi32>) {
  ^bb0(%a: i32, %b: i32):
    %m = arith.maxsi %a, %b : i32
    linalg.yield %m : i32
  }
  return
}

// What is subtracted is loaded once for each row.
// CHECK-LABEL: func.func @shifted(
// CHECK-SAME: %[[X:.+]]: memref<8x21xf32>, %[[V:.+]]: memref<8xf32>, %[[Y:.+]]: memref<8x21xf32>
func.func @shifted(%x: memref<8x21xf32>, %v: memref<8xf32>, %y: memref<8x21xf32>) {
  // CHECK: scf.for %[[I:.+]] =
  // CHECK: %[[B:.+]] = memref.load %[[V]][%[[I]]]
  // CHECK: scf.for %[[J:.+]] =
  // CHECK: %[[A:.+]] = memref.load %[[X]][%[[I]], %[[J]]]
  // CHECK: arith.subf %[[A]], %[[B]]
  linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %v : memref<8x21xf32>, memref<8xf32>) outs(%y : memref<8x21xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %s = arith.subf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// Floats are added up in lanes: 16 at a time of a row of 21, then the upper
// half of the lanes to the lower one, then the five that are left.
// CHECK-LABEL: func.func @products(
// CHECK-SAME: %[[X:.+]]: memref<8x21xf32>, %[[W:.+]]: memref<21xf32>, %[[Y:.+]]: memref<8xf32>
func.func @products(%x: memref<8x21xf32>, %w: memref<21xf32>, %y: memref<8xf32>) {
  // CHECK: %[[START:.+]] = memref.load %[[Y]][%[[I:.+]]]
  // CHECK-DAG: %[[C16:.+]] = arith.constant 16 : index
  // CHECK-DAG: %[[ZERO:.+]] = arith.constant dense<-0.000000e+00> : vector<16xf32>
  // CHECK: %[[LANES:.+]] = scf.for %[[J:.+]] = %{{.+}} to %[[C16]] step %{{.+}} iter_args(%[[SO_FAR:.+]] = %[[ZERO]]) -> (vector<16xf32>)
  // CHECK-NEXT: %[[A:.+]] = vector.load %[[X]][%[[I]], %[[J]]]
  // CHECK-NEXT: %[[B:.+]] = vector.load %[[W]][%[[J]]]
  // CHECK-NEXT: %[[P:.+]] = arith.mulf %[[A]], %[[B]] : vector<16xf32>
  // CHECK-NEXT: %[[S:.+]] = arith.addf %[[SO_FAR]], %[[P]] : vector<16xf32>
  // CHECK-NEXT: scf.yield %[[S]]
  // CHECK-DAG: %[[LOW:.+]] = vector.shuffle %[[LANES]], %[[LANES]] [0, 1, 2, 3, 4, 5, 6, 7]
  // CHECK-DAG: %[[HIGH:.+]] = vector.shuffle %[[LANES]], %[[LANES]] [8, 9, 10, 11, 12, 13, 14, 15]
  // CHECK: arith.addf %[[LOW]], %[[HIGH]] : vector<8xf32>
  // CHECK: %[[SUM:.+]] = vector.extract
  // CHECK: %[[BEGUN:.+]] = arith.addf %[[START]], %[[SUM]] : f32
  // CHECK: %[[ALL:.+]] = scf.for {{.*}} iter_args(%{{.+}} = %[[BEGUN]]) -> (f32)
  // CHECK: memref.store %[[ALL]], %[[Y]][%[[I]]]
  linalg.generic {indexing_maps = [#all, #columns, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : memref<8x21xf32>, memref<21xf32>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  }
  return
}

// Of a dynamic number, as many as fill the lanes.
// CHECK-LABEL: func.func @dynamic(
// CHECK: %[[MASK:.+]] = arith.constant -32 : index
// CHECK: %[[END:.+]] = arith.andi %{{.+}}, %[[MASK]] : index
// CHECK: scf.for %{{.+}} = %{{.+}} to %[[END]] {{.*}} -> (vector<32xf32>)
// CHECK: scf.for %{{.+}} = %[[END]] to {{.*}} -> (f32)
func.func @dynamic(%x: memref<?xf32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<?xf32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}

// A count beside a sum is added in as many lanes.
// CHECK-LABEL: func.func @count(
// CHECK: scf.for {{.*}} -> (vector<32xf32>, vector<32xi64>)
// CHECK: vector.load %{{.+}} : memref<64xi1>, vector<32xi1>
// CHECK: arith.extui %{{.+}} : vector<32xi1> to vector<32xi64>
func.func @count(%x: memref<64xf32>, %m: memref<64xi1>, %y: memref<f32>, %n: memref<i64>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x, %m : memref<64xf32>, memref<64xi1>) outs(%y, %n : memref<f32>, memref<i64>) {
  ^bb0(%a: f32, %c: i1, %b: f32, %k: i64):
    %s = arith.addf %a, %b : f32
    %one = arith.extui %c : i1 to i64
    %i = arith.addi %one, %k : i64
    linalg.yield %s, %i : f32, i64
  }
  return
}

// So is the largest of floats found; the lanes begin with what the loop does. The
// order makes no difference, but LLVM does not know that.
// CHECK-LABEL: func.func @largest_float(
// CHECK: %[[START:.+]] = memref.load %{{.+}}[] : memref<f32>
// CHECK: %[[STARTS:.+]] = vector.broadcast %[[START]] : f32 to vector<32xf32>
// CHECK: scf.for {{.*}} iter_args(%{{.+}} = %[[STARTS]])
// CHECK: arith.maximumf %{{.+}}, %{{.+}} : vector<32xf32>
// CHECK: arith.maximumf %{{.+}}, %{{.+}} : vector<16xf32>
func.func @largest_float(%x: memref<64xf32>, %y: memref<f32>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<64xf32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    linalg.yield %m : f32
  }
  return
}

// So is whether something holds for all elements.
// CHECK-LABEL: func.func @all_inside(
// CHECK: scf.for {{.*}} -> (vector<32xi1>)
// CHECK: arith.cmpi slt, %{{.+}}, %{{.+}} : vector<32xi64>
// CHECK: arith.andi %{{.+}}, %{{.+}} : vector<32xi1>
func.func @all_inside(%x: memref<64xi64>, %n: i64, %y: memref<i1>) {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<64xi64>) outs(%y : memref<i1>) {
  ^bb0(%a: i64, %b: i1):
    %inside = arith.cmpi slt, %a, %n : i64
    %all = arith.andi %inside, %b : i1
    linalg.yield %all : i1
  }
  return
}

// A number that the body loads itself is loaded in front of the loop, and does
// not stand in the way of lanes.
// CHECK-LABEL: func.func @of_shifted(
// CHECK-SAME: %{{.+}}: memref<64xf32>, %[[S:.+]]: memref<1xf32>
// CHECK: %[[SHIFT:.+]] = memref.load %[[S]]
// CHECK: scf.for {{.*}} -> (vector<32xf32>)
// CHECK: math.exp %{{.+}} : vector<32xf32>
func.func @of_shifted(%x: memref<64xf32>, %s: memref<1xf32>, %y: memref<f32>) {
  %c0 = arith.constant 0 : index
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : memref<64xf32>) outs(%y : memref<f32>) {
  ^bb0(%a: f32, %b: f32):
    %shift = memref.load %s[%c0] : memref<1xf32>
    %d = arith.subf %a, %shift : f32
    %e = math.exp %d : f32
    %sum = arith.addf %e, %b : f32
    linalg.yield %sum : f32
  }
  return
}

// Numbers of a column lie apart, and products overflow in another order.
// CHECK-LABEL: func.func @scalar(
// CHECK-NOT: vector
func.func @scalar(%x: memref<8x21xf32, strided<[1, 8]>>, %y: memref<8xf32>, %z: memref<21xf32>, %p: memref<f32>) {
  linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<8x21xf32, strided<[1, 8]>>) outs(%y : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%z : memref<21xf32>) outs(%p : memref<f32>) {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %b : f32
    linalg.yield %s : f32
  }
  return
}
