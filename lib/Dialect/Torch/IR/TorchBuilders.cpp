//===- TorchBuilders.cpp - building torch ops by name ---------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Dialect/Torch/IR/TorchBuilders.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ssa_compiler;

Value torch::createIntConstant(OpBuilder &builder, Location loc,
                               int64_t value) {
  return ConstantIntOp::create(builder, loc, IntType::get(builder.getContext()),
                               builder.getI64IntegerAttr(value));
}

Value torch::createNoneConstant(OpBuilder &builder, Location loc) {
  return ConstantNoneOp::create(builder, loc,
                                NoneType::get(builder.getContext()));
}

Value torch::createIntList(OpBuilder &builder, Location loc, ValueRange ints) {
  Type type = ListType::get(IntType::get(builder.getContext()));
  return PrimListConstructOp::create(builder, loc, type, ints);
}

Value torch::createSize(OpBuilder &builder, Location loc, Value tensor,
                        int64_t dim) {
  auto type = cast<BaseTensorType>(tensor.getType());
  int64_t size = type.getSizes()[dim];
  if (size != kUnknownSize)
    return createIntConstant(builder, loc, size);
  Value dimValue = createIntConstant(builder, loc, dim);
  return createTorchOp(builder, loc, "torch.aten.size.int",
                       IntType::get(builder.getContext()), {tensor, dimValue})
      ->getResult(0);
}

Value torch::createSizeList(OpBuilder &builder, Location loc, Value tensor) {
  SmallVector<Value> sizes;
  int64_t rank = cast<BaseTensorType>(tensor.getType()).getSizes().size();
  for (int64_t dim = 0; dim < rank; ++dim)
    sizes.push_back(createSize(builder, loc, tensor, dim));
  return createIntList(builder, loc, sizes);
}

std::optional<int64_t> torch::getIntConstant(Value value) {
  // `torch_c.from_i64` of a builtin constant is one too.
  if (Operation *op = value.getDefiningOp();
      op && op->getName().getStringRef() == "torch_c.from_i64")
    value = op->getOperand(0);
  IntegerAttr attr;
  if (!matchPattern(value, m_Constant(&attr)))
    return std::nullopt;
  return attr.getValue().getSExtValue();
}

std::optional<SmallVector<int64_t>> torch::getIntListConstant(Value value) {
  auto list = value.getDefiningOp<PrimListConstructOp>();
  if (!list)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (Value element : list->getOperands()) {
    std::optional<int64_t> constant = getIntConstant(element);
    if (!constant)
      return std::nullopt;
    values.push_back(*constant);
  }
  return values;
}
