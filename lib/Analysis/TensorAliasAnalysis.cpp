//===- TensorAliasAnalysis.cpp - which tensor is in which storage ---------===//
//
// See the header for the definitions. The locations are found by optimistic
// iteration: assume that every block argument and region result has the
// location of the first value that flows in; whoever receives another one
// becomes a merge (a root of its own); repeat until nothing changes. The set of
// merges only grows, so this ends.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Analysis/TensorAliasAnalysis.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"
#include "ssa-compiler/Support/RegionEdges.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

static bool isMutableTensor(Value value) {
  return isa<NonValueTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Locations
//===----------------------------------------------------------------------===//

TensorAliasAnalysis::TensorAliasAnalysis(Operation *function)
    : function(function) {
  do {
    computeLocations();
  } while (addConflictingMerges());
  collectWrites();
  collectUses();
}

/// One pass in program order: each region op before its regions, so that an
/// assumption about a loop is made before its body is read.
void TensorAliasAnalysis::computeLocations() {
  locations.clear();
  edges.clear();
  for (Region &region : function->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        if (isMutableTensor(argument))
          locations[argument] = {argument, {}};
  function->walk<WalkOrder::PreOrder>(
      [&](Operation *op) { visitOperation(op); });
  // Whatever no edge reached is a root (an unreachable region's argument).
  function->walk([&](Block *block) {
    for (BlockArgument argument : block->getArguments())
      if (isMutableTensor(argument))
        locations.try_emplace(argument, TensorLocation{argument, {}});
  });
}

/// Notes that `target` receives the tensor `source`, and gets its
/// location if nothing has been said about `target` yet.
void TensorAliasAnalysis::addEdge(OpOperand &source, Value target) {
  // The condition of a select is no tensor.
  if (!isMutableTensor(target) || !isMutableTensor(source.get()))
    return;
  edges.push_back({&source, target});
  if (merges.contains(target))
    locations[target] = {target, {}};
  else
    locations.try_emplace(target, locations.lookup(source.get()));
}

void TensorAliasAnalysis::visitOperation(Operation *op) {
  if (op == function)
    return;
  // Region terminators forward what they know; their op collected the edge.
  if (Operation *parent = op->getParentOp();
      parent != function && op->hasTrait<OpTrait::IsTerminator>())
    forEachRegionEdge(parent, [&](OpOperand &source, Value target) {
      if (source.getOwner() == op)
        addEdge(source, target);
    });

  if (isa<RegionBranchOpInterface>(op)) {
    forEachRegionEdge(op, [&](OpOperand &source, Value target) {
      if (source.getOwner() == op)
        addEdge(source, target);
    });
    return;
  }
  if (isa<SelectLikeOpInterface>(op)) {
    for (OpOperand &operand : op->getOpOperands())
      addEdge(operand, op->getResult(0));
    return;
  }

  auto schemaOp = dyn_cast<TorchSchemaOpInterface>(op);
  for (OpResult result : op->getResults()) {
    if (!isMutableTensor(result))
      continue;
    if (isa<TorchViewOpInterface>(op) && result.getResultNumber() == 0 &&
        isMutableTensor(op->getOperand(0))) {
      TensorLocation location = locations.lookup(op->getOperand(0));
      location.path.push_back(op);
      locations[result] = std::move(location);
      continue;
    }
    std::optional<unsigned> self;
    bool mayAlias = false;
    for (OpOperand &operand : op->getOpOperands()) {
      unsigned index = operand.getOperandNumber();
      if (!schemaOp || !schemaOp.mayAlias(result.getResultNumber(), index))
        continue;
      // `add_` returns the very tensor that it wrote.
      if (schemaOp.isWritten(index) && isMutableTensor(operand.get()))
        self = index;
      else if (isMutableTensor(operand.get())) {
        mayAlias = true;
        edges.push_back({&operand, result});
      }
    }
    if (self && !mayAlias)
      locations[result] = locations.lookup(op->getOperand(*self));
    else
      locations[result] = {result, {}};
    if (mayAlias)
      merges.insert(result);
  }
}

/// True if the region that the edge leaves made the root or a view of the
/// location: the value that receives it cannot name them.
static bool leavesScope(const MergeEdge &edge, TensorLocation location) {
  Operation *owner = edge.source->getOwner();
  if (!owner->hasTrait<OpTrait::IsTerminator>())
    return false;
  Operation *regionOp = owner->getParentOp();
  return regionOp->isAncestor(location.root.getParentRegion()->getParentOp()) ||
         llvm::any_of(location.path, [&](Operation *view) {
           return regionOp->isProperAncestor(view);
         });
}

bool TensorAliasAnalysis::addConflictingMerges() {
  bool changed = false;
  for (const MergeEdge &edge : edges) {
    Value target = edge.target;
    TensorLocation location = locations.lookup(edge.source->get());
    if (merges.contains(target) ||
        (locations.lookup(target) == location && !leavesScope(edge, location)))
      continue;
    merges.insert(target);
    changed = true;
  }
  return changed;
}

const TensorLocation *TensorAliasAnalysis::getLocation(Value tensor) const {
  auto it = locations.find(tensor);
  return it == locations.end() ? nullptr : &it->second;
}

llvm::SetVector<Value> TensorAliasAnalysis::getPossibleRoots(Value root) const {
  llvm::SetVector<Value> reached;
  reached.insert(root);
  for (size_t index = 0; index < reached.size(); ++index) {
    if (!merges.contains(reached[index]))
      continue;
    for (const MergeEdge &edge : edges)
      if (edge.target == reached[index])
        reached.insert(locations.lookup(edge.source->get()).root);
  }
  return reached;
}

SmallVector<unsigned>
TensorAliasAnalysis::getPossibleArguments(Value root) const {
  SmallVector<unsigned> arguments;
  for (Value value : getPossibleRoots(root)) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && argument.getOwner()->getParentOp() == function)
      arguments.push_back(argument.getArgNumber());
  }
  llvm::sort(arguments);
  return arguments;
}

