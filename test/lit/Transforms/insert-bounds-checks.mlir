// Assertions where eager PyTorch raises an IndexError.
// RUN: ssa-opt --torch-insert-bounds-checks %s | FileCheck %s

// A row that exists for sure needs no check.
// CHECK-LABEL: func.func @constant_index_in_range(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.tensor<[4,3],f32>
// CHECK-NOT: cf.assert
// CHECK: %[[SELECT:.+]] = torch.aten.select.int %[[ARG0]], %int0, %int-4
// CHECK-NOT: cf.assert
func.func @constant_index_in_range(%x: !torch.tensor<[4,3],f32>) -> !torch.tensor<[3],f32> {
  %int0 = torch.constant.int 0
  %int-4 = torch.constant.int -4
  %row = torch.aten.select.int %x, %int0, %int-4 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  return %row : !torch.tensor<[3],f32>
}

// The nearest row that does not exist: fails when it runs, as in eager.
// CHECK-LABEL: func.func @constant_index_out_of_range(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.tensor<[4,3],f32>
// CHECK: %[[C4:.+]] = arith.constant 4
// CHECK: %[[C0:.+]] = arith.constant 0
// CHECK: %[[SUBI:.+]] = arith.subi %[[C0]], %[[C4]]
// CHECK: %[[C4_2:.+]] = arith.constant 4
// CHECK: %[[CMPI:.+]] = arith.cmpi sge, %[[C4_2]], %[[SUBI]]
// CHECK: %[[CMPI_2:.+]] = arith.cmpi slt, %[[C4_2]], %[[C4]]
// CHECK: %[[ANDI:.+]] = arith.andi %[[CMPI]], %[[CMPI_2]]
// CHECK: cf.assert %[[ANDI]], "IndexError: index is out of bounds for dimension 0 with size 4 [model.py:12]"
// CHECK: %[[SELECT:.+]] = torch.aten.select.int %[[ARG0]], %int0, %int4
func.func @constant_index_out_of_range(%x: !torch.tensor<[4,3],f32>) -> !torch.tensor<[3],f32> {
  %int0 = torch.constant.int 0
  %int4 = torch.constant.int 4
  %row = torch.aten.select.int %x, %int0, %int4 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32> loc("model.py":12:3)
  return %row : !torch.tensor<[3],f32>
}

// An index of the program is compared with both ends; the index is used as it is.
// CHECK-LABEL: func.func @dynamic_index(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.tensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i64
// CHECK: %[[C3:.+]] = arith.constant 3
// CHECK: %[[C0:.+]] = arith.constant 0
// CHECK: %[[SUBI:.+]] = arith.subi %[[C0]], %[[C3]]
// CHECK: %[[CMPI:.+]] = arith.cmpi sge, %[[ARG1]], %[[SUBI]]
// CHECK: %[[CMPI_2:.+]] = arith.cmpi slt, %[[ARG1]], %[[C3]]
// CHECK: %[[ANDI:.+]] = arith.andi %[[CMPI]], %[[CMPI_2]]
// CHECK: cf.assert %[[ANDI]], "IndexError: index is out of bounds for dimension 1 with size 3
// CHECK: %[[SELECT:.+]] = torch.aten.select.int %[[ARG0]], %int-1, %{{.+}}
func.func @dynamic_index(%x: !torch.tensor<[4,3],f32>, %i: i64) -> !torch.tensor<[4],f32> {
  %int-1 = torch.constant.int -1
  %k = torch_c.from_i64 %i
  %column = torch.aten.select.int %x, %int-1, %k : !torch.tensor<[4,3],f32>, !torch.int, !torch.int -> !torch.tensor<[4],f32>
  return %column : !torch.tensor<[4],f32>
}

// A dynamic size: even row 0 may not exist.
// CHECK-LABEL: func.func @dynamic_size(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.tensor<[?,3],f32>
// CHECK: %[[SIZE:.+]] = torch.aten.size.int %[[ARG0]], %int0{{(_[0-9]+)?}}
// CHECK: %[[TO_I64:.+]] = torch_c.to_i64 %[[SIZE]]
// CHECK: %[[C0:.+]] = arith.constant 0
// CHECK: %[[SUBI:.+]] = arith.subi %[[C0]], %[[TO_I64]]
// CHECK: %[[C0_2:.+]] = arith.constant 0
// CHECK: %[[CMPI:.+]] = arith.cmpi sge, %[[C0_2]], %[[SUBI]]
// CHECK: %[[CMPI_2:.+]] = arith.cmpi slt, %[[C0_2]], %[[TO_I64]]
// CHECK: %[[ANDI:.+]] = arith.andi %[[CMPI]], %[[CMPI_2]]
// CHECK: cf.assert %[[ANDI]], "IndexError: index is out of bounds for dimension 0
// CHECK: %[[SELECT:.+]] = torch.aten.select.int %[[ARG0]], %int0, %int0
func.func @dynamic_size(%x: !torch.tensor<[?,3],f32>) -> !torch.tensor<[3],f32> {
  %int0 = torch.constant.int 0
  %row = torch.aten.select.int %x, %int0, %int0 : !torch.tensor<[?,3],f32>, !torch.int, !torch.int -> !torch.tensor<[3],f32>
  return %row : !torch.tensor<[3],f32>
}

