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
