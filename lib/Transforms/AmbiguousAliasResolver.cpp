//===- AmbiguousAliasResolver.cpp - candidates by their tags --------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "AmbiguousAliasResolver.h"
#include "ResultAnnotations.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchBuilders.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"
#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversionDialect.h"
#include "ssa-compiler/Support/RegionEdges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

//===----------------------------------------------------------------------===//
// Reads and writes
//===----------------------------------------------------------------------===//

/// The extras are the last values of the op and its blocks, in the order of the
/// ambiguous aliases.
void AmbiguousAliasResolver::findExtras(const RegionAliases &regionAliases,
                                        Operation *op) {
  auto find = [&](ArrayRef<AmbiguousAlias *> fed) {
    unsigned fromEnd = countExtras(fed);
    for (AmbiguousAlias *alias : fed) {
      for (Value member : alias->members) {
        ValueRange all =
            isa<BlockArgument>(member)
                ? ValueRange(member.getParentBlock()->getArguments())
                : ValueRange(op->getResults());
        ValueRange own = all.slice(all.size() - fromEnd, alias->getNumExtras());
        Extras extras;
        if (alias->hasTag()) {
          extras.tag = own.front();
          own = own.drop_front();
        }
        extras.carried.assign(own.begin(), own.end());
        extrasOf[member] = std::move(extras);
      }
      fromEnd -= alias->getNumExtras();
    }
  };
  find(regionAliases.fedByOp);
  find(regionAliases.fedByCondition);
}

Value AmbiguousAliasResolver::clone(Value tensor, Location loc) {
  Value none = createNoneConstant(builder, loc);
  return createTorchOp(builder, loc, "torch.aten.clone", tensor.getType(),
                       {tensor, none})
      ->getResult(0);
}

/// The value of a param at the insertion point.
Value AmbiguousAliasResolver::materialize(const CandidateParam &param,
                                          Location loc) {
  if (param.kind == CandidateParam::Kind::List) {
    SmallVector<Value> elements;
    for (const CandidateParam &element : param.elements)
      elements.push_back(materialize(element, loc));
    return PrimListConstructOp::create(builder, loc, param.type, elements);
  }
  assert(param.kind == CandidateParam::Kind::Fixed &&
         "expected a concrete param");
  if (matchPattern(param.value, m_Constant()))
    return builder.clone(*param.value.getDefiningOp())->getResult(0);
  return param.value;
}

/// Replaces carried ints by their values in `extras`.
CandidateParam AmbiguousAliasResolver::makeConcrete(const CandidateParam &param,
                                                    const Extras &extras,
                                                    Location loc) {
  CandidateParam concrete = param;
  if (param.kind == CandidateParam::Kind::Carried) {
    concrete.kind = CandidateParam::Kind::Fixed;
    concrete.value = torch_c::FromI64Op::create(builder, loc,
                                                extras.carried[param.position]);
  }
  for (CandidateParam &element : concrete.elements)
    element = makeConcrete(element, extras, loc);
  return concrete;
}

CandidatePath AmbiguousAliasResolver::makeConcrete(ArrayRef<CandidateStep> path,
                                                   const Extras &extras,
                                                   Location loc) {
  CandidatePath concrete(path.begin(), path.end());
  for (CandidateStep &step : concrete)
    for (CandidateParam &param : step.params)
      param = makeConcrete(param, extras, loc);
  return concrete;
}

Value AmbiguousAliasResolver::applyPath(Value tensor,
                                        ArrayRef<CandidateStep> path,
                                        Location loc) {
  for (const CandidateStep &step : path) {
    SmallVector<Value> operands{tensor};
    for (const CandidateParam &param : step.params)
      operands.push_back(materialize(param, loc));
    tensor = createTorchOp(builder, loc, step.view, step.resultType, operands,
                           step.schema ? step.schema.getValue() : StringRef())
                 ->getResult(0);
  }
  return tensor;
}

/// Builds `body` for the tensor that `root` is: once if `root` is a storage,
/// else once for each candidate, under its tag. Returns the result of `body`,
/// of type `resultType`, or null if that is null.
Value AmbiguousAliasResolver::forTensor(Value root, Type resultType,
                                        Location loc, BodyFn body) {
  if (!ambiguous.lookup(root))
    return body(root);
  return forCandidate(root, 0, resultType, loc, body);
}

