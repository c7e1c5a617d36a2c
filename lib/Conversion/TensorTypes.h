//===- TensorTypes.h - torch tensor types for IREE --------------*- C++ -*-===//
//
// The builtin types that the conversions to the `iree` stage give to tensors,
// and casts that hide sizes.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_CONVERSION_TENSORTYPES_H
#define SSA_COMPILER_LIB_CONVERSION_TENSORTYPES_H

#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace ssa_compiler {

/// The builtin tensor type that IREE uses for a torch tensor: without signs.
/// Null if the dtype is not known.
inline mlir::TensorType convertTensorType(torch::ValueTensorType type) {
  mlir::TensorType builtin = type.toBuiltinTensor();
  if (!builtin)
    return {};
  mlir::Type element = builtin.getElementType();
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(element))
    element = mlir::IntegerType::get(type.getContext(), integer.getWidth());
  return builtin.clone(element);
}

/// Whether an op is a cast between tensor types of which one hides sizes.
inline bool isCast(mlir::Operation *op) {
  return op && op->getName().getStringRef() == "torch.tensor_static_info_cast";
}

/// A tensor without casts that hide sizes.
inline mlir::Value skipCasts(mlir::Value tensor) {
  while (isCast(tensor.getDefiningOp()))
    tensor = tensor.getDefiningOp()->getOperand(0);
  return tensor;
}

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_CONVERSION_TENSORTYPES_H