ArrayRef<unsigned>
TensorAliasAnalysis::getWrittenOperands(Operation *op) const {
  auto it = writtenOperands.find(op);
  return it == writtenOperands.end() ? ArrayRef<unsigned>()
                                     : ArrayRef<unsigned>(it->second);
}

ArrayRef<Value> TensorAliasAnalysis::getRootsWrittenBelow(Operation *op) const {
  auto it = writtenBelow.find(op);
  return it == writtenBelow.end() ? ArrayRef<Value>()
                                  : it->second.getArrayRef();
}

//===----------------------------------------------------------------------===//
// Writes and uses
//===----------------------------------------------------------------------===//

void TensorAliasAnalysis::collectWrites() {
  function->walk([&](TorchSchemaOpInterface op) {
    for (unsigned index : op.getWrittenOperands()) {
      const TensorLocation *location = getLocation(op->getOperand(index));
      if (!location)
        continue;
      writers[location->root].push_back(&op->getOpOperand(index));
      writtenOperands[op].push_back(index);
      Value root = location->root;
      for (Operation *parent = op->getParentOp(); parent && parent != function;
           parent = parent->getParentOp()) {
        if (parent->isAncestor(root.getParentBlock()->getParentOp()))
          break;
        writtenBelow[parent].insert(location->root);
      }
    }
  });

  // A merge is written downstream if it is written, or flows into one that is.
  SmallVector<Value> worklist;
  for (auto &entry : writers)
    if (writtenDownstream.insert(entry.first).second)
      worklist.push_back(entry.first);
  DenseMap<Value, SmallVector<Value>> sources;
  for (const MergeEdge &edge : edges)
    if (merges.contains(edge.target))
      sources[edge.target].push_back(locations.lookup(edge.source->get()).root);
  while (!worklist.empty())
    for (Value source : sources.lookup(worklist.pop_back_val()))
      if (writtenDownstream.insert(source).second)
        worklist.push_back(source);
}

/// A use is whatever reads or writes the storage. Taking a view is not one, nor
/// is forwarding a tensor to a value that is the same location.
void TensorAliasAnalysis::collectUses() {
  DenseMap<OpOperand *, bool> forwarded;
  for (const MergeEdge &edge : edges) {
    forwarded[edge.source] |= merges.contains(edge.target);
    if (merges.contains(edge.target))
      forwards[edge.source].push_back(edge.target);
  }
  for (auto &[key, location] : locations) {
    Value value = key;
    for (OpOperand &use : value.getUses()) {
      if (isa<TorchViewOpInterface>(use.getOwner()) &&
          use.getOperandNumber() == 0)
        continue;
      auto it = forwarded.find(&use);
      if (it != forwarded.end() && !it->second)
        continue;
      uses[location.root].push_back(&use);
      // A list is read where it is used.
      if (isa<PrimListConstructOp>(use.getOwner()))
        for (OpOperand &listUse : use.getOwner()->getResult(0).getUses())
          uses[location.root].push_back(&listUse);
    }
  }
}

bool ssa_compiler::mayRunLater(Operation *from, Operation *later, Value root) {
  // An enclosing loop that does not remake the root lets everything in it run
  // again.
  Region *rootRegion = root.getParentRegion();
  for (Operation *parent = from->getParentOp(); parent;
       parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent) && parent->isAncestor(later) &&
        !parent->isAncestor(rootRegion->getParentOp()))
      return true;
  for (Operation *op = from; op; op = op->getParentOp()) {
    Operation *laterInBlock =
        op->getBlock() ? op->getBlock()->findAncestorOpInBlock(*later)
                       : nullptr;
    if (laterInBlock)
      return laterInBlock != op && op->isBeforeInBlock(laterInBlock);
  }
  return false;
}

