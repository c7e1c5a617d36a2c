//===- RewriteMutation.cpp - writes become assigns and updates ------------===//
//
// The first step of TensorSSA conversion (FuncTs, DAC'24, section 4.2.1). A
// walk in program order replaces each tensor by its value: a read of a view
// becomes accesses along its path from the root ("pass down"), a write becomes
// the functional op, assigns back up the path ("pass up") and an update of the
// root.
//
// In contrast to the paper, a new version is not accessed for every view at the
// write, but where a view is next read: the number of ops grows with the reads
// instead of with writes times views, and loops carry roots only.
//
//===----------------------------------------------------------------------===//

#include "ResultAnnotations.h"
#include "WriteForms.h"

#include "ssa-compiler/Analysis/TensorAliasAnalysis.h"
#include "ssa-compiler/Dialect/TSSA/IR/TSSADialect.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"
#include "ssa-compiler/Support/RegionEdges.h"
#include "ssa-compiler/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/ScopedHashTable.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_TSSAREWRITEMUTATIONPASS
#include "ssa-compiler/Transforms/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

namespace {

class MutationRewriter {
public:
  MutationRewriter(func::FuncOp function, const TensorAliasAnalysis &aliases)
      : function(function), aliases(aliases), builder(function.getContext()) {}

  LogicalResult run();

private:
  using AccessCache = llvm::ScopedHashTable<Value, std::pair<Value, unsigned>>;

  LogicalResult rewriteBlock(Block &block);
  LogicalResult rewriteOp(Operation *op);
  LogicalResult rewriteWrite(TorchSchemaOpInterface op);
  FailureOr<SmallVector<Value>>
  computeWrites(TorchSchemaOpInterface op, ArrayRef<unsigned> written,
                std::optional<FunctionalOp> functional);
  LogicalResult rewriteRegionOp(Operation *op);
  void rewriteReturn(func::ReturnOp op);
  void rewriteForwardedOperands(Operation *owner, Operation *regionOp);
  void rewriteReads(Operation *op);
  Value read(Value tensor, Location loc);
  Value buildAccess(Operation *view, Value base, Location loc);
  Value toValueType(Value root);
  bool replaceTypeCast(Operation *op);

  func::FuncOp function;
  const TensorAliasAnalysis &aliases;
  OpBuilder builder;
  /// Counts the updates of each root; an access of an older version is stale.
  DenseMap<Value, unsigned> versions;
  AccessCache accesses;
  /// The immutable value of a root whose op does not survive with other types.
  DenseMap<Value, Value> rootValues;
  SmallVector<Operation *> dead;
};

Type getValueType(Type type) {
  if (auto tensor = dyn_cast<NonValueTensorType>(type))
    return tensor.getWithValueSemantics();
  if (auto list = dyn_cast<ListType>(type))
    return ListType::get(getValueType(list.getContainedType()));
  if (auto optional = dyn_cast<OptionalType>(type))
    return OptionalType::get(getValueType(optional.getContainedType()));
  return type;
}

Value MutationRewriter::toValueType(Value root) {
  if (Value value = rootValues.lookup(root))
    return value;
  root.setType(getValueType(root.getType()));
  return root;
}

Value MutationRewriter::buildAccess(Operation *view, Value base, Location loc) {
  auto viewOp = cast<TorchViewOpInterface>(view);
  return tssa::AccessOp::create(
      builder, loc, getValueType(view->getResult(0).getType()),
      builder.getStringAttr(viewOp.getViewName()), base, viewOp.getParams(),
      viewOp.getViewSchema());
}

/// The present value of a tensor: accesses along its path from the root. The
/// root's own value stands for its newest version until renaming.
Value MutationRewriter::read(Value tensor, Location loc) {
  const TensorLocation *location = aliases.getLocation(tensor);
  if (!location)
    return tensor;
  Value current = toValueType(location->root);
  unsigned version = versions.lookup(location->root);
  for (Operation *view : location->path) {
    Value viewed = view->getResult(0);
    auto cached = accesses.lookup(viewed);
    if (!cached.first || cached.second != version) {
      cached = {buildAccess(view, current, loc), version};
      accesses.insert(viewed, cached);
    }
    current = cached.first;
  }
  return current;
}

/// Replaces each tensor operand by its present value. A list of tensors is
/// built anew, since its elements may have changed after it was made.
void MutationRewriter::rewriteReads(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (aliases.getLocation(operand.get())) {
      operand.set(read(operand.get(), op->getLoc()));
      continue;
    }
    auto list = operand.get().getDefiningOp<PrimListConstructOp>();
    if (!list || !llvm::any_of(list->getOperands(), [&](Value element) {
          return aliases.getLocation(element);
        }))
      continue;
    SmallVector<Value> elements;
    for (Value element : list->getOperands())
      elements.push_back(read(element, op->getLoc()));
    operand.set(PrimListConstructOp::create(
        builder, list.getLoc(), getValueType(list.getType()), elements));
  }
}

