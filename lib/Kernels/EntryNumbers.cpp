//===- EntryNumbers.cpp - what is known when a kernel is called -----------===//

#include "EntryNumbers.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ssa_compiler;

bool EntryNumbers::add(Value number) {
  if (auto argument = dyn_cast<BlockArgument>(number))
    return argument.getOwner() == &function.getBody().front();
  Operation *op = number.getDefiningOp();
  if (ops.contains(op))
    return true;
  if (auto size = dyn_cast<memref::DimOp>(op)) {
    auto source = dyn_cast<BlockArgument>(size.getSource());
    if (!source || source.getOwner() != &function.getBody().front() ||
        source.getArgNumber() >= function.getNumArguments() ||
        !isGiven(function, source.getArgNumber()) || !size.getConstantIndex() ||
        !add(size.getIndex()))
      return false;
    ops.insert(op);
    return true;
  }
  if (!isa<arith::ArithDialect>(op->getDialect()) || !isPure(op))
    return false;
  if (!llvm::all_of(op->getOperands(),
                    [&](Value operand) { return add(operand); }))
    return false;
  ops.insert(op);
  return true;
}

void EntryNumbers::clone(OpBuilder &builder, IRMapping &mapping) const {
  for (Operation *op : ops)
    if (!mapping.contains(op->getResult(0)))
      builder.clone(*op, mapping);
}

SmallVector<memref::DimOp> EntryNumbers::getDims() const {
  SmallVector<memref::DimOp> dims;
  for (Operation *op : ops)
    if (auto dim = dyn_cast<memref::DimOp>(op))
      dims.push_back(dim);
  return dims;
}
