//===- ChoiceRoom.cpp - room for what is carried beside tensors -----------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "ChoiceRoom.h"
#include "RegionUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ssa_compiler;

ChoicesByOp ssa_compiler::sortByOp(const ChoiceAnalysis &analysis) {
  ChoicesByOp byOp;
  for (const auto &choice : analysis.getChoices()) {
    bool fedByCondition = llvm::all_of(choice->sources, [](OpOperand *source) {
      return isa<scf::ConditionOp>(source->getOwner());
    });
    RegionChoices &choices = byOp[choice->regionOp];
    (fedByCondition ? choices.fedByCondition : choices.fedByOp)
        .push_back(choice.get());
  }
  return byOp;
}

unsigned ssa_compiler::countExtras(ArrayRef<Choice *> choices) {
  unsigned count = 0;
  for (Choice *choice : choices)
    count += choice->getNumExtras();
  return count;
}

LogicalResult ssa_compiler::addRoom(RewriterBase &rewriter, Operation *op,
                                    const RegionChoices &choices) {
  Location loc = op->getLoc();
  Type i64 = rewriter.getI64Type();
  auto zeros = [&](Operation *before, unsigned count) {
    rewriter.setInsertionPoint(before);
    SmallVector<Value> values;
    for (unsigned index = 0; index < count; ++index)
      values.push_back(arith::ConstantIntOp::create(rewriter, loc, 0, 64));
    return values;
  };
  auto yieldZeros = [&](Region &region, unsigned count) {
    Operation *terminator = region.front().getTerminator();
    terminator->insertOperands(terminator->getNumOperands(),
                               zeros(terminator, count));
  };
  auto addArguments = [&](Region &region, unsigned count) {
    for (unsigned index = 0; index < count; ++index)
      region.front().addArgument(i64, loc);
  };
  unsigned count = countExtras(choices.fedByOp);
  unsigned countAfter = countExtras(choices.fedByCondition);
  auto types = [&](unsigned count) { return SmallVector<Type>(count, i64); };
  if (isa<scf::IfOp>(op)) {
    for (Region &region : op->getRegions())
      yieldZeros(region, count);
    rebuildRegionOp(rewriter, op, {}, types(count));
    return success();
  }
  if (isa<scf::ForOp>(op)) {
    yieldZeros(op->getRegion(0), count);
    addArguments(op->getRegion(0), count);
    rebuildRegionOp(rewriter, op, zeros(op, count), types(count));
    return success();
  }
  if (isa<scf::WhileOp>(op)) {
    addArguments(op->getRegion(0), count);
    yieldZeros(op->getRegion(0), countAfter);
    addArguments(op->getRegion(1), countAfter);
    yieldZeros(op->getRegion(1), count);
    rebuildRegionOp(rewriter, op, zeros(op, count), types(countAfter));
    return success();
  }
  return failure();
}
