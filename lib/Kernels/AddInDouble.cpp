//===- AddInDouble.cpp - sums of many floats ------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "AddInDouble.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ssa_compiler;

Operation *ssa_compiler::findSum(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1)
    return nullptr;
  Block *body = op.getBlock();
  BlockArgument sum = body->getArguments().back();
  Operation *add = body->getTerminator()->getOperand(0).getDefiningOp();
  bool adds = isa_and_nonnull<arith::AddFOp, arith::MulFOp>(add) &&
              sum.hasOneUse() && *sum.user_begin() == add;
  return adds ? add : nullptr;
}

/// Converts the elements of a tensor to another floating-point type.
template <typename CastOp>
static Value castElements(OpBuilder &builder, Location loc, Value tensor,
                          Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, tensor), element);
  AffineMap map = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, empty.getType(), tensor, empty,
             ArrayRef<AffineMap>{map, map}, kinds,
             [&](OpBuilder &inner, Location loc, ValueRange elements) {
               Value wide = CastOp::create(inner, loc, element, elements[0]);
               linalg::YieldOp::create(inner, loc, wide);
             })
      .getResult(0);
}

LogicalResult ssa_compiler::addInDouble(linalg::LinalgOp op) {
  Operation *add = findSum(op);
  Type narrow = add->getResult(0).getType();
  if (!narrow.isF32())
    return success();
  IRRewriter rewriter(op.getContext());
  rewriter.setInsertionPoint(op);
  if (!isa<linalg::GenericOp>(op)) {
    FailureOr<linalg::GenericOp> general = generalizeNamedOp(rewriter, op);
    if (failed(general))
      return failure();
    op = cast<linalg::LinalgOp>(general->getOperation());
    add = findSum(op);
    rewriter.setInsertionPoint(op);
  }
  Location loc = op.getLoc();
  Type wide = rewriter.getF64Type();
  OpOperand *init = op.getDpsInitOperand(0);
  init->set(castElements<arith::ExtFOp>(rewriter, loc, init->get(), wide));
  op->getResult(0).setType(init->get().getType());
  BlockArgument sum = op.getBlock()->getArguments().back();
  sum.setType(wide);
  for (OpOperand &operand : add->getOpOperands()) {
    if (operand.get() == sum)
      continue;
    rewriter.setInsertionPoint(add);
    operand.set(arith::ExtFOp::create(rewriter, loc, wide, operand.get()));
  }
  add->getResult(0).setType(wide);
  rewriter.setInsertionPointAfter(op);
  SmallVector<OpOperand *> uses = llvm::map_to_vector(
      op->getResult(0).getUses(), [](OpOperand &use) { return &use; });
  Value result =
      castElements<arith::TruncFOp>(rewriter, loc, op->getResult(0), narrow);
  for (OpOperand *use : uses)
    use->set(result);
  return success();
}
