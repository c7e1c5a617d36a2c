//===- RegionUtils.cpp - region ops with more values ----------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Support/RegionUtils.h"

using namespace mlir;

Operation *ssa_compiler::rebuildRegionOp(RewriterBase &rewriter, Operation *op,
                                         ValueRange operands, TypeRange types) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(op->getOperands());
  state.addOperands(operands);
  state.addTypes(op->getResultTypes());
  state.addTypes(types);
  for (NamedAttribute attr : op->getDiscardableAttrs())
    state.addAttribute(attr.getName(), attr.getValue());
  if (Attribute properties = op->getPropertiesAsAttribute())
    state.propertiesAttr = properties;
  for (unsigned index = 0; index < op->getNumRegions(); ++index)
    state.addRegion();
  Operation *created = rewriter.create(state);
  for (auto [oldRegion, newRegion] :
       llvm::zip_equal(op->getRegions(), created->getRegions()))
    newRegion.takeBody(oldRegion);
  rewriter.replaceAllUsesWith(
      op->getResults(), created->getResults().take_front(op->getNumResults()));
  rewriter.eraseOp(op);
  return created;
}