// Slices are clamped, not checked.
// CHECK-LABEL: func.func @slice(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.tensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: !torch.int
// CHECK-NOT: cf.assert
// CHECK: %[[SLICE:.+]] = torch.aten.slice.Tensor %[[ARG0]], %int0, %[[ARG1]], %[[ARG1]], %int1
// CHECK-NOT: cf.assert
func.func @slice(%x: !torch.tensor<[4,3],f32>, %i: !torch.int) -> !torch.tensor<[?,3],f32> {
  %int0 = torch.constant.int 0
  %int1 = torch.constant.int 1
  %s = torch.aten.slice.Tensor %x, %int0, %i, %i, %int1 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int, !torch.int, !torch.int -> !torch.tensor<[?,3],f32>
  return %s : !torch.tensor<[?,3],f32>
}

// CHECK-LABEL: func.func @narrow_in_range(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.tensor<[4,3],f32>
// CHECK-NOT: cf.assert
// CHECK: %[[NARROW:.+]] = torch.aten.narrow %[[ARG0]], %int0, %int-2, %int2
// CHECK-NOT: cf.assert
func.func @narrow_in_range(%x: !torch.tensor<[4,3],f32>) -> !torch.tensor<[2,3],f32> {
  %int0 = torch.constant.int 0
  %int-2 = torch.constant.int -2
  %int2 = torch.constant.int 2
  %s = torch.aten.narrow %x, %int0, %int-2, %int2 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int, !torch.int -> !torch.tensor<[2,3],f32>
  return %s : !torch.tensor<[2,3],f32>
}

// Both the start and its sum with the length are checked; a negative start counts
// from the end.
// CHECK-LABEL: func.func @narrow_at_dynamic_start(
// CHECK-SAME: %[[ARG0:[a-z0-9]+]]: !torch.tensor<[4,3],f32>
// CHECK-SAME: %[[ARG1:[a-z0-9]+]]: i64
// CHECK: %[[C4:.+]] = arith.constant 4
// CHECK: %[[C2:.+]] = arith.constant 2
// CHECK: %[[C0:.+]] = arith.constant 0
// CHECK: %[[SUBI:.+]] = arith.subi %[[C0]], %[[C4]]
// CHECK: %[[CMPI:.+]] = arith.cmpi sge, %[[C2]], %[[C0]]
// CHECK: %[[CMPI_2:.+]] = arith.cmpi sge, %[[ARG1]], %[[SUBI]]
// CHECK: %[[CMPI_3:.+]] = arith.cmpi sle, %[[ARG1]], %[[C4]]
// CHECK: %[[ANDI:.+]] = arith.andi %[[CMPI_2]], %[[CMPI_3]]
// CHECK: %[[CMPI_4:.+]] = arith.cmpi slt, %[[ARG1]], %[[C0]]
// CHECK: %[[ADDI:.+]] = arith.addi %[[ARG1]], %[[C4]]
// CHECK: %[[SELECT:.+]] = arith.select %[[CMPI_4]], %[[ADDI]], %[[ARG1]]
// CHECK: %[[SUBI_2:.+]] = arith.subi %[[C4]], %[[C2]]
// CHECK: %[[CMPI_5:.+]] = arith.cmpi sle, %[[SELECT]], %[[SUBI_2]]
// CHECK: cf.assert %[[CMPI]], "RuntimeError: narrow(): length must be non-negative.
// CHECK: cf.assert %[[ANDI]], "IndexError: start out of range for dimension 0 with size 4
// CHECK: cf.assert %[[CMPI_5]], "RuntimeError: start + length exceeds dimension 0 with size 4
// CHECK: %[[NARROW:.+]] = torch.aten.narrow %[[ARG0]], %int0, %{{.+}}, %int2
func.func @narrow_at_dynamic_start(%x: !torch.tensor<[4,3],f32>, %i: i64) -> !torch.tensor<[2,3],f32> {
  %int0 = torch.constant.int 0
  %int2 = torch.constant.int 2
  %k = torch_c.from_i64 %i
  %s = torch.aten.narrow %x, %int0, %k, %int2 : !torch.tensor<[4,3],f32>, !torch.int, !torch.int, !torch.int -> !torch.tensor<[2,3],f32>
  return %s : !torch.tensor<[2,3],f32>
}
