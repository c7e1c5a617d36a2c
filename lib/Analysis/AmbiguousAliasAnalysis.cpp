//===- AmbiguousAliasAnalysis.cpp - the tensors that a merge can be -------===//
//
// See the header. The candidates of all ambiguous aliases are found together,
// by iteration until none is added and no fixed int turns into a carried one.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Analysis/AmbiguousAliasAnalysis.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"
#include "ssa-compiler/Support/RegionEdges.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace ssa_compiler;

/// An ambiguous alias with more candidates, or longer paths, is rejected: it
/// comes from a loop that makes views of views without end.
static constexpr size_t kMaxCandidates = 16;
static constexpr size_t kMaxPath = 16;

bool AmbiguousAlias::hasOwnStorage() const {
  return llvm::any_of(candidates, [](const AliasCandidate &candidate) {
    return !candidate.root;
  });
}

bool ssa_compiler::isDefinedOutside(Value value, Operation *regionOp) {
  return !regionOp->isAncestor(value.getParentRegion()->getParentOp()) &&
         value.getDefiningOp() != regionOp;
}

//===----------------------------------------------------------------------===//
// Paths
//===----------------------------------------------------------------------===//

static CandidateParam getParam(Value value) {
  auto list = value.getDefiningOp<torch::PrimListConstructOp>();
  if (!list)
    return {CandidateParam::Kind::Fixed, value.getType(), value, 0, {}};
  CandidateParam param{CandidateParam::Kind::List, value.getType(), {}, 0, {}};
  for (Value element : list->getOperands())
    param.elements.push_back(getParam(element));
  return param;
}

