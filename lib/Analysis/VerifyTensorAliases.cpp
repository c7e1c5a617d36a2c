//===- VerifyTensorAliases.cpp - programs that conversion gets wrong ------===//
//
// What TensorSSA conversion rejects: writes that would be seen through a merge
// (see TensorAliasAnalysis.h), and ops that hold on to, write or return mutable
// tensors in a way that the analysis does not follow.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Analysis/TensorAliasAnalysis.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

static bool isMutableTensor(Value value) {
  return isa<NonValueTensorType>(value.getType());
}

/// True for containers of mutable tensors.
static bool holdsMutableTensors(Value value) {
  bool found = false;
  if (!isMutableTensor(value))
    value.getType().walk([&](NonValueTensorType) { found = true; });
  return found;
}

/// True if `op` only reads the elements of a list when it runs, so that the
/// list can be built from the newest tensors right before it.
static bool readsListElements(OpOperand &list) {
  auto schemaOp = dyn_cast<TorchSchemaOpInterface>(list.getOwner());
  if (!schemaOp || !schemaOp.getSchema() ||
      schemaOp.isWritten(list.getOperandNumber()))
    return false;
  return llvm::none_of(schemaOp.getSchema()->returns, [](const Argument &ret) {
    return ret.alias.present && !ret.alias.isWrite;
  });
}

/// True if `op` returns a tensor that may share storage with something other
/// than a tensor operand, or a container of such tensors.
static bool returnsUntrackedAlias(TorchSchemaOpInterface op) {
  const Schema *schema = op.getSchema();
  for (OpResult result : op->getResults()) {
    unsigned index = result.getResultNumber();
    if (index >= schema->returns.size() ||
        !schema->returns[index].alias.present)
      continue;
    if (holdsMutableTensors(result))
      return true;
    const AliasInfo &returned = schema->returns[index].alias;
    bool isTracked =
        !returned.wildcard &&
        llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
          unsigned argument = operand.getOperandNumber();
          return isa<BaseTensorType>(operand.get().getType()) &&
                 argument < schema->arguments.size() &&
                 returned.mayAlias(schema->arguments[argument].alias);
        });
    if (isMutableTensor(result) && !isTracked)
      return true;
  }
  return false;
}

/// Says why the conversion does not know what `op` does with mutable tensors;
/// empty if it does.
static std::string explainUnknown(Operation *op, bool hasWrites,
                                  bool baseIsView) {
  auto quoted = [](StringRef name) { return "'" + name.str() + "'"; };
  std::string name = quoted(op->getName().getStringRef());
  bool takesTensor = llvm::any_of(op->getOperands(), isMutableTensor);
  bool takesContainer = llvm::any_of(op->getOperands(), holdsMutableTensors);

  if (auto view = dyn_cast<TorchViewOpInterface>(op);
      view && takesTensor && baseIsView &&
      view.getViewModel()->looksAtStorage())
    return quoted(view.getViewName()) +
           " of a view, whose strides are not known; apply it to the tensor "
           "that owns the storage";

  if (auto schemaOp = dyn_cast<TorchSchemaOpInterface>(op)) {
    name = quoted(schemaOp.getTorchName());
    if (!schemaOp.getSchema())
      return takesTensor || takesContainer
                 ? name + " takes a mutable tensor and its schema is not known"
                 : "";
    for (unsigned index : schemaOp.getWrittenOperands())
      if (holdsMutableTensors(op->getOperand(index)))
        return name + " writes a container of mutable tensors";
    // A list that outlives the op that reads it may be a second name.
    if (hasWrites)
      for (OpOperand &operand : op->getOpOperands())
        if (holdsMutableTensors(operand.get()) && !readsListElements(operand))
          return "a list of tensors that is kept while tensors are written";
    if (hasWrites && returnsUntrackedAlias(schemaOp))
      return name + " returns views that are not followed while tensors are "
                    "written";
    return "";
  }

  if (isa<PrimListConstructOp>(op))
    return takesContainer ? "a list of lists of mutable tensors" : "";
  if (isa<CallOpInterface>(op) &&
      (takesTensor || takesContainer ||
       llvm::any_of(op->getResults(), isMutableTensor)))
    return "a call that takes or returns a mutable tensor; run --inline";
  if (takesContainer)
    return name + " of a container of mutable tensors";
  if (takesTensor && !op->hasTrait<OpTrait::IsTerminator>() &&
      !isa<RegionBranchOpInterface, SelectLikeOpInterface, CopyToValueTensorOp>(
          op))
    return name + " of a mutable tensor";
  return "";
}

