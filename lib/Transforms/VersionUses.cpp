//===- VersionUses.cpp - where the memory of a version ends ---------------===//
//
// See the header. Everything is judged on the tree of regions, by one question:
// may this op run after that one while the version lives?
//
//===----------------------------------------------------------------------===//

#include "VersionUses.h"

#include "ssa-compiler/Analysis/TensorAliasAnalysis.h"
#include "ssa-compiler/Dialect/Torch/IR/Schema.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"
#include "ssa-compiler/Support/SourceLocation.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace ssa_compiler;

static bool keepsPartOfBase(tssa::AssignOp assign) {
  // Built aside, to see whether the result is computed from the base. Lowering
  // reports what has no meaning.
  ScopedDiagnosticHandler quiet(assign.getContext(),
                                [](Diagnostic &) { return success(); });
  Block scratch;
  OpBuilder builder(assign.getContext());
  builder.setInsertionPointToEnd(&scratch);
  Value base = assign.getBase();
  torch::ViewInstance view{assign.getView(), assign.getSchemaAttr(), base,
                           assign.getParams()};
  const torch::ViewModel *model = torch::lookupViewModel(assign.getView());
  if (failed(model->buildAssign(builder, assign.getLoc(), view,
                                assign.getSource())))
    return true;
  return llvm::any_of(base.getUsers(), [&](Operation *user) {
    return user->getBlock() == &scratch &&
           llvm::any_of(user->getResultTypes(), tssa::isValueTensor);
  });
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

OpOperand *ssa_compiler::getUpdatedTensor(Operation *op) {
  if (auto assign = dyn_cast<tssa::AssignOp>(op))
    return keepsPartOfBase(assign) ? &assign.getBaseMutable() : nullptr;
  return writesAtIndex(op) ? &op->getOpOperand(0) : nullptr;
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
    text = "it is handed on twice";
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

VersionUses::VersionUses(func::FuncOp function) : function(function) {
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
    if (owners.insert(value).second)
      worklist.push_back(value);
  };
  auto take = [&](OpOperand &operand) {
    taking.insert(&operand);
    own(operand.get());
  };
  function.walk([&](Operation *op) {
    if (OpOperand *updated = getUpdatedTensor(op)) {
      take(*updated);
    } else if (isa<func::ReturnOp>(op)) {
      for (OpOperand &operand : op->getOpOperands())
        if (tssa::isValueTensor(operand.get().getType()) &&
            becomesCallers(function, operand))
          take(operand);
    }
  });
  DenseMap<Value, SmallVector<OpOperand *>> sources;
  for (auto &[operand, values] : targets)
    for (Value target : values)
      sources[target].push_back(operand);
  while (!worklist.empty())
    for (OpOperand *operand : sources.lookup(worklist.pop_back_val()))
      take(*operand);
  // In program order, so that marks are named in that order.
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (OpOperand &operand : op->getOpOperands())
      if (taking.contains(&operand))
        takeovers.push_back(&operand);
  });
}

/// The values that are the same memory as what `takeover` takes, without owning
/// it. What `takeover` hands on is not among them: of a loop's argument and its
/// result, only one gets the memory.
llvm::SetVector<Value> VersionUses::getAliases(OpOperand &takeover) const {
  llvm::SetVector<Value> aliases;
  aliases.insert(takeover.get());
  for (size_t index = 0; index < aliases.size(); ++index)
    for (OpOperand &use : aliases[index].getUses()) {
      auto it = targets.find(&use);
      if (it == targets.end() || &use == &takeover)
        continue;
      for (Value target : it->second)
        if (!owners.contains(target))
          aliases.insert(target);
    }
  return aliases;
}

llvm::SetVector<Value> VersionUses::getHeirs(OpOperand &takeover) const {
  llvm::SetVector<Value> heirs;
  auto follow = [&](OpOperand &operand) {
    Operation *op = operand.getOwner();
    if (taking.contains(&operand) && getUpdatedTensor(op) == &operand)
      heirs.insert(op->getResult(0));
    auto it = targets.find(&operand);
    if (it != targets.end())
      heirs.insert(it->second.begin(), it->second.end());
  };
  follow(takeover);
  for (size_t index = 0; index < heirs.size(); ++index)
    for (OpOperand &use : heirs[index].getUses())
      follow(use);
  return heirs;
}

/// The op that reads what `use` reads or hands on.
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

std::optional<CopyReason>
VersionUses::getCopyReason(OpOperand &takeover) const {
  Value version = takeover.get();
  if (std::optional<CopyReason> reason = explainArgument(version))
    return reason;
  if (isCreated(version))
    return std::nullopt;
  Operation *owner = takeover.getOwner();
  // What a terminator hands on is gone when its op ends, or repeats.
  bool isTerminator =
      owner->hasTrait<OpTrait::IsTerminator>() && !isa<func::ReturnOp>(owner);
  Operation *from = isTerminator ? owner->getParentOp() : owner;
  bool made = isTerminator &&
              from->isAncestor(version.getParentRegion()->getParentOp());
  std::optional<CopyReason> found;
  for (Value alias : getAliases(takeover))
    for (OpOperand &use : alias.getUses()) {
      Operation *user = use.getOwner();
      if (&use == &takeover)
        continue;
      if (user == owner) {
        // Of several that take over the memory, the last gets it.
        bool other = targets.contains(&use) || isa<func::ReturnOp>(user);
        if (other && (!taking.contains(&use) ||
                      use.getOperandNumber() > takeover.getOperandNumber()))
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
