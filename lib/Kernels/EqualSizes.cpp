//===- EqualSizes.cpp - tensors of one size -------------------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "EqualSizes.h"
#include "SizeOrigins.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace ssa_compiler;

/// Whether an assertion of which `at` is reached behind says that two sizes are
/// equal.
static bool areAssertedEqual(const SizeOrigin &one, const SizeOrigin &other,
                             Operation *at) {
  auto isPair = [&](Value first, Value second) {
    SizeOrigin a = findNumberOrigin(first), b = findNumberOrigin(second);
    return (a == one && b == other) || (a == other && b == one);
  };
  return at->getParentOfType<func::FuncOp>()
      .walk([&](cf::AssertOp assertion) {
        Operation *here = assertion->getBlock()->findAncestorOpInBlock(*at);
        if (!here || !assertion->isBeforeInBlock(here))
          return WalkResult::advance();
        auto equality = assertion.getArg().getDefiningOp<arith::CmpIOp>();
        return equality &&
                       equality.getPredicate() == arith::CmpIPredicate::eq &&
                       isPair(equality.getLhs(), equality.getRhs())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether a size is that of what branches end in, whose sizes differ.
static bool isOfBranch(const SizeOrigin &size) {
  return size.tensor && size.tensor.getDefiningOp<scf::IfOp>();
}

bool ssa_compiler::haveSameSizes(Value tensor, Value other, Operation *at) {
  auto type = cast<RankedTensorType>(tensor.getType());
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    SizeOrigin one = findSizeOrigin(tensor, dim);
    SizeOrigin two = findSizeOrigin(other, dim);
    if (one == two || areAssertedEqual(one, two, at))
      continue;
    // Bounds could only tell that both arms have this size, for which they
    // compare the arms of all branches before, each with each.
    if (isOfBranch(one) || isOfBranch(two))
      return false;
    FailureOr<bool> equal =
        ValueBoundsConstraintSet::areEqual({tensor, dim}, {other, dim});
    if (failed(equal) || !*equal)
      return false;
  }
  return true;
}

FailureOr<Value> ssa_compiler::createOutside(Operation *op, Value tensor) {
  OpBuilder builder(op);
  auto type = cast<RankedTensorType>(tensor.getType());
  auto isOutside = [&](Value value) {
    return !op->isAncestor(value.getParentBlock()->getParentOp());
  };
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    SizeOrigin origin = findSizeOrigin(tensor, dim);
    auto number = dyn_cast_if_present<Value>(origin.number);
    if (origin.tensor && isOutside(origin.tensor))
      sizes.push_back(tensor::DimOp::create(builder, op->getLoc(),
                                            origin.tensor, origin.dim));
    else if (!origin.tensor && (!number || isOutside(number)))
      sizes.push_back(getValueOrCreateConstantIndexOp(builder, op->getLoc(),
                                                      origin.number));
    else
      return op->emitError("unsupported: a tensor whose size is decided in a "
                           "loop or branch");
  }
  return bufferization::AllocTensorOp::create(builder, op->getLoc(), type,
                                              sizes)
      .getResult();
}
