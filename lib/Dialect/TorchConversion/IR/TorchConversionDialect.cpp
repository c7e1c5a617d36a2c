// The torch_c dialect: casts between torch types and builtin types, and their
// folding.

#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversionDialect.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch_c;

#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversionDialect.cpp.inc"

#define GET_OP_CLASSES
#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversion.cpp.inc"

void TorchConversionDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversion.cpp.inc"
      >();
}

Operation *TorchConversionDialect::materializeConstant(OpBuilder &builder,
                                                       Attribute value,
                                                       Type type,
                                                       Location loc) {
  if (isa<torch::TorchDialect>(type.getDialect()))
    return builder.getContext()
        ->getLoadedDialect<torch::TorchDialect>()
        ->materializeConstant(builder, value, type, loc);
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// A tensor's dtype and a builtin tensor's element type fit if they are the
/// same, or the same number of bits where the builtin type says nothing of the
/// sign.
static bool isSameElement(Type dtype, Type element) {
  if (dtype == element)
    return true;
  if (isa<torch::QInt8Type, torch::QUInt8Type>(dtype))
    return element.isSignlessInteger(8);
  if (isa<torch::QInt16Type>(dtype))
    return element.isSignlessInteger(16);
  if (isa<torch::QInt32Type>(dtype))
    return element.isSignlessInteger(32);
  auto integer = dyn_cast<IntegerType>(dtype);
  return integer && element.isSignlessInteger(integer.getWidth());
}

static LogicalResult verifyTensorCast(Operation *op,
                                      torch::ValueTensorType torchType,
                                      TensorType builtinType) {
  if (!torchType.hasDtype())
    return op->emitOpError()
           << "expected a tensor of known dtype, got " << torchType;
  if (!isSameElement(torchType.getDtype(), builtinType.getElementType()))
    return op->emitOpError()
           << "expected the same element type on both sides, got " << torchType
           << " and " << builtinType;
  bool sameSizes =
      torchType.hasSizes() == builtinType.hasRank() &&
      (!torchType.hasSizes() || torchType.getSizes() == builtinType.getShape());
  if (!sameSizes)
    return op->emitOpError() << "expected the same sizes on both sides, got "
                             << torchType << " and " << builtinType;
  return success();
}

LogicalResult ToBuiltinTensorOp::verify() {
  return verifyTensorCast(*this, getOperand().getType(), getType());
}
LogicalResult FromBuiltinTensorOp::verify() {
  return verifyTensorCast(*this, getType(), getOperand().getType());
}

/// The operand of the inverse cast that made `value`, if it has type `type`.
template <typename InverseOp>
static OpFoldResult foldInverse(Value value, Type type) {
  auto inverse = value.getDefiningOp<InverseOp>();
  if (inverse && inverse.getOperand().getType() == type)
    return inverse.getOperand();
  return {};
}

OpFoldResult ToBuiltinTensorOp::fold(FoldAdaptor) {
  return foldInverse<FromBuiltinTensorOp>(getOperand(), getType());
}
OpFoldResult FromBuiltinTensorOp::fold(FoldAdaptor) {
  return foldInverse<ToBuiltinTensorOp>(getOperand(), getType());
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// A constant is the same attribute on both sides.
template <typename InverseOp>
static OpFoldResult foldScalar(Attribute constant, Value operand, Type type) {
  if (constant)
    return constant;
  return foldInverse<InverseOp>(operand, type);
}

OpFoldResult ToI1Op::fold(FoldAdaptor a) {
  return foldScalar<FromI1Op>(a.getOperand(), getOperand(), getType());
}
OpFoldResult FromI1Op::fold(FoldAdaptor a) {
  return foldScalar<ToI1Op>(a.getOperand(), getOperand(), getType());
}
OpFoldResult ToI64Op::fold(FoldAdaptor a) {
  return foldScalar<FromI64Op>(a.getOperand(), getOperand(), getType());
}
OpFoldResult FromI64Op::fold(FoldAdaptor a) {
  return foldScalar<ToI64Op>(a.getOperand(), getOperand(), getType());
}
OpFoldResult ToF64Op::fold(FoldAdaptor a) {
  return foldScalar<FromF64Op>(a.getOperand(), getOperand(), getType());
}
OpFoldResult FromF64Op::fold(FoldAdaptor a) {
  return foldScalar<ToF64Op>(a.getOperand(), getOperand(), getType());
}