Value AmbiguousAliasResolver::forCandidate(Value member, unsigned candidate,
                                           Type resultType, Location loc,
                                           BodyFn body) {
  const AmbiguousAlias &alias = *ambiguous.lookup(member);
  const Extras &extras = extrasOf[member];
  auto build = [&]() -> Value {
    const AliasCandidate &chosen = alias.candidates[candidate];
    if (!chosen.root)
      return body(member);
    return forTensor(chosen.root, resultType, loc, [&](Value tensor) {
      return body(
          applyPath(tensor, makeConcrete(chosen.path, extras, loc), loc));
    });
  };
  if (candidate + 1 == alias.candidates.size())
    return build();
  Value index = arith::ConstantIntOp::create(builder, loc, candidate, 64);
  Value isChosen = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         extras.tag, index);
  SmallVector<Type> types;
  if (resultType)
    types.push_back(resultType);
  auto ifOp = scf::IfOp::create(builder, loc, types, isChosen,
                                /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  auto buildBlock = [&](Block *block, function_ref<Value()> contents) {
    if (!block->empty())
      block->getTerminator()->erase();
    builder.setInsertionPointToEnd(block);
    Value result = contents();
    scf::YieldOp::create(builder, loc,
                         resultType ? ValueRange(result) : ValueRange());
  };
  buildBlock(ifOp.thenBlock(), build);
  buildBlock(ifOp.elseBlock(), [&] {
    return forCandidate(member, candidate + 1, resultType, loc, body);
  });
  return resultType ? ifOp.getResult(0) : Value();
}

/// A fresh tensor with the contents of one whose root is an ambiguous alias.
Value AmbiguousAliasResolver::read(Value tensor, Location loc) {
  const TensorLocation &location = *aliases.getLocation(tensor);
  CandidatePath path = AmbiguousAliasAnalysis::getPath(location.path);
  return forTensor(location.root, tensor.getType(), loc, [&](Value base) {
    return clone(applyPath(base, path, loc), loc);
  });
}

void AmbiguousAliasResolver::store(Value tensor, Value contents, Location loc) {
  const TensorLocation &location = *aliases.getLocation(tensor);
  CandidatePath path = AmbiguousAliasAnalysis::getPath(location.path);
  forTensor(location.root, Type(), loc, [&](Value base) {
    Value target = applyPath(base, path, loc);
    Value blocking = ConstantBoolOp::create(builder, loc,
                                            BoolType::get(builder.getContext()),
                                            builder.getBoolAttr(false));
    createTorchOp(builder, loc, "torch.aten.copy_", target.getType(),
                  {target, contents, blocking});
    return Value();
  });
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

AmbiguousAliasResolver::Extras
AmbiguousAliasResolver::makeConstant(const AmbiguousAlias &alias,
                                     unsigned candidate, Location loc) {
  Extras extras;
  if (alias.hasTag())
    extras.tag = arith::ConstantIntOp::create(builder, loc, candidate, 64);
  for (unsigned index = 0; index < alias.numCarried; ++index)
    extras.carried.push_back(arith::ConstantIntOp::create(builder, loc, 0, 64));
  return extras;
}

/// Fills in the carried ints that the pattern of a candidate asks for.
void AmbiguousAliasResolver::takeCarried(const CandidateParam &pattern,
                                         const CandidateParam &param,
                                         Extras &extras, Location loc) {
  if (pattern.kind == CandidateParam::Kind::Carried)
    extras.carried[pattern.position] =
        builder.createOrFold<torch_c::ToI64Op>(loc, materialize(param, loc));
  for (auto [element, value] : llvm::zip(pattern.elements, param.elements))
    takeCarried(element, value, extras, loc);
}

/// What the location `path` of `root` is for `alias`, at the insertion point.
AmbiguousAliasResolver::Extras
AmbiguousAliasResolver::encode(const AmbiguousAlias &alias, Value root,
                               ArrayRef<CandidateStep> path, Location loc) {
  if (llvm::is_contained(alias.members, root))
    return extrasOf[root];
  AmbiguousAlias *inner = ambiguous.lookup(root);
  if (isDefinedOutside(root, alias.regionOp) || !inner) {
    bool isOutside = isDefinedOutside(root, alias.regionOp);
    Value storage = isOutside ? root : Value();
    unsigned index =
        *AmbiguousAliasAnalysis::findCandidate(alias, storage, path);
    Extras extras = makeConstant(alias, index, loc);
    if (isOutside)
      for (auto [step, other] :
           llvm::zip_equal(alias.candidates[index].path, path))
        for (auto [pattern, param] : llvm::zip_equal(step.params, other.params))
          takeCarried(pattern, param, extras, loc);
    return extras;
  }
  // An inner ambiguous alias: each of its candidates is one of ours.
  Extras innerExtras = extrasOf[root];
  Extras result;
  for (auto [index, candidate] : llvm::enumerate(inner->candidates)) {
    Extras one;
    if (candidate.root) {
      CandidatePath whole = makeConcrete(candidate.path, innerExtras, loc);
      llvm::append_range(whole, path);
      one = encode(alias, candidate.root, whole, loc);
    } else {
      one = makeConstant(
          alias, *AmbiguousAliasAnalysis::findCandidate(alias, {}, {}), loc);
    }
    if (index == 0) {
      result = std::move(one);
      continue;
    }
    Value number = arith::ConstantIntOp::create(builder, loc, index, 64);
    Value isThis = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         innerExtras.tag, number);
    auto select = [&](Value yes, Value no) -> Value {
      return arith::SelectOp::create(builder, loc, isThis, yes, no);
    };
    if (alias.hasTag())
      result.tag = select(one.tag, result.tag);
    for (auto [value, other] : llvm::zip_equal(result.carried, one.carried))
      value = select(other, value);
  }
  return result;
}