/// Computes what the op leaves in the operands that it writes: with its
/// functional form if `functional` is given, otherwise by running it on copies.
/// Operands have been read; results that are no written operand are replaced.
FailureOr<SmallVector<Value>>
MutationRewriter::computeWrites(TorchSchemaOpInterface op,
                                ArrayRef<unsigned> written,
                                std::optional<FunctionalOp> functional) {
  SmallVector<Type> types;
  for (unsigned index : written)
    types.push_back(getValueType(op->getOperand(index).getType()));
  if (functional)
    return SmallVector<Value>(createTorchOp(builder, op->getLoc(),
                                            functional->name, types,
                                            op->getOperands())
                                  ->getResults());

  std::optional<std::string> schema =
      op.getSchema() ? getFunctionalizedSchema(*op.getSchema()) : std::nullopt;
  if (!schema)
    return op->emitError() << "unsupported: no pure form of '"
                           << op.getTorchName() << "' is known";
  SmallVector<Value> fresh;
  for (OpResult result : op->getResults())
    if (!op.getSchema()->returns[result.getResultNumber()].alias.present) {
      fresh.push_back(result);
      types.push_back(getValueType(result.getType()));
    }
  StringRef name = op.getTorchName();
  name.consume_front("torch.");
  Operation *onCopies = createTorchOp(builder, op->getLoc(),
                                      ("torch.functionalized." + name).str(),
                                      types, op->getOperands(), *schema);
  if (op->hasAttr("tssa.random"))
    onCopies->setAttr("tssa.random", builder.getUnitAttr());
  for (auto [old, value] : llvm::zip_equal(
           fresh, onCopies->getResults().drop_front(written.size())))
    rootValues[old] = value;
  return SmallVector<Value>(onCopies->getResults().take_front(written.size()));
}

LogicalResult MutationRewriter::rewriteWrite(TorchSchemaOpInterface op) {
  ArrayRef<unsigned> written = aliases.getWrittenOperands(op);
  Location loc = op->getLoc();
  std::optional<FunctionalOp> functional = op.getFunctionalOp();
  if (functional && (written.size() != 1 || written[0] != 0 || !keepsDtype(op)))
    functional = std::nullopt;

  // What the op writes, with the value at each step of the path to it.
  SmallVector<std::pair<const TensorLocation *, SmallVector<Value>>> targets;
  SmallPtrSet<Value, 2> roots;
  for (unsigned index : written) {
    const TensorLocation *location = aliases.getLocation(op->getOperand(index));
    if (!roots.insert(location->root).second)
      return op->emitError() << "unsupported: '" << op.getTorchName()
                             << "' writes two views of one tensor";
    targets.push_back({location, {toValueType(location->root)}});
  }
  for (auto &[location, bases] : targets)
    if (failed(verifyRepeated(op, *location)))
      return failure();
  rewriteReads(op);
  for (auto &[location, bases] : targets)
    for (Operation *view : location->path)
      bases.push_back(accesses.lookup(view->getResult(0)).first);
  FailureOr<SmallVector<Value>> values = computeWrites(op, written, functional);
  if (failed(values))
    return failure();

  for (auto [target, current] : llvm::zip_equal(targets, *values)) {
    auto &[location, bases] = target;
    for (auto [view, base] : llvm::reverse(
             llvm::zip_equal(location->path, ArrayRef(bases).drop_back()))) {
      auto viewOp = cast<TorchViewOpInterface>(view);
      current = tssa::AssignOp::create(
          builder, loc, base.getType(),
          builder.getStringAttr(viewOp.getViewName()), base, current,
          viewOp.getParams(), viewOp.getViewSchema());
    }
    tssa::UpdateOp::create(builder, loc, current, bases.front());
    ++versions[location->root];
  }
  dead.push_back(op);
  return success();
}

/// Rewrites what `owner` (a region op or its terminator) forwards. A value that
/// is the same location as what it is forwarded to is not needed there: it is
/// read from its root. Loops get back their own argument, so that it can be
/// removed.
void MutationRewriter::rewriteForwardedOperands(Operation *owner,
                                                Operation *regionOp) {
  DenseMap<OpOperand *, Value> passThrough;
  if (owner != regionOp)
    forEachRegionEdge(regionOp, [&](OpOperand &operand, Value target) {
      const TensorLocation *location = aliases.getLocation(target);
      auto argument = dyn_cast<BlockArgument>(target);
      Block *block = owner->getBlock();
      if (operand.getOwner() != owner || !location ||
          location->root == target || !argument ||
          argument.getArgNumber() >= block->getNumArguments())
        return;
      // In an `scf.while` the arguments of both regions correspond.
      Value own = block->getArgument(argument.getArgNumber());
      const TensorLocation *ownLocation = aliases.getLocation(own);
      if (ownLocation && *ownLocation == *location)
        passThrough[&operand] = own;
    });
  for (OpOperand &operand : owner->getOpOperands()) {
    if (Value target = passThrough.lookup(&operand)) {
      operand.set(toValueType(target));
    } else if (aliases.getLocation(operand.get())) {
      operand.set(read(operand.get(), owner->getLoc()));
    }
  }
}

