//===- VersionUses.cpp - where the memory of a version ends ---------------===//
//
// See the header. Everything is judged on the tree of regions, by one question:
// may this op run after that one while the version lives?
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Analysis/VersionUses.h"
#include "ssa-compiler/Analysis/TensorAliasAnalysis.h"
#include "ssa-compiler/Dialect/Torch/IR/Schema.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"
#include "ssa-compiler/Support/RegionEdges.h"
#include "ssa-compiler/Support/SourceLocation.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ssa_compiler;

template <typename OpTy> static torch::ViewInstance getView(OpTy op) {
  return {op.getView(), op.getSchemaAttr(), op.getBase(), op.getParams()};
}

template <typename OpTy> static const torch::ViewModel &getModel(OpTy op) {
  return *torch::lookupViewModel(op.getView());
}

static bool keepsPartOfBase(tssa::AssignOp assign) {
  return getModel(assign).assignKeepsBase(getView(assign), assign.getSource());
}

/// True for the functional form of an in-place op that writes where an index
/// says: `index_put`, `scatter` and so on, but not `gather`.
static bool writesAtIndex(Operation *op) {
  auto schemaOp = dyn_cast<torch::TorchSchemaOpInterface>(op);
  const torch::Schema *schema = schemaOp ? schemaOp.getSchema() : nullptr;
  if (!schema || op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      op->getOperand(0).getType() != op->getResult(0).getType())
    return false;
  StringRef name = schemaOp.getTorchName();
  name.consume_front("torch.");
  auto [space, rest] = name.split('.');
  auto [base, overload] = rest.split('.');
  std::string inPlace = ("torch." + space + "." + base + "_").str();
  if (!overload.empty())
    inPlace += ("." + overload).str();
  return torch::lookupSchema(inPlace) &&
         llvm::any_of(schema->arguments, [](const auto &argument) {
           return argument.name == "index" || argument.name == "indices";
         });
}

bool ssa_compiler::keepsElements(Operation *op) {
  if (auto assign = dyn_cast<tssa::AssignOp>(op))
    return keepsPartOfBase(assign);
  return writesAtIndex(op);
}

OpOperand *VersionUses::getUpdatedTensor(Operation *op) const {
  if (inner.contains(op))
    return nullptr;
  return outer.contains(op) || keepsElements(op)
             ? &op->getOpOperand(0) // the base
             : nullptr;
}

/// True if `access` shows what `assign` stores.
static bool isSameView(tssa::AccessOp access, tssa::AssignOp assign) {
  return access.getView() == assign.getView() &&
         access.getBase() == assign.getBase() &&
         access.getParams() == assign.getParams() &&
         access.getType() == assign.getSource().getType();
}

/// True if a view shows a strided slice of its base: stores through such views
/// are one store (`--fold-nested-updates`).
static bool isStridedSlice(tssa::AssignOp assign) {
  auto base = cast<torch::BaseTensorType>(assign.getBase().getType());
  auto source = cast<torch::BaseTensorType>(assign.getSource().getType());
  if (!base.hasSizes() || !source.hasSizes())
    return false;
  auto slice = torch::StridedSlice::getWhole(assign.getBase());
  return getModel(assign).followStridedSlice(getView(assign), source, slice);
}

void VersionUses::collectNests() {
  function.walk([&](tssa::AssignOp outermost) {
    if (!isStridedSlice(outermost))
      return;
    // Back to what the outermost view showed before.
    SmallVector<Operation *> changes;
    Value current = outermost.getSource();
    while (auto assign = current.getDefiningOp<tssa::AssignOp>()) {
      if (assign->getBlock() != outermost->getBlock() ||
          !isStridedSlice(assign))
        return;
      changes.push_back(assign);
      current = assign.getBase();
    }
    auto access = current.getDefiningOp<tssa::AccessOp>();
    if (changes.empty() || !access || !isSameView(access, outermost))
      return;
    outer.insert(outermost);
    inner.insert(changes.begin(), changes.end());
  });
}

OpOperand *VersionUses::getRenamed(Operation *op) const {
  if (outer.contains(op))
    return nullptr;
  if (auto access = dyn_cast<tssa::AccessOp>(op))
    return getModel(access).keepsMemory(getView(access), access.getType())
               ? &access.getBaseMutable()
               : nullptr;
  if (auto assign = dyn_cast<tssa::AssignOp>(op))
    return getModel(assign).keepsMemory(getView(assign),
                                        assign.getSource().getType())
               ? &assign.getSourceMutable()
               : nullptr;
  return nullptr;
}