/// Says that a write through one of the names that meet in `edge` cannot be
/// made pure.
static void reportMerge(const MergeEdge &edge, Operation *culprit) {
  Operation *owner = edge.source->getOwner();
  auto schemaOp = dyn_cast<TorchSchemaOpInterface>(owner);
  InFlightDiagnostic diagnostic = culprit->emitError() << "unsupported: ";
  // What keeps the tensor, where the importer says so.
  auto holder = owner->getAttrOfType<StringAttr>("tssa.held_by");
  if (holder)
    diagnostic << "a tensor that is in " << holder.getValue()
               << " is written, through one of its names, while another one "
                  "is in use; clone it where it is put there";
  else if (schemaOp)
    diagnostic << "what '" << schemaOp.getTorchName()
               << "' returns, which is a view or a copy, or what it was made "
                  "from is written while the other one is in use; use an op "
                  "that always views or always copies";
  else
    diagnostic << "a tensor that is one of several tensors, depending on "
                  "control flow, is written while another name of it is in "
                  "use; clone it where it gets its second name";
  diagnostic.attachNote(owner->getLoc()) << "the second name is given here";
}

SmallVector<MergeEdge> TensorAliasAnalysis::getConflicts() const {
  SmallVector<MergeEdge> conflicts;
  for (const MergeEdge &edge : edges) {
    if (!merges.contains(edge.target))
      continue;
    Value root = locations.lookup(edge.source->get()).root;
    if (conflictsWith(edge, root, {}))
      conflicts.push_back(edge);
  }
  return conflicts;
}

bool TensorAliasAnalysis::conflictsWith(const MergeEdge &edge, Value root,
                                        Value other) const {
  return (writtenDownstream.contains(edge.target) &&
          isLiveAfter(edge, root, false, other)) ||
         isLiveAfter(edge, root, true, other);
}

LogicalResult TensorAliasAnalysis::verifyMerges() const {
  for (const MergeEdge &edge : getConflicts()) {
    Value root = locations.lookup(edge.source->get()).root;
    // Blame a write, since that is the line to change.
    Operation *culprit = edge.source->getOwner();
    Value written = writers.contains(edge.target) ? edge.target : root;
    if (auto it = writers.find(written); it != writers.end())
      culprit = it->second.front()->getOwner();
    reportMerge(edge, culprit);
    return failure();
  }

  WalkResult result = function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op == function)
      return WalkResult::advance();
    for (Region &region : op->getRegions()) {
      bool usesTensors = llvm::any_of(locations, [&](auto &entry) {
        Value tensor = entry.first;
        return region.isAncestor(tensor.getParentRegion());
      });
      if (!usesTensors || (isa<RegionBranchOpInterface>(op) &&
                           llvm::hasNItemsOrLess(region, 1)))
        continue;
      op->emitError() << "unsupported: '" << op->getName()
                      << "' has a region that may use mutable tensors";
      return WalkResult::interrupt();
    }
    const TensorLocation *base =
        op->getNumOperands() ? getLocation(op->getOperand(0)) : nullptr;
    std::string problem =
        explainUnknown(op, !writers.empty(), base && !base->path.empty());
    if (problem.empty())
      return WalkResult::advance();
    op->emitError() << "unsupported: " << problem;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
