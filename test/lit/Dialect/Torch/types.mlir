// Every type of the dialect is printed as it was read.
// RUN: ssa-opt %s | ssa-opt | FileCheck %s
// RUN: ssa-opt %s --mlir-print-op-generic | ssa-opt | FileCheck %s

// CHECK-LABEL: func.func private @tensors(!torch.tensor, !torch.vtensor, !torch.tensor<*,f32>,
// CHECK-SAME: !torch.vtensor<[],unk>, !torch.vtensor<[2,?,0],si64>, !torch.tensor<[1],complex<f64>>,
// CHECK-SAME: !torch.vtensor<[2],!torch.quint8>, !torch.vtensor<[2],f8E4M3FN>, !torch.vtensor<[2],bf16>)
func.func private @tensors(!torch.tensor, !torch.vtensor<*,unk>, !torch.tensor<*,f32>,
  !torch.vtensor<[],unk>, !torch.vtensor<[2,?,0],si64>, !torch.tensor<[1],complex<f64>>,
  !torch.vtensor<[2],!torch.quint8>, !torch.vtensor<[2],f8E4M3FN>, !torch.vtensor<[2],bf16>)

// CHECK-LABEL: func.func private @atoms(!torch.bool, !torch.int, !torch.float, !torch.number, !torch.str, !torch.none,
// CHECK-SAME: !torch.any, !torch.Device, !torch.Generator, !torch.LinearParams)
func.func private @atoms(!torch.bool, !torch.int, !torch.float, !torch.number, !torch.str, !torch.none,
  !torch.any, !torch.Device, !torch.Generator, !torch.LinearParams)

// CHECK-LABEL: func.func private @containers(!torch.list<list<optional<tensor<[2],f32>>>>, !torch.dict<str, int>,
// CHECK-SAME: !torch.tuple<>, !torch.tuple<int, none>, !torch.union<int, float>, !torch.nn.Module<"a.b">)
func.func private @containers(!torch.list<list<optional<tensor<[2],f32>>>>, !torch.dict<str, int>,
  !torch.tuple<>, !torch.tuple<int, none>, !torch.union<int, float>, !torch.nn.Module<"a.b">)