LogicalResult MutationRewriter::rewriteRegionOp(Operation *op) {
  rewriteForwardedOperands(op, op);
  // In a loop the body may see versions that later iterations make.
  auto invalidate = [&] {
    for (Value root : aliases.getRootsWrittenBelow(op))
      ++versions[root];
  };
  for (Value result : op->getResults())
    if (aliases.getLocation(result))
      toValueType(result);
  for (Region &region : op->getRegions()) {
    invalidate();
    for (Block &block : region) {
      AccessCache::ScopeTy scope(accesses);
      for (BlockArgument argument : block.getArguments())
        if (aliases.getLocation(argument))
          toValueType(argument);
      if (failed(rewriteBlock(block)))
        return failure();
    }
  }
  invalidate();
  return success();
}

/// Appends the final contents of written arguments.
void MutationRewriter::rewriteReturn(func::ReturnOp op) {
  for (OpOperand &operand : op->getOpOperands())
    if (aliases.getLocation(operand.get()))
      operand.set(read(operand.get(), op.getLoc()));
  for (BlockArgument argument : function.getArguments()) {
    const TensorLocation *location = aliases.getLocation(argument);
    if (!location || !aliases.isWritten(argument))
      continue;
    unsigned index = op->getNumOperands();
    op->insertOperands(index, argument);
    auto attr = builder.getNamedAttr(
        "tssa.writeback", builder.getI64IntegerAttr(argument.getArgNumber()));
    (void)function.insertResult(index, argument.getType(),
                                builder.getDictionaryAttr(attr));
  }
}

LogicalResult MutationRewriter::rewriteOp(Operation *op) {
  builder.setInsertionPoint(op);
  if (auto returnOp = dyn_cast<func::ReturnOp>(op)) {
    rewriteReturn(returnOp);
    return success();
  }
  if (op->hasTrait<OpTrait::IsTerminator>()) {
    rewriteForwardedOperands(op, op->getParentOp());
    return success();
  }
  if (isa<RegionBranchOpInterface>(op))
    return rewriteRegionOp(op);
  if (isa<TorchViewOpInterface>(op)) {
    // A view of an immutable tensor is a tensor of its own.
    const TensorLocation *location = aliases.getLocation(op->getResult(0));
    if (location && !location->path.empty()) {
      // A storage that is never written is read where the view is taken.
      if (!aliases.isWritten(location->root))
        read(op->getResult(0), op->getLoc());
      dead.push_back(op);
      return success();
    }
  }
  if (isa<PrimListConstructOp>(op) &&
      llvm::any_of(op->getOperands(), [&](Value element) {
        return aliases.getLocation(element);
      })) {
    // Rebuilt at its uses.
    dead.push_back(op);
    return success();
  }
  if (!aliases.getWrittenOperands(op).empty())
    return rewriteWrite(cast<TorchSchemaOpInterface>(op));
  if (replaceTypeCast(op))
    return success();
  rewriteReads(op);
  for (Value result : op->getResults())
    result.setType(getValueType(result.getType()));
  return success();
}

/// The ops between the two kinds of tensors. Each becomes a cast, which gives
/// the storage a value of its own: an update of it must not rename what it came
/// from.
bool MutationRewriter::replaceTypeCast(Operation *op) {
  Value source;
  if (auto literal = dyn_cast<NonValueTensorLiteralOp>(op))
    source =
        ValueTensorLiteralOp::create(builder, op->getLoc(), literal.getValue());
  else if (isa<CopyToNonValueTensorOp, CopyToValueTensorOp>(op))
    source = read(op->getOperand(0), op->getLoc());
  else
    return false;
  Value result = op->getResult(0);
  Value cast = TensorStaticInfoCastOp::create(
      builder, op->getLoc(), getValueType(result.getType()), source);
  if (isa<CopyToValueTensorOp>(op))
    result.replaceAllUsesWith(cast);
  else
    rootValues[result] = cast;
  dead.push_back(op);
  return true;
}

LogicalResult MutationRewriter::rewriteBlock(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block))
    if (failed(rewriteOp(&op)))
      return failure();
  return success();
}

LogicalResult MutationRewriter::run() {
  // While the edges still tell what flows where.
  annotateResults(function, aliases);
  AccessCache::ScopeTy scope(accesses);
  for (BlockArgument argument : function.getArguments())
    if (aliases.getLocation(argument))
      toValueType(argument);
  if (failed(rewriteBlock(function.getBody().front())))
    return failure();
  for (Operation *op : llvm::reverse(dead))
    op->erase();
  SmallVector<Type> results(
      function.getBody().front().getTerminator()->getOperandTypes());
  function.setType(FunctionType::get(
      function.getContext(), function.getBody().getArgumentTypes(), results));
  return success();
}

struct TSSARewriteMutation final
    : ssa_compiler::impl::TSSARewriteMutationPassBase<TSSARewriteMutation> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    if (!function.getBody().hasOneBlock()) {
      function.emitError()
          << "unsupported: a function with several blocks; use "
             "structured control flow";
      return signalPassFailure();
    }
    TensorAliasAnalysis aliases(function);
    if (failed(aliases.verifyMerges()) ||
        failed(MutationRewriter(function, aliases).run()))
      signalPassFailure();
  }
};

} // namespace
