//===- ResolveChoices.cpp - tensors that are one of several ---------------===//
//
// Makes every choice (Choices.h) explicit: a tag says which alternative it is,
// reads select by the tag, and writes go to the alternative that the tag names.
// What is left are tensors with one location each, and merges that are
// snapshots.
//
//===----------------------------------------------------------------------===//

#include "ChoiceRoom.h"
#include "Choices.h"
#include "ResultMarks.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchBuilders.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"
#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversionDialect.h"
#include "ssa-compiler/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_TSSARESOLVECHOICESPASS
#include "ssa-compiler/Transforms/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

namespace {

//===----------------------------------------------------------------------===//
// Reads and writes
//===----------------------------------------------------------------------===//

class ChoiceResolver {
public:
  ChoiceResolver(func::FuncOp function, const TensorAliasAnalysis &aliases,
                 const ChoiceAnalysis &choices)
      : function(function), aliases(aliases), choices(choices),
        builder(function.getContext()) {}

  void run();

private:
  /// The run-time values beside a member of a choice. The tag is null if there
  /// is one alternative only.
  struct Extras {
    Value tag;
    SmallVector<Value> carried;
  };
  using BodyFn = function_ref<Value(Value tensor)>;

  void findExtras(const RegionChoices &choices, Operation *op);
  void fillEdge(const Choice &choice, OpOperand &source);
  Extras encode(const Choice &choice, Value root, ArrayRef<ChoiceStep> path,
                Location loc);
  Extras makeConstant(const Choice &choice, unsigned alternative, Location loc);
  void takeCarried(const ChoiceParam &pattern, const ChoiceParam &param,
                   Extras &extras, Location loc);
  ChoiceParam makeConcrete(const ChoiceParam &param, const Extras &extras,
                           Location loc);
  ChoicePath makeConcrete(ArrayRef<ChoiceStep> path, const Extras &extras,
                          Location loc);
  Value materialize(const ChoiceParam &param, Location loc);
  Value applyPath(Value tensor, ArrayRef<ChoiceStep> path, Location loc);
  Value forTensor(Value root, Type resultType, Location loc, BodyFn body);
  Value forAlternative(Value member, unsigned alternative, Type resultType,
                       Location loc, BodyFn body);
  Value read(Value tensor, Location loc);
  void store(Value tensor, Value contents, Location loc);
  void rewriteUses(Value tensor);
  Value clone(Value tensor, Location loc);

  func::FuncOp function;
  const TensorAliasAnalysis &aliases;
  const ChoiceAnalysis &choices;
  OpBuilder builder;
  DenseMap<Value, Extras> extrasOf;
};

/// The extras are the last values of the op and its blocks, in the order of the
/// choices.
void ChoiceResolver::findExtras(const RegionChoices &regionChoices,
                                Operation *op) {
  auto find = [&](ArrayRef<Choice *> fed) {
    unsigned fromEnd = countExtras(fed);
    for (Choice *choice : fed) {
      for (Value member : choice->members) {
        ValueRange all =
            isa<BlockArgument>(member)
                ? ValueRange(member.getParentBlock()->getArguments())
                : ValueRange(op->getResults());
        ValueRange own =
            all.slice(all.size() - fromEnd, choice->getNumExtras());
        Extras extras;
        if (choice->hasTag()) {
          extras.tag = own.front();
          own = own.drop_front();
        }
        extras.carried.assign(own.begin(), own.end());
        extrasOf[member] = std::move(extras);
      }
      fromEnd -= choice->getNumExtras();
    }
  };
  find(regionChoices.fedByOp);
  find(regionChoices.fedByCondition);
}

Value ChoiceResolver::clone(Value tensor, Location loc) {
  Value none = createNoneConstant(builder, loc);
  return createTorchOp(builder, loc, "torch.aten.clone", tensor.getType(),
                       {tensor, none})
      ->getResult(0);
}

/// The value of a param at the insertion point.
Value ChoiceResolver::materialize(const ChoiceParam &param, Location loc) {
  if (param.kind == ChoiceParam::Kind::List) {
    SmallVector<Value> elements;
    for (const ChoiceParam &element : param.elements)
      elements.push_back(materialize(element, loc));
    return PrimListConstructOp::create(builder, loc, param.type, elements);
  }
  assert(param.kind == ChoiceParam::Kind::Fixed && "expected a concrete param");
  if (matchPattern(param.value, m_Constant()))
    return builder.clone(*param.value.getDefiningOp())->getResult(0);
  return param.value;
}

/// Replaces carried ints by their values in `extras`.
ChoiceParam ChoiceResolver::makeConcrete(const ChoiceParam &param,
                                         const Extras &extras, Location loc) {
  ChoiceParam concrete = param;
  if (param.kind == ChoiceParam::Kind::Carried) {
    concrete.kind = ChoiceParam::Kind::Fixed;
    concrete.value = torch_c::FromI64Op::create(builder, loc,
                                                extras.carried[param.position]);
  }
  for (ChoiceParam &element : concrete.elements)
    element = makeConcrete(element, extras, loc);
  return concrete;
}

ChoicePath ChoiceResolver::makeConcrete(ArrayRef<ChoiceStep> path,
                                        const Extras &extras, Location loc) {
  ChoicePath concrete(path.begin(), path.end());
  for (ChoiceStep &step : concrete)
    for (ChoiceParam &param : step.params)
      param = makeConcrete(param, extras, loc);
  return concrete;
}

Value ChoiceResolver::applyPath(Value tensor, ArrayRef<ChoiceStep> path,
                                Location loc) {
  for (const ChoiceStep &step : path) {
    SmallVector<Value> operands{tensor};
    for (const ChoiceParam &param : step.params)
      operands.push_back(materialize(param, loc));
    tensor = createTorchOp(builder, loc, step.view, step.resultType, operands,
                           step.schema ? step.schema.getValue() : StringRef())
                 ->getResult(0);
  }
  return tensor;
}

/// Builds `body` for the tensor that `root` is: once if `root` is a storage,
/// else once for each alternative, under its tag. Returns the result of `body`,
/// of type `resultType`, or null if that is null.
Value ChoiceResolver::forTensor(Value root, Type resultType, Location loc,
                                BodyFn body) {
  if (!choices.lookup(root))
    return body(root);
  return forAlternative(root, 0, resultType, loc, body);
}

Value ChoiceResolver::forAlternative(Value member, unsigned alternative,
                                     Type resultType, Location loc,
                                     BodyFn body) {
  const Choice &choice = *choices.lookup(member);
  const Extras &extras = extrasOf[member];
  auto build = [&]() -> Value {
    const Alternative &chosen = choice.alternatives[alternative];
    if (!chosen.root)
      return body(member);
    return forTensor(chosen.root, resultType, loc, [&](Value tensor) {
      return body(
          applyPath(tensor, makeConcrete(chosen.path, extras, loc), loc));
    });
  };
  if (alternative + 1 == choice.alternatives.size())
    return build();
  Value index = arith::ConstantIntOp::create(builder, loc, alternative, 64);
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
    return forAlternative(member, alternative + 1, resultType, loc, body);
  });
  return resultType ? ifOp.getResult(0) : Value();
}

