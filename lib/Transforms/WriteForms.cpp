//===- WriteForms.cpp - which writes have a functional form ---------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "WriteForms.h"

#include "ssa-compiler/Dialect/Torch/IR/Schema.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

/// The kind of a dtype, in order of promotion: bool, integer, floating point,
/// complex.
static unsigned getKind(Type dtype) {
  if (isa<ComplexType>(dtype))
    return 3;
  return dtype.isInteger(1) ? 0 : isa<mlir::IntegerType>(dtype) ? 1 : 2;
}

bool ssa_compiler::keepsDtype(TorchSchemaOpInterface op) {
  Type target =
      cast<BaseTensorType>(op->getOperand(0).getType()).getOptionalDtype();
  if (!target)
    return true;
  StringRef kept = op.getSchema()->keptKinds;
  unsigned kind = getKind(target);
  if (!kept.contains("biff"[kind]))
    return false;
  return llvm::none_of(op->getOperands().drop_front(), [&](Value operand) {
    Type type = operand.getType();
    if (kept.contains('s') &&
        ((isa<torch::FloatType, NumberType>(type) && kind < 2) ||
         (isa<IntType>(type) && kind < 1)))
      return true;
    auto tensor = dyn_cast<BaseTensorType>(type);
    Type other = tensor ? tensor.getOptionalDtype() : Type();
    return other && kept.contains('p') && other != target &&
           getKind(other) >= kind;
  });
}

LogicalResult ssa_compiler::verifyRepeated(Operation *op,
                                           const TensorLocation &location) {
  auto rootType = cast<BaseTensorType>(location.root.getType());
  llvm::SmallBitVector repeated(rootType.hasSizes() ? rootType.getSizes().size()
                                                    : 0);
  Operation *repeating = nullptr;
  for (Operation *view : location.path) {
    auto viewOp = cast<TorchViewOpInterface>(view);
    ViewInstance instance{viewOp.getViewName(), viewOp.getViewSchema(),
                          view->getOperand(0), viewOp.getParams()};
    bool follows = viewOp.getViewModel()->followRepeated(
        instance, view->getResult(0).getType(), repeated);
    if (repeated.any() && !repeating)
      repeating = view;
    if (!follows && !repeating)
      return success(); // of unknown rank, which assigns reject
    if (!follows)
      break;
  }
  if (!repeating || repeated.none())
    return success();
  return op->emitError()
         << "unsupported: a write through '"
         << cast<TorchViewOpInterface>(repeating).getViewName()
         << "', which shows one element several times; clone() the tensor "
            "before the write";
}
