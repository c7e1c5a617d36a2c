//===- TSSADialect.cpp - the tssa dialect and its ops ---------------------===//
//
// Registration, verifiers and folders of tssa.access, tssa.assign, tssa.update.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Dialect/TSSA/IR/TSSADialect.h"
#include "ssa-compiler/Dialect/Torch/IR/Schema.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::tssa;

bool tssa::isValueTensor(Type type) {
  return isa<torch::ValueTensorType>(type);
}

#include "ssa-compiler/Dialect/TSSA/IR/TSSADialect.cpp.inc"

#define GET_OP_CLASSES
#include "ssa-compiler/Dialect/TSSA/IR/TSSA.cpp.inc"

void TSSADialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "ssa-compiler/Dialect/TSSA/IR/TSSA.cpp.inc"
      >();
}

/// access_c1, assign_c1: `view` names a view op. access_c2, assign_c3: `params`
/// are its operands after the base, as far as its schema is known.
template <typename OpTy> static LogicalResult verifyView(OpTy op) {
  StringRef view = op.getView();
  if (!torch::lookupViewModel(view))
    return op.emitOpError()
           << "expected the name of a view op, got '" << view << "'";
  FailureOr<torch::Schema> parsed;
  const torch::Schema *schema = torch::lookupSchema(view);
  if (StringAttr text = op.getSchemaAttr()) {
    std::string error;
    parsed = torch::parseSchema(text.getValue(), &error);
    if (failed(parsed))
      return op.emitOpError() << "expected a PyTorch schema: " << error;
    schema = &*parsed;
    if (schema->getTorchName() != view)
      return op.emitOpError()
             << "expected the schema of '" << view << "', got that of '"
             << schema->getTorchName() << "'";
  }
  if (schema && schema->arguments.size() != op.getParams().size() + 1)
    return op.emitOpError()
           << "expected " << schema->arguments.size() - 1 << " params of '"
           << view << "', got " << op.getParams().size();
  if (schema)
    for (auto [param, argument] :
         llvm::zip(op.getParams(), llvm::drop_begin(schema->arguments)))
      if (!torch::isAccepted(argument.type, param.getType()))
        return op.emitOpError()
               << "param '" << argument.name << "' must be " << argument.type
               << ", but got " << param.getType();
  return success();
}

LogicalResult AccessOp::verify() { return verifyView(*this); }

LogicalResult AssignOp::verify() { return verifyView(*this); }

/// What was just assigned through a view is what the same view shows; an assign
/// through a view that shows none of it makes no difference.
OpFoldResult AccessOp::fold(FoldAdaptor adaptor) {
  auto assign = getBase().getDefiningOp<AssignOp>();
  if (!assign || assign.getView() != getView())
    return {};
  torch::ViewInstance own{getView(), getSchemaAttr(), getBase(), getParams()};
  // Of elements that are one in memory an assign stores the first alone.
  if (torch::lookupViewModel(getView())->repeats(own, getType()))
    return {};
  if (assign.getParams() == getParams())
    return assign.getSource().getType() == getType() ? assign.getSource()
                                                     : Value();
  torch::ViewInstance written{assign.getView(), assign.getSchemaAttr(),
                              assign.getBase(), assign.getParams()};
  if (!torch::lookupViewModel(getView())->areDisjoint(own, written))
    return {};
  getBaseMutable().assign(assign.getBase());
  return getResult();
}

/// Writing back what the view shows changes nothing; of two assigns through the
/// same view the second wins.
OpFoldResult AssignOp::fold(FoldAdaptor adaptor) {
  auto access = getSource().getDefiningOp<AccessOp>();
  if (access && access.getBase() == getBase() &&
      access.getView() == getView() && access.getParams() == getParams())
    return getBase();
  // What stores to the same place again starts from the version before. If that
  // one were needed as well, there would be two versions at once: a copy.
  auto previous = getBase().getDefiningOp<AssignOp>();
  if (previous && previous->hasOneUse() && previous.getView() == getView() &&
      previous.getParams() == getParams()) {
    getBaseMutable().assign(previous.getBase());
    return getResult();
  }
  return {};
}