Value VersionUses::getMemory(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    OpOperand *renamed = getRenamed(op);
    if (!renamed)
      break;
    value = renamed->get();
  }
  return value;
}

bool VersionUses::isUnread(OpOperand &use) const {
  auto assign = dyn_cast<tssa::AssignOp>(use.getOwner());
  return assign && &use == &assign.getBaseMutable() &&
         !outer.contains(assign) && !keepsPartOfBase(assign);
}

std::string CopyReason::describe() const {
  std::string text;
  if (kind == "argument")
    text = "the caller keeps '" + argument + "'";
  else if (kind == "constant")
    text = "it is a constant";
  else if (kind == "iteration")
    text = "the next iteration needs it again";
  else if (kind == "twice")
    text = "it is forwarded twice";
  else
    text = "it is read later";
  if (reader)
    if (std::optional<FileLineColLoc> line = getUserLine(reader->getLoc()))
      text += " (" + line->getFilename().str() + ":" +
              std::to_string(line->getLine()) + ")";
  return text;
}

/// True if `later` may run after `from`, which is entered or repeated as a
/// whole, before `version` is made anew.
static bool mayRunAfter(Operation *from, Operation *later, Value version) {
  if (isa<LoopLikeOpInterface>(from) && from->isAncestor(later) &&
      !from->isAncestor(version.getParentRegion()->getParentOp()))
    return true;
  return mayRunLater(from, later, version);
}

/// True if a loop lies around `op` in which `version` is not made anew.
static bool repeatsWith(Operation *op, Value version) {
  Operation *scope = version.getParentRegion()->getParentOp();
  for (Operation *parent = op->getParentOp(); parent && parent != scope;
       parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent))
      return true;
  return false;
}

/// True if of two ops at most one runs while the version lives: branches that
/// exclude each other.
static bool excludeEachOther(Operation *one, Operation *other, Value version) {
  return one != other && !one->isAncestor(other) && !other->isAncestor(one) &&
         !mayRunLater(one, other, version) && !mayRunLater(other, one, version);
}

VersionUses::VersionUses(func::FuncOp function) : function(function) {
  collectNests();
  collectEdges();
  collectOwners();
}

void VersionUses::collectEdges() {
  function.walk([&](Operation *op) {
    if (op == function)
      return;
    if (isa<SelectLikeOpInterface>(op)) {
      for (OpOperand &operand : op->getOpOperands())
        if (tssa::isValueTensor(operand.get().getType()))
          targets[&operand].push_back(op->getResult(0));
      return;
    }
    forEachRegionEdge(op, [&](OpOperand &operand, Value target) {
      if (tssa::isValueTensor(target.getType()))
        targets[&operand].push_back(target);
    });
  });
}

/// A result is the caller's to write, unless it is the caller's already.
static bool becomesCallers(func::FuncOp function, OpOperand &result) {
  unsigned index = result.getOperandNumber();
  return !function.getResultAttr(index, "tssa.alias_of") &&
         !function.getResultAttr(index, "tssa.same_as") &&
         !function.getResultAttr(index, "tssa.writeback");
}

void VersionUses::collectOwners() {
  SmallVector<Value> worklist;
  auto own = [&](Value value) {
    value = getMemory(value);
    if (owners.insert(value).second)
      worklist.push_back(value);
  };
  auto addReuse = [&](OpOperand &operand) {
    reusing.insert(&operand);
    own(operand.get());
  };
  function.walk([&](Operation *op) {
    if (OpOperand *updated = getUpdatedTensor(op)) {
      addReuse(*updated);
    } else if (isa<func::ReturnOp>(op)) {
      for (OpOperand &operand : op->getOpOperands())
        if (tssa::isValueTensor(operand.get().getType()) &&
            becomesCallers(function, operand))
          addReuse(operand);
    }
  });
  DenseMap<Value, SmallVector<OpOperand *>> sources;
  for (auto &[operand, values] : targets)
    for (Value target : values)
      sources[target].push_back(operand);
  while (!worklist.empty())
    for (OpOperand *operand : sources.lookup(worklist.pop_back_val()))
      addReuse(*operand);
  // In program order, so that annotations are named in that order.
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (reusing.contains(&operand))
        reuses.push_back(&operand);
  });
}