/// A fresh tensor with the contents of one whose root is a choice.
Value ChoiceResolver::read(Value tensor, Location loc) {
  const TensorLocation &location = *aliases.getLocation(tensor);
  ChoicePath path = ChoiceAnalysis::getPath(location.path);
  return forTensor(location.root, tensor.getType(), loc, [&](Value base) {
    return clone(applyPath(base, path, loc), loc);
  });
}

void ChoiceResolver::store(Value tensor, Value contents, Location loc) {
  const TensorLocation &location = *aliases.getLocation(tensor);
  ChoicePath path = ChoiceAnalysis::getPath(location.path);
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

ChoiceResolver::Extras ChoiceResolver::makeConstant(const Choice &choice,
                                                    unsigned alternative,
                                                    Location loc) {
  Extras extras;
  if (choice.hasTag())
    extras.tag = arith::ConstantIntOp::create(builder, loc, alternative, 64);
  for (unsigned index = 0; index < choice.numCarried; ++index)
    extras.carried.push_back(arith::ConstantIntOp::create(builder, loc, 0, 64));
  return extras;
}

/// Fills in the carried ints that the pattern of an alternative asks for.
void ChoiceResolver::takeCarried(const ChoiceParam &pattern,
                                 const ChoiceParam &param, Extras &extras,
                                 Location loc) {
  if (pattern.kind == ChoiceParam::Kind::Carried)
    extras.carried[pattern.position] =
        builder.createOrFold<torch_c::ToI64Op>(loc, materialize(param, loc));
  for (auto [element, value] : llvm::zip(pattern.elements, param.elements))
    takeCarried(element, value, extras, loc);
}

/// What the location `path` of `root` is for `choice`, at the insertion point.
ChoiceResolver::Extras ChoiceResolver::encode(const Choice &choice, Value root,
                                              ArrayRef<ChoiceStep> path,
                                              Location loc) {
  if (llvm::is_contained(choice.members, root))
    return extrasOf[root];
  Choice *inner = choices.lookup(root);
  if (isDefinedOutside(root, choice.regionOp) || !inner) {
    bool isOutside = isDefinedOutside(root, choice.regionOp);
    Value storage = isOutside ? root : Value();
    unsigned index = *ChoiceAnalysis::findAlternative(choice, storage, path);
    Extras extras = makeConstant(choice, index, loc);
    if (isOutside)
      for (auto [step, other] :
           llvm::zip_equal(choice.alternatives[index].path, path))
        for (auto [pattern, param] : llvm::zip_equal(step.params, other.params))
          takeCarried(pattern, param, extras, loc);
    return extras;
  }
  // An inner choice: each of its alternatives is one of ours.
  Extras innerExtras = extrasOf[root];
  Extras result;
  for (auto [index, alternative] : llvm::enumerate(inner->alternatives)) {
    Extras one;
    if (alternative.root) {
      ChoicePath whole = makeConcrete(alternative.path, innerExtras, loc);
      llvm::append_range(whole, path);
      one = encode(choice, alternative.root, whole, loc);
    } else {
      one = makeConstant(choice,
                         *ChoiceAnalysis::findAlternative(choice, {}, {}), loc);
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
    if (choice.hasTag())
      result.tag = select(one.tag, result.tag);
    for (auto [value, other] : llvm::zip_equal(result.carried, one.carried))
      value = select(other, value);
  }
  return result;
}

/// Sets the extras on one edge. The tensor itself is handed on if its storage
/// moves. A choice that may be a storage made in the region, not its own, hands
/// on a copy of what it is, as does what lives on outside, where no one but the
/// own-storage alternative looks at the copy.
void ChoiceResolver::fillEdge(const Choice &choice, OpOperand &source) {
  Operation *owner = source.getOwner();
  Location loc = owner->getLoc();
  builder.setInsertionPoint(owner);
  const TensorLocation &location = *aliases.getLocation(source.get());
  Extras extras = encode(choice, location.root,
                         ChoiceAnalysis::getPath(location.path), loc);
  // The position of the extras is that of the first member's.
  SmallVector<Value> values;
  if (extras.tag)
    values.push_back(extras.tag);
  llvm::append_range(values, extras.carried);
  const Extras &member = extrasOf[choice.members.front()];
  SmallVector<Value> slots;
  if (member.tag)
    slots.push_back(member.tag);
  llvm::append_range(slots, member.carried);
  DenseMap<Value, Value> valueOf;
  for (auto [slot, value] : llvm::zip_equal(slots, values))
    valueOf[slot] = value;
  forEachRegionEdge(choice.regionOp, [&](OpOperand &operand, Value target) {
    if (operand.getOwner() == owner)
      if (Value value = valueOf.lookup(target))
        operand.set(value);
  });
  if (isDefinedOutside(location.root, choice.regionOp) ||
      choices.movesOther(location.root, choice.regionOp))
    source.set(clone(source.get(), loc));
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

/// Replaces the uses of a tensor whose root is a choice: an op gets a copy of
/// the contents, and what it writes goes back.
void ChoiceResolver::rewriteUses(Value tensor) {
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

void ChoiceResolver::run() {
  ChoicesByOp byOp = sortByOp(choices);
  for (auto &[op, regionChoices] : byOp)
    findExtras(regionChoices, op);

  SmallVector<Value> tensors;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto add = [&](Value value) {
      const TensorLocation *location = aliases.getLocation(value);
      if (location && choices.lookup(location->root))
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
  markResults(function, aliases);
  for (const auto &choice : choices.getChoices())
    for (OpOperand *source : choice->sources)
      fillEdge(*choice, *source);
  for (Value tensor : tensors)
    rewriteUses(tensor);
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

/// A select of tensors is a branch that yields one of them.
void expandSelects(func::FuncOp function) {
  function.walk([](arith::SelectOp op) {
    if (!isa<NonValueTensorType>(op.getType()))
      return;
    OpBuilder builder(op);
    auto yield = [](Value value) {
      return [value](OpBuilder &builder, Location loc) {
        scf::YieldOp::create(builder, loc, value);
      };
    };
    auto ifOp =
        scf::IfOp::create(builder, op.getLoc(), op.getCondition(),
                          yield(op.getTrueValue()), yield(op.getFalseValue()));
    op.replaceAllUsesWith(ifOp.getResult(0));
    op.erase();
  });
}

/// A list is read where it is used: each use gets its own right before it.
void sinkLists(func::FuncOp function) {
  function.walk([](PrimListConstructOp op) {
    if (llvm::none_of(op->getOperandTypes(),
                      [](Type type) { return isa<NonValueTensorType>(type); }))
      return;
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      OpBuilder builder(use.getOwner());
      use.set(builder.clone(*op)->getResult(0));
    }
    op->erase();
  });
}

struct TSSAResolveChoices final
    : ssa_compiler::impl::TSSAResolveChoicesPassBase<TSSAResolveChoices> {
  using Base::Base;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return;
    if (TensorAliasAnalysis(function).getConflicts().empty())
      return;
    expandSelects(function);
    // A choice that cannot be described stays: the conversion refuses it.
    {
      TensorAliasAnalysis aliases(function);
      ChoiceAnalysis choices(aliases);
      if (failed(choices.run()))
        return;
    }
    sinkLists(function);
    {
      TensorAliasAnalysis aliases(function);
      ChoiceAnalysis choices(aliases);
      if (failed(choices.run()))
        return;
      IRRewriter rewriter(&getContext());
      for (auto &[op, regionChoices] : sortByOp(choices))
        if (failed(addRoom(rewriter, op, regionChoices))) {
          op->emitError() << "unsupported: '" << op->getName()
                          << "' yields one of several tensors";
          return signalPassFailure();
        }
    }
    // The same choices, now with room for their tags.
    TensorAliasAnalysis aliases(function);
    ChoiceAnalysis choices(aliases);
    if (failed(choices.run()))
      return signalPassFailure();
    ChoiceResolver(function, aliases, choices).run();
  }
};

} // namespace