/// Sets the extras on one edge. The tensor itself is forwarded if its storage
/// moves. An ambiguous alias that may be a storage made in the region, not its
/// own, forwards a copy of what it is, as does what lives on outside, where no
/// one but the own-storage candidate looks at the copy.
void AmbiguousAliasResolver::fillEdge(const AmbiguousAlias &alias,
                                      OpOperand &source) {
  Operation *owner = source.getOwner();
  Location loc = owner->getLoc();
  builder.setInsertionPoint(owner);
  const TensorLocation &location = *aliases.getLocation(source.get());
  Extras extras = encode(alias, location.root,
                         AmbiguousAliasAnalysis::getPath(location.path), loc);
  // The position of the extras is that of the first member's.
  SmallVector<Value> values;
  if (extras.tag)
    values.push_back(extras.tag);
  llvm::append_range(values, extras.carried);
  const Extras &member = extrasOf[alias.members.front()];
  SmallVector<Value> slots;
  if (member.tag)
    slots.push_back(member.tag);
  llvm::append_range(slots, member.carried);
  DenseMap<Value, Value> valueOf;
  for (auto [slot, value] : llvm::zip_equal(slots, values))
    valueOf[slot] = value;
  forEachRegionEdge(alias.regionOp, [&](OpOperand &operand, Value target) {
    if (operand.getOwner() == owner)
      if (Value value = valueOf.lookup(target))
        operand.set(value);
  });
  if (isDefinedOutside(location.root, alias.regionOp) ||
      ambiguous.movesOther(location.root, alias.regionOp))
    source.set(clone(source.get(), loc));
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

/// Replaces the uses of a tensor whose root is an ambiguous alias: an op gets a
/// copy of the contents, and what it writes goes back.
void AmbiguousAliasResolver::rewriteUses(Value tensor) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : tensor.getUses())
    uses.push_back(&use);
  for (OpOperand *use : llvm::reverse(uses)) {
    Operation *owner = use->getOwner();
    if (isa<TorchViewOpInterface>(owner) && use->getOperandNumber() == 0)
      continue;
    if (isa<RegionBranchOpInterface>(owner) ||
        isa<RegionBranchTerminatorOpInterface>(owner))
      if (!isa<func::ReturnOp>(owner))
        continue;
    builder.setInsertionPoint(owner);
    bool writes = llvm::is_contained(aliases.getWrittenOperands(owner),
                                     use->getOperandNumber());
    Value contents = read(tensor, owner->getLoc());
    use->set(contents);
    if (writes) {
      builder.setInsertionPointAfter(owner);
      store(tensor, contents, owner->getLoc());
    }
  }
}

void AmbiguousAliasResolver::run() {
  AliasesByOp byOp = sortByOp(ambiguous);
  for (auto &[op, regionAliases] : byOp)
    findExtras(regionAliases, op);

  SmallVector<Value> tensors;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto add = [&](Value value) {
      const TensorLocation *location = aliases.getLocation(value);
      if (location && ambiguous.lookup(location->root))
        tensors.push_back(value);
    };
    for (Value result : op->getResults())
      add(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          add(argument);
  });

  // While the edges still tell.
  annotateResults(function, aliases);
  for (const auto &alias : ambiguous.getAmbiguousAliases())
    for (OpOperand *source : alias->sources)
      fillEdge(*alias, *source);
  for (Value tensor : tensors)
    rewriteUses(tensor);
}