/// The values that are the same memory as what `reuse` reuses, in this shape
/// or others, without owning it. What `reuse` forwards is not among them: of
/// a loop's argument and its result, only one gets the memory.
llvm::SetVector<Value> VersionUses::getAliases(OpOperand &reuse) const {
  llvm::SetVector<Value> aliases;
  aliases.insert(getMemory(reuse.get()));
  for (size_t index = 0; index < aliases.size(); ++index)
    for (OpOperand &use : aliases[index].getUses()) {
      if (getRenamed(use.getOwner()) == &use)
        aliases.insert(use.getOwner()->getResult(0));
      auto it = targets.find(&use);
      if (it == targets.end() || &use == &reuse ||
          excludeEachOther(reuse.getOwner(), use.getOwner(), aliases[0]))
        continue;
      for (Value target : it->second)
        if (!owners.contains(target))
          aliases.insert(target);
    }
  return aliases;
}

llvm::SetVector<Value> VersionUses::getReceivers(OpOperand &reuse) const {
  llvm::SetVector<Value> receivers;
  auto follow = [&](OpOperand &operand) {
    Operation *op = operand.getOwner();
    bool isUpdate =
        reusing.contains(&operand) && getUpdatedTensor(op) == &operand;
    if (isUpdate || getRenamed(op) == &operand)
      receivers.insert(op->getResult(0));
    auto it = targets.find(&operand);
    if (it != targets.end())
      receivers.insert(it->second.begin(), it->second.end());
  };
  follow(reuse);
  for (size_t index = 0; index < receivers.size(); ++index)
    for (OpOperand &use : receivers[index].getUses())
      follow(use);
  return receivers;
}

/// The op that reads what `use` reads or forwards.
Operation *VersionUses::findReader(OpOperand &use) const {
  llvm::SetVector<Value> values;
  auto it = targets.find(&use);
  if (it == targets.end())
    return use.getOwner();
  values.insert(it->second.begin(), it->second.end());
  for (size_t index = 0; index < values.size(); ++index)
    for (OpOperand &next : values[index].getUses()) {
      auto onward = targets.find(&next);
      if (onward == targets.end())
        return next.getOwner();
      values.insert(onward->second.begin(), onward->second.end());
    }
  return use.getOwner();
}

std::optional<CopyReason> VersionUses::explainArgument(Value version) const {
  if (matchPattern(version, m_Constant()))
    return CopyReason{"constant", nullptr, {}};
  auto argument = dyn_cast<BlockArgument>(version);
  if (!argument || argument.getOwner() != &function.getBody().front())
    return std::nullopt;
  unsigned index = argument.getArgNumber();
  for (unsigned result = 0; result < function.getNumResults(); ++result)
    if (auto written =
            function.getResultAttrOfType<IntegerAttr>(result, "tssa.writeback"))
      if (written.getInt() == index)
        return std::nullopt;
  auto name = function.getArgAttrOfType<StringAttr>(index, "tssa.name");
  return CopyReason{"argument", nullptr,
                    name ? name.str() : "argument " + std::to_string(index)};
}

/// True for a tensor that is computed from none (`zeros`): whoever needs it
/// gets one of its own.
static bool isCreated(Value version) {
  Operation *op = version.getDefiningOp();
  return op && !op->getNumRegions() && isMemoryEffectFree(op) &&
         llvm::none_of(op->getOperandTypes(), tssa::isValueTensor);
}

std::optional<CopyReason> VersionUses::getCopyReason(OpOperand &reuse) const {
  Value version = getMemory(reuse.get());
  if (std::optional<CopyReason> reason = explainArgument(version))
    return reason;
  if (isCreated(version))
    return std::nullopt;
  Operation *owner = reuse.getOwner();
  // What a terminator forwards is gone when its op ends, or repeats.
  bool isTerminator =
      owner->hasTrait<OpTrait::IsTerminator>() && !isa<func::ReturnOp>(owner);
  Operation *from = isTerminator ? owner->getParentOp() : owner;
  bool made = isTerminator &&
              from->isAncestor(version.getParentRegion()->getParentOp());
  std::optional<CopyReason> found;
  for (Value alias : getAliases(reuse))
    for (OpOperand &use : alias.getUses()) {
      Operation *user = use.getOwner();
      if (&use == &reuse || getRenamed(user) == &use || isUnread(use))
        continue;
      if (user == owner) {
        // Of several that reuse the buffer, the last gets it.
        bool other = targets.contains(&use) || isa<func::ReturnOp>(user);
        if (other && (!reusing.contains(&use) ||
                      use.getOperandNumber() > reuse.getOperandNumber()))
          found = CopyReason{"twice", findReader(use), {}};
        continue;
      }
      // An op that is entered takes its operands before it runs.
      if (user->isAncestor(owner) || made)
        continue;
      if (mayRunAfter(from, user, version))
        return CopyReason{"read", findReader(use), {}};
    }
  if (found)
    return found;
  if (repeatsWith(owner, version))
    return CopyReason{"iteration", owner, {}};
  return std::nullopt;
}