CandidatePath AmbiguousAliasAnalysis::getPath(ArrayRef<Operation *> views) {
  CandidatePath path;
  for (Operation *view : views) {
    auto viewOp = cast<torch::TorchViewOpInterface>(view);
    CandidateStep step;
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

/// True if the params could belong to one candidate: they are equal, but for
/// ints, which can be carried.
static bool isUnifiable(const CandidateParam &first,
                        const CandidateParam &second) {
  using Kind = CandidateParam::Kind;
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

static bool isUnifiable(ArrayRef<CandidateStep> first,
                        ArrayRef<CandidateStep> second) {
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
AmbiguousAliasAnalysis::findCandidate(const AmbiguousAlias &alias, Value root,
                                      ArrayRef<CandidateStep> path) {
  for (auto [index, candidate] : llvm::enumerate(alias.candidates))
    if (candidate.root == root && (!root || isUnifiable(candidate.path, path)))
      return index;
  return std::nullopt;
}

/// Makes `param` serve both; true if it changed.
static bool unify(CandidateParam &param, const CandidateParam &other) {
  bool changed = false;
  if (param.kind == CandidateParam::Kind::List) {
    for (auto [element, otherElement] :
         llvm::zip_equal(param.elements, other.elements))
      changed |= unify(element, otherElement);
    return changed;
  }
  if (param.kind == CandidateParam::Kind::Carried ||
      (other.kind == CandidateParam::Kind::Fixed &&
       isSameValue(param.value, other.value)))
    return false;
  param.kind = CandidateParam::Kind::Carried;
  param.value = {};
  return true;
}

/// Turns params that are not known outside of `regionOp` into carried ones.
/// Fails if one is not an int.
static LogicalResult carryInnerParams(MutableArrayRef<CandidateParam> params,
                                      Operation *regionOp) {
  for (CandidateParam &param : params) {
    if (param.kind == CandidateParam::Kind::List) {
      if (failed(carryInnerParams(param.elements, regionOp)))
        return failure();
      continue;
    }
    if (param.kind == CandidateParam::Kind::Carried ||
        isConstant(param.value) || isDefinedOutside(param.value, regionOp))
      continue;
    if (!isa<torch::IntType>(param.type))
      return failure();
    param.kind = CandidateParam::Kind::Carried;
    param.value = {};
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ambiguous aliases
//===----------------------------------------------------------------------===//

static bool isRegionEdge(const MergeEdge &edge) {
  return isa<RegionBranchOpInterface, RegionBranchTerminatorOpInterface>(
      edge.source->getOwner());
}

/// The merges that the ambiguous aliases draw in: those that an ambiguous alias
/// flows into, and those into which a storage flows that an ambiguous alias may
/// be, where a write through one of the two can be seen through the other one.
/// As long as the ambiguous alias was a merge, their edges did not tell.
SmallVector<Value> AmbiguousAliasAnalysis::collectDrawnIn() const {
  // What each ambiguous alias can be, through other ambiguous aliases too, and
  // the reverse.
  DenseMap<Value, llvm::SetVector<Value>> storages;
  DenseMap<Value, SmallVector<Value, 2>> names;
  for (const auto &alias : ambiguous) {
    llvm::SetVector<Value> reached;
    reached.insert(alias->members.front());
    for (size_t index = 0; index < reached.size(); ++index)
      if (const AmbiguousAlias *inner = lookup(reached[index]))
        for (const AliasCandidate &candidate : inner->candidates)
          if (candidate.root)
            reached.insert(candidate.root);
    for (Value storage : reached)
      if (storage != alias->members.front())
        llvm::append_range(names[storage], alias->members);
    for (Value member : alias->members)
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
void AmbiguousAliasAnalysis::groupMembers(ArrayRef<Value> members) {
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
                       [&](Value value) { return aliasOf.contains(value); }))
        continue;
      auto alias = std::make_unique<AmbiguousAlias>();
      alias->regionOp = regionOp;
      alias->members.assign(fed.begin(), fed.end());
      for (Value value : fed) {
        aliasOf[value] = alias.get();
        for (OpOperand *operand : sources[value])
          if (!llvm::is_contained(alias->sources, operand))
            alias->sources.push_back(operand);
      }
      ambiguous.push_back(std::move(alias));
    }
  }
}

LogicalResult AmbiguousAliasAnalysis::addCandidate(AmbiguousAlias &alias,
                                                   Value root,
                                                   CandidatePath path,
                                                   bool &changed) {
  if (!root)
    path.clear();
  for (CandidateStep &step : path)
    if (failed(carryInnerParams(step.params, alias.regionOp)))
      return failure();
  std::optional<unsigned> index = findCandidate(alias, root, path);
  if (!index) {
    alias.candidates.push_back({root, std::move(path)});
    changed = true;
    return success(alias.candidates.size() <= kMaxCandidates);
  }
  AliasCandidate &candidate = alias.candidates[*index];
  for (auto [step, other] : llvm::zip_equal(candidate.path, path))
    for (auto [param, otherParam] : llvm::zip_equal(step.params, other.params))
      changed |= unify(param, otherParam);
  return success();
}

LogicalResult AmbiguousAliasAnalysis::addCandidates(AmbiguousAlias &alias,
                                                    Value root,
                                                    CandidatePath path,
                                                    bool &changed) {
  if (path.size() > kMaxPath)
    return failure();
  // The ambiguous alias itself, from the iteration before: nothing new, unless
  // it is looked at through one view more each time.
  if (llvm::is_contained(alias.members, root))
    return success(path.empty());
  if (isDefinedOutside(root, alias.regionOp))
    return addCandidate(alias, root, std::move(path), changed);
  // An ambiguous alias that ends with the region forwards what it is.
  if (AmbiguousAlias *inner = lookup(root)) {
    SmallVector<AliasCandidate, 2> candidates(inner->candidates);
    for (AliasCandidate &candidate : candidates) {
      CandidatePath whole = candidate.path;
      llvm::append_range(whole, path);
      LogicalResult added =
          candidate.root
              ? addCandidates(alias, candidate.root, std::move(whole), changed)
              : addCandidate(alias, {}, {}, changed);
      if (failed(added))
        return failure();
    }
    return success();
  }
  return addCandidate(alias, {}, {}, changed);
}

static void numberParams(MutableArrayRef<CandidateParam> params,
                         unsigned &next) {
  for (CandidateParam &param : params) {
    if (param.kind == CandidateParam::Kind::Carried)
      param.position = next++;
    numberParams(param.elements, next);
  }
}

void AmbiguousAliasAnalysis::numberCarried(AmbiguousAlias &alias) {
  for (AliasCandidate &candidate : alias.candidates)
    for (CandidateStep &step : candidate.path)
      numberParams(step.params, alias.numCarried);
}

/// Collects the storages made in a region of `regionOp` that a tensor with this
/// root may be.
void AmbiguousAliasAnalysis::collectMoved(
    Value root, Operation *regionOp,
    llvm::SmallSetVector<Value, 4> &moved) const {
  if (isDefinedOutside(root, regionOp))
    return;
  AmbiguousAlias *alias = lookup(root);
  if (!alias) {
    moved.insert(root);
    return;
  }
  for (const AliasCandidate &candidate : alias->candidates)
    if (candidate.root)
      collectMoved(candidate.root, regionOp, moved);
    else
      moved.insert(root);
}

bool AmbiguousAliasAnalysis::movesOther(Value root, Operation *regionOp) const {
  llvm::SmallSetVector<Value, 4> moved;
  if (lookup(root))
    collectMoved(root, regionOp, moved);
  return llvm::any_of(moved, [&](Value storage) { return storage != root; });
}

/// A storage that a region made moves into one ambiguous alias at most. Two
/// names that leave with it are found here if one of them is an ambiguous
/// alias: it forwards a copy, so that the edges will no longer tell.
LogicalResult AmbiguousAliasAnalysis::checkMoves() const {
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

LogicalResult AmbiguousAliasAnalysis::run() {
  llvm::SetVector<Value> members;
  for (const MergeEdge &edge : aliases.getConflicts())
    members.insert(edge.target);
  while (true) {
    if (failed(findAmbiguousAliases(members.getArrayRef())))
      return failure();
    SmallVector<Value> drawnIn = collectDrawnIn();
    if (drawnIn.empty())
      break;
    members.insert_range(drawnIn);
  }
  for (auto &alias : ambiguous)
    numberCarried(*alias);
  return checkMoves();
}

/// Makes ambiguous aliases of the members, with their candidates.
LogicalResult
AmbiguousAliasAnalysis::findAmbiguousAliases(ArrayRef<Value> members) {
  ambiguous.clear();
  aliasOf.clear();
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
    for (auto &alias : ambiguous)
      for (OpOperand *source : alias->sources) {
        const TensorLocation *location = aliases.getLocation(source->get());
        if (!location ||
            failed(addCandidates(*alias, location->root,
                                 getPath(location->path), changed)))
          return failure();
      }
  }
  return success();
}
