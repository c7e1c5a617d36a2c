//===- Choices.cpp - the tensors that a merge can be ----------------------===//
//
// See the header. The alternatives of all choices are found together, by
// iteration until none is added and no fixed int turns into a carried one.
//
//===----------------------------------------------------------------------===//

#include "Choices.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace ssa_compiler;

/// A choice with more alternatives, or longer paths, is refused: it comes from
/// a loop that makes views of views without end.
static constexpr size_t kMaxAlternatives = 16;
static constexpr size_t kMaxPath = 16;

bool Choice::hasOwnStorage() const {
  return llvm::any_of(alternatives, [](const Alternative &alternative) {
    return !alternative.root;
  });
}

bool ssa_compiler::isDefinedOutside(Value value, Operation *regionOp) {
  return !regionOp->isAncestor(value.getParentRegion()->getParentOp()) &&
         value.getDefiningOp() != regionOp;
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

static ChoiceParam getParam(Value value) {
  auto list = value.getDefiningOp<torch::PrimListConstructOp>();
  if (!list)
    return {ChoiceParam::Kind::Fixed, value.getType(), value, 0, {}};
  ChoiceParam param{ChoiceParam::Kind::List, value.getType(), {}, 0, {}};
  for (Value element : list->getOperands())
    param.elements.push_back(getParam(element));
  return param;
}

ChoicePath ChoiceAnalysis::getPath(ArrayRef<Operation *> views) {
  ChoicePath path;
  for (Operation *view : views) {
    auto viewOp = cast<torch::TorchViewOpInterface>(view);
    ChoiceStep step;
    step.view = StringAttr::get(view->getContext(), viewOp.getViewName());
    step.schema = viewOp.getViewSchema();
    step.resultType = view->getResult(0).getType();
    for (Value param : viewOp.getParams())
      step.params.push_back(getParam(param));
    path.push_back(std::move(step));
  }
  return path;
}

static bool isConstant(Value value) {
  return matchPattern(value, m_Constant());
}

static bool isSameValue(Value first, Value second) {
  if (first == second)
    return true;
  Operation *firstOp = first.getDefiningOp();
  Operation *secondOp = second.getDefiningOp();
  return firstOp && secondOp && isConstant(first) && isConstant(second) &&
         firstOp->getName() == secondOp->getName() &&
         firstOp->getAttrDictionary() == secondOp->getAttrDictionary();
}

/// True if the params could belong to one alternative: they are equal, but for
/// ints, which can be carried.
static bool isUnifiable(const ChoiceParam &first, const ChoiceParam &second) {
  using Kind = ChoiceParam::Kind;
  if (first.type != second.type ||
      (first.kind == Kind::List) != (second.kind == Kind::List))
    return false;
  if (first.kind == Kind::List)
    return first.elements.size() == second.elements.size() &&
           llvm::all_of(
               llvm::zip_equal(first.elements, second.elements), [](auto pair) {
                 return isUnifiable(std::get<0>(pair), std::get<1>(pair));
               });
  if (isa<torch::IntType>(first.type))
    return true;
  return first.kind == Kind::Fixed && second.kind == Kind::Fixed &&
         isSameValue(first.value, second.value);
}

static bool isUnifiable(ArrayRef<ChoiceStep> first,
                        ArrayRef<ChoiceStep> second) {
  if (first.size() != second.size())
    return false;
  for (auto [a, b] : llvm::zip_equal(first, second)) {
    if (a.view != b.view || a.schema != b.schema ||
        a.resultType != b.resultType || a.params.size() != b.params.size())
      return false;
    for (auto [x, y] : llvm::zip_equal(a.params, b.params))
      if (!isUnifiable(x, y))
        return false;
  }
  return true;
}

std::optional<unsigned>
ChoiceAnalysis::findAlternative(const Choice &choice, Value root,
                                ArrayRef<ChoiceStep> path) {
  for (auto [index, alternative] : llvm::enumerate(choice.alternatives))
    if (alternative.root == root &&
        (!root || isUnifiable(alternative.path, path)))
      return index;
  return std::nullopt;
}

/// Makes `param` serve both; true if it changed.
static bool unify(ChoiceParam &param, const ChoiceParam &other) {
  bool changed = false;
  if (param.kind == ChoiceParam::Kind::List) {
    for (auto [element, otherElement] :
         llvm::zip_equal(param.elements, other.elements))
      changed |= unify(element, otherElement);
    return changed;
  }
  if (param.kind == ChoiceParam::Kind::Carried ||
      (other.kind == ChoiceParam::Kind::Fixed &&
       isSameValue(param.value, other.value)))
    return false;
  param.kind = ChoiceParam::Kind::Carried;
  param.value = {};
  return true;
}

/// Turns params that are not known outside of `regionOp` into carried ones.
/// Fails if one is not an int.
static LogicalResult carryInnerParams(MutableArrayRef<ChoiceParam> params,
                                      Operation *regionOp) {
  for (ChoiceParam &param : params) {
    if (param.kind == ChoiceParam::Kind::List) {
      if (failed(carryInnerParams(param.elements, regionOp)))
        return failure();
      continue;
    }
    if (param.kind == ChoiceParam::Kind::Carried || isConstant(param.value) ||
        isDefinedOutside(param.value, regionOp))
      continue;
    if (!isa<torch::IntType>(param.type))
      return failure();
    param.kind = ChoiceParam::Kind::Carried;
    param.value = {};
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

static bool isRegionEdge(const MergeEdge &edge) {
  return isa<RegionBranchOpInterface, RegionBranchTerminatorOpInterface>(
      edge.source->getOwner());
}

/// The merges that the choices draw in: those that a choice flows into, and
/// those into which a storage flows that a choice may be, where a write through
/// one of the two can be seen through the other one. As long as the choice was
/// a merge, their edges did not tell.
SmallVector<Value> ChoiceAnalysis::collectDrawnIn() const {
  // What each choice can be, through other choices too, and the reverse.
  DenseMap<Value, llvm::SetVector<Value>> storages;
  DenseMap<Value, SmallVector<Value, 2>> names;
  for (const auto &choice : choices) {
    llvm::SetVector<Value> reached;
    reached.insert(choice->members.front());
    for (size_t index = 0; index < reached.size(); ++index)
      if (const Choice *inner = lookup(reached[index]))
        for (const Alternative &alternative : inner->alternatives)
          if (alternative.root)
            reached.insert(alternative.root);
    for (Value storage : reached)
      if (storage != choice->members.front())
        llvm::append_range(names[storage], choice->members);
    for (Value member : choice->members)
      storages[member] = reached;
  }
  llvm::SetVector<Value> drawnIn;
  for (const MergeEdge &edge : aliases.getEdges()) {
    if (!aliases.isMerge(edge.target) || lookup(edge.target))
      continue;
    Value root = aliases.getLocation(edge.source->get())->root;
    auto conflicts = [&](Value storage) {
      return (storage != root && aliases.conflictsWith(edge, storage, {})) ||
             llvm::any_of(names.lookup(storage), [&](Value name) {
               return name != root &&
                      aliases.conflictsWith(edge, storage, name);
             });
    };
    auto it = storages.find(root);
    bool isDrawnIn =
        it == storages.end()
            ? conflicts(root)
            : isRegionEdge(edge) || llvm::any_of(it->second, conflicts);
    if (isDrawnIn)
      drawnIn.insert(edge.target);
  }
  return drawnIn.takeVector();
}

/// Groups the members by the operands that feed them.
void ChoiceAnalysis::groupMembers(ArrayRef<Value> members) {
  llvm::SmallPtrSet<Operation *, 8> seen;
  DenseSet<Value> isMember(members.begin(), members.end());
  for (Value member : members) {
    Operation *regionOp = isa<BlockArgument>(member)
                              ? member.getParentBlock()->getParentOp()
                              : member.getDefiningOp();
    if (!seen.insert(regionOp).second)
      continue;
    // Targets that have an operand in common belong together.
    llvm::MapVector<OpOperand *, SmallVector<Value>> targets;
    DenseMap<Value, SmallVector<OpOperand *>> sources;
    forEachRegionEdge(regionOp, [&](OpOperand &source, Value target) {
      targets[&source].push_back(target);
      sources[target].push_back(&source);
    });
    for (auto &[source, fed] : targets) {
      if (llvm::none_of(
              fed, [&](Value value) { return isMember.contains(value); }) ||
          llvm::any_of(fed,
                       [&](Value value) { return choiceOf.contains(value); }))
        continue;
      auto choice = std::make_unique<Choice>();
      choice->regionOp = regionOp;
      choice->members.assign(fed.begin(), fed.end());
      for (Value value : fed) {
        choiceOf[value] = choice.get();
        for (OpOperand *operand : sources[value])
          if (!llvm::is_contained(choice->sources, operand))
            choice->sources.push_back(operand);
      }
      choices.push_back(std::move(choice));
    }
  }
}

LogicalResult ChoiceAnalysis::addAlternative(Choice &choice, Value root,
                                             ChoicePath path, bool &changed) {
  if (!root)
    path.clear();
  for (ChoiceStep &step : path)
    if (failed(carryInnerParams(step.params, choice.regionOp)))
      return failure();
  std::optional<unsigned> index = findAlternative(choice, root, path);
  if (!index) {
    choice.alternatives.push_back({root, std::move(path)});
    changed = true;
    return success(choice.alternatives.size() <= kMaxAlternatives);
  }
  Alternative &alternative = choice.alternatives[*index];
  for (auto [step, other] : llvm::zip_equal(alternative.path, path))
    for (auto [param, otherParam] : llvm::zip_equal(step.params, other.params))
      changed |= unify(param, otherParam);
  return success();
}

LogicalResult ChoiceAnalysis::addAlternatives(Choice &choice, Value root,
                                              ChoicePath path, bool &changed) {
  if (path.size() > kMaxPath)
    return failure();
  // The choice itself, from the iteration before: nothing new, unless it is
  // looked at through one view more each time.
  if (llvm::is_contained(choice.members, root))
    return success(path.empty());
  if (isDefinedOutside(root, choice.regionOp))
    return addAlternative(choice, root, std::move(path), changed);
  // A choice that ends with the region hands on what it is.
  if (Choice *inner = lookup(root)) {
    SmallVector<Alternative, 2> alternatives(inner->alternatives);
    for (Alternative &alternative : alternatives) {
      ChoicePath whole = alternative.path;
      llvm::append_range(whole, path);
      LogicalResult added = alternative.root
                                ? addAlternatives(choice, alternative.root,
                                                  std::move(whole), changed)
                                : addAlternative(choice, {}, {}, changed);
      if (failed(added))
        return failure();
    }
    return success();
  }
  return addAlternative(choice, {}, {}, changed);
}

static void numberParams(MutableArrayRef<ChoiceParam> params, unsigned &next) {
  for (ChoiceParam &param : params) {
    if (param.kind == ChoiceParam::Kind::Carried)
      param.position = next++;
    numberParams(param.elements, next);
  }
}

void ChoiceAnalysis::numberCarried(Choice &choice) {
  for (Alternative &alternative : choice.alternatives)
    for (ChoiceStep &step : alternative.path)
      numberParams(step.params, choice.numCarried);
}

/// Collects the storages made in a region of `regionOp` that a tensor with this
/// root may be.
void ChoiceAnalysis::collectMoved(Value root, Operation *regionOp,
                                  llvm::SmallSetVector<Value, 4> &moved) const {
  if (isDefinedOutside(root, regionOp))
    return;
  Choice *choice = lookup(root);
  if (!choice) {
    moved.insert(root);
    return;
  }
  for (const Alternative &alternative : choice->alternatives)
    if (alternative.root)
      collectMoved(alternative.root, regionOp, moved);
    else
      moved.insert(root);
}

bool ChoiceAnalysis::movesOther(Value root, Operation *regionOp) const {
  llvm::SmallSetVector<Value, 4> moved;
  if (lookup(root))
    collectMoved(root, regionOp, moved);
  return llvm::any_of(moved, [&](Value storage) { return storage != root; });
}

/// A storage that a region made moves into one choice at most. Two names that
/// leave with it are found here if one of them is a choice: it hands on a copy,
/// so that the edges will no longer tell.
LogicalResult ChoiceAnalysis::checkMoves() const {
  llvm::MapVector<Operation *, SmallVector<MergeEdge>> byTerminator;
  for (const MergeEdge &edge : aliases.getEdges())
    if (aliases.isMerge(edge.target) &&
        edge.source->getOwner()->hasTrait<OpTrait::IsTerminator>())
      byTerminator[edge.source->getOwner()].push_back(edge);
  for (auto &[terminator, edges] : byTerminator) {
    Operation *regionOp = terminator->getParentOp();
    // The operand and whether a write can reach it, for each storage.
    DenseMap<Value, SmallVector<std::pair<OpOperand *, bool>>> leaving;
    DenseSet<OpOperand *> copied;
    for (const MergeEdge &edge : edges) {
      Value root = aliases.getLocation(edge.source->get())->root;
      if (movesOther(root, regionOp))
        copied.insert(edge.source);
      llvm::SmallSetVector<Value, 4> moved;
      collectMoved(root, regionOp, moved);
      for (Value storage : moved)
        leaving[storage].emplace_back(edge.source,
                                      aliases.isWrittenDownstream(edge.target));
    }
    if (copied.empty())
      continue;
    for (auto &[storage, names] : leaving) {
      OpOperand *first = names.front().first;
      bool hasTwo =
          llvm::any_of(names, [&](auto &name) { return name.first != first; });
      bool isCopied = llvm::any_of(
          names, [&](auto &name) { return copied.contains(name.first); });
      bool isWritten =
          llvm::any_of(names, [](auto &name) { return name.second; });
      if (hasTwo && isCopied && isWritten)
        return failure();
    }
  }
  return success();
}

LogicalResult ChoiceAnalysis::run() {
  llvm::SetVector<Value> members;
  for (const MergeEdge &edge : aliases.getConflicts())
    members.insert(edge.target);
  while (true) {
    if (failed(findChoices(members.getArrayRef())))
      return failure();
    SmallVector<Value> drawnIn = collectDrawnIn();
    if (drawnIn.empty())
      break;
    members.insert_range(drawnIn);
  }
  for (auto &choice : choices)
    numberCarried(*choice);
  return checkMoves();
}

/// Makes choices of the members, with their alternatives.
LogicalResult ChoiceAnalysis::findChoices(ArrayRef<Value> members) {
  choices.clear();
  choiceOf.clear();
  for (Value member : members) {
    Operation *op = isa<BlockArgument>(member)
                        ? member.getParentBlock()->getParentOp()
                        : member.getDefiningOp();
    // What may or may not be an alias has no tag to tell.
    if (!isa<RegionBranchOpInterface>(op))
      return failure();
  }
  groupMembers(members);
  bool changed = true;
  while (changed) {
    changed = false;
    for (auto &choice : choices)
      for (OpOperand *source : choice->sources) {
        const TensorLocation *location = aliases.getLocation(source->get());
        if (!location ||
            failed(addAlternatives(*choice, location->root,
                                   getPath(location->path), changed)))
          return failure();
      }
  }
  return success();
}
