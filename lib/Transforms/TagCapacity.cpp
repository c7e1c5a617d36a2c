//===- TagCapacity.cpp - values carried beside tensors --------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "TagCapacity.h"
#include "ssa-compiler/Support/RegionUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ssa_compiler;

AliasesByOp ssa_compiler::sortByOp(const AmbiguousAliasAnalysis &analysis) {
  AliasesByOp byOp;
  for (const auto &alias : analysis.getAmbiguousAliases()) {
    bool fedByCondition = llvm::all_of(alias->sources, [](OpOperand *source) {
      return isa<scf::ConditionOp>(source->getOwner());
    });
    RegionAliases &regionAliases = byOp[alias->regionOp];
    (fedByCondition ? regionAliases.fedByCondition : regionAliases.fedByOp)
        .push_back(alias.get());
  }
  return byOp;
}

unsigned ssa_compiler::countExtras(ArrayRef<AmbiguousAlias *> ambiguous) {
  unsigned count = 0;
  for (AmbiguousAlias *alias : ambiguous)
    count += alias->getNumExtras();
  return count;
}

LogicalResult ssa_compiler::addTagCapacity(RewriterBase &rewriter,
                                           Operation *op,
                                           const RegionAliases &regionAliases) {
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
  unsigned count = countExtras(regionAliases.fedByOp);
  unsigned countAfter = countExtras(regionAliases.fedByCondition);
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
