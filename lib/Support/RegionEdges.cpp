//===- RegionEdges.cpp - what control flow forwards between regions -------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Support/RegionEdges.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;

void ssa_compiler::forEachRegionEdge(
    Operation *op, llvm::function_ref<void(OpOperand &, Value)> fn) {
  auto branchOp = dyn_cast<RegionBranchOpInterface>(op);
  if (!branchOp)
    return;
  SmallVector<RegionSuccessor> successors;
  branchOp.getSuccessorRegions(RegionBranchPoint::parent(), successors);
  for (RegionSuccessor &successor : successors) {
    OperandRange operands = branchOp.getEntrySuccessorOperands(successor);
    for (auto [index, target] : llvm::enumerate(successor.getSuccessorInputs()))
      fn(op->getOpOperand(operands.getBeginOperandIndex() + index), target);
  }
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      auto terminator =
          dyn_cast<RegionBranchTerminatorOpInterface>(block.getTerminator());
      if (!terminator)
        continue;
      successors.clear();
      SmallVector<Attribute> unknown(terminator->getNumOperands());
      terminator.getSuccessorRegions(unknown, successors);
      for (RegionSuccessor &successor : successors) {
        MutableOperandRange operands =
            terminator.getMutableSuccessorOperands(successor);
        for (auto [index, target] :
             llvm::enumerate(successor.getSuccessorInputs()))
          fn(operands[index], target);
      }
    }
}

ssa_compiler::ForwardedValues ssa_compiler::findForwardedValues(Value target) {
  ForwardedValues found;
  Operation *op = target.getDefiningOp();
  if (auto argument = dyn_cast<BlockArgument>(target))
    op = argument.getOwner()->getParentOp();
  if (op)
    forEachRegionEdge(op, [&](OpOperand &operand, Value to) {
      if (to == target)
        (operand.getOwner() == op ? found.entering : found.inside)
            .push_back(operand.get());
    });
  return found;
}