/// True if `later` can run after the edge that leaves `from`, within one life
/// of the value `root`.
static bool canRunAfter(Operation *from, bool entersOrRepeats, Operation *later,
                        Value root) {
  return (from != later && entersOrRepeats && from->isAncestor(later)) ||
         mayRunLater(from, later, root);
}

/// A merge, and those that it flows into.
DenseSet<Value> TensorAliasAnalysis::getMergesBelow(Value merge) const {
  DenseSet<Value> below{merge};
  SmallVector<Value> worklist{merge};
  while (!worklist.empty())
    for (OpOperand *use : uses.lookup(worklist.pop_back_val()))
      for (Value target : forwards.lookup(use))
        if (below.insert(target).second)
          worklist.push_back(target);
  return below;
}

/// True if `use` only gives the source of `edge` names that nothing reads or
/// writes before they meet, in a merge, with what `edge` flows into, and no
/// write through one of those can run before. Then there is one name again
/// when the tensor is written: a loop that ends early leaves a variable, and
/// what was assigned to it, side by side up to its end.
bool TensorAliasAnalysis::rejoins(const MergeEdge &edge, OpOperand *use) const {
  if (!forwards.contains(use))
    return false;
  DenseSet<Value> below = getMergesBelow(edge.target), names;
  SmallVector<OpOperand *> worklist{use};
  while (!worklist.empty()) {
    OpOperand *forward = worklist.pop_back_val();
    auto targets = forwards.find(forward);
    if (targets == forwards.end())
      return false;
    Value root = locations.lookup(forward->get()).root;
    for (Value merge : below)
      for (OpOperand *write : writers.lookup(merge))
        if (mayRunLater(write->getOwner(), forward->getOwner(), root))
          return false;
    for (Value name : targets->second)
      if (!below.contains(name) && names.insert(name).second)
        llvm::append_range(worklist, uses.lookup(name));
  }
  return true;
}

/// True if `root`, or `other` if that is a second name of it, is used (written,
/// with `writesOnly`) after the edge.
bool TensorAliasAnalysis::isLiveAfter(const MergeEdge &edge, Value root,
                                      bool writesOnly, Value other) const {
  auto usesOfRoot = uses.find(other ? other : root);
  ArrayRef<OpOperand *> rootUses;
  if (usesOfRoot != uses.end())
    rootUses = usesOfRoot->second;
  // With `writesOnly`, only uses that write, here or further down, count.
  DenseSet<OpOperand *> forwardsToWritten;
  if (writesOnly)
    for (const MergeEdge &other : edges)
      if (merges.contains(other.target) &&
          writtenDownstream.contains(other.target))
        forwardsToWritten.insert(other.source);
  auto matters = [&](OpOperand *use) {
    if (!other && use != edge.source && rejoins(edge, use))
      return false;
    if (!writesOnly || forwardsToWritten.contains(use))
      return true;
    auto schemaOp = dyn_cast<TorchSchemaOpInterface>(use->getOwner());
    return schemaOp && schemaOp.isWritten(use->getOperandNumber());
  };

  Operation *owner = edge.source->getOwner();
  Operation *regionOp = owner;
  bool entersOrRepeats = isa<RegionBranchOpInterface>(owner);
  if (owner->hasTrait<OpTrait::IsTerminator>()) {
    regionOp = owner->getParentOp();
    entersOrRepeats = isa<LoopLikeOpInterface>(regionOp);
    // What the left region made cannot be named after it, except by a second
    // operand of the same terminator.
    if (regionOp->isAncestor(root.getParentRegion()->getParentOp()))
      return llvm::any_of(rootUses, [&](OpOperand *use) {
        return use->getOwner() == owner && use != edge.source && matters(use);
      });
  }

  auto argument = dyn_cast<BlockArgument>(root);
  if (argument && argument.getOwner()->getParentOp() == function &&
      !writesOnly && !other)
    return true;

  return llvm::any_of(rootUses, [&](OpOperand *use) {
    if (!matters(use))
      return false;
    // The edge itself is a later use where a loop takes it again.
    if (use->getOwner() == owner && use != edge.source)
      return true;
    return canRunAfter(regionOp, entersOrRepeats, use->getOwner(), root);
  });
}

void TensorAliasAnalysis::print(raw_ostream &os) const {
  AsmState state(function);
  auto printLocation = [&](Value value) {
    const TensorLocation *location = getLocation(value);
    if (!location)
      return;
    value.printAsOperand(os, state);
    os << " -> ";
    location->root.printAsOperand(os, state);
    for (Operation *view : location->path) {
      auto schemaOp = dyn_cast<TorchSchemaOpInterface>(view);
      os << " . "
         << (schemaOp ? schemaOp.getTorchName()
                      : view->getName().getStringRef());
    }
    if (location->root == value && merges.contains(value))
      os << " (merge)";
    if (location->root == value && isWritten(value))
      os << " (written)";
    os << "\n";
  };
  function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value result : op->getResults())
      printLocation(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          printLocation(argument);
  });
}
