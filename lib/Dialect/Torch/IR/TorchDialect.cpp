// The torch dialect: registration of types and ops, and constants for folded
// values.

#include "ssa-compiler/Dialect/Torch/IR/TorchDialect.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"

using namespace mlir;
using namespace ssa_compiler::torch;

#include "ssa-compiler/Dialect/Torch/IR/TorchDialect.cpp.inc"

void TorchDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "ssa-compiler/Dialect/Torch/IR/Torch.cpp.inc"
      >();
  registerSchemaOps();
  registerTorchViewOps(*getContext());
}

Operation *TorchDialect::materializeConstant(OpBuilder &builder,
                                             Attribute value, Type type,
                                             Location loc) {
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    if (isa<IntType>(type) && integer.getType().isSignlessInteger(64))
      return ConstantIntOp::create(builder, loc, type, integer);
    if (isa<BoolType>(type) && integer.getType().isSignlessInteger(1))
      return ConstantBoolOp::create(builder, loc, type, integer);
  }
  if (auto number = dyn_cast<FloatAttr>(value); number && isa<FloatType>(type))
    return ConstantFloatOp::create(builder, loc, type, number);
  if (isa<NumberType>(type) && isa<IntegerAttr, FloatAttr>(value))
    return ConstantNumberOp::create(builder, loc, type, value);
  if (auto string = dyn_cast<StringAttr>(value);
      string && isa<StringType>(type))
    return ConstantStrOp::create(builder, loc, type, string);
  if (isa<NoneType>(type) && isa<TypeAttr>(value))
    return ConstantNoneOp::create(builder, loc, type);
  if (auto elements = dyn_cast<ElementsAttr>(value);
      elements && isa<ValueTensorType>(type)) {
    auto literal = ValueTensorLiteralOp::create(builder, loc, elements);
    if (literal.getType() == type)
      return literal;
    literal.erase();
  }
  return nullptr;
}
