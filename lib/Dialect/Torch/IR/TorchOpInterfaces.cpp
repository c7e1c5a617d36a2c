// Answers to alias and effect questions from an op's schema and the types of
// its operands and results. A value of an immutable type can neither be written
// nor share storage with anything that is.

#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"

using namespace mlir;
using namespace ssa_compiler::torch;

#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.cpp.inc"

bool ssa_compiler::torch::isWrittenOperand(Operation *op, const Schema *schema,
                                           unsigned index) {
  if (!isMutableType(op->getOperand(index).getType()))
    return false;
  if (!schema)
    return true;
  // What comes after the named arguments of a vararg op (print, format) is only
  // read.
  return index < schema->arguments.size() &&
         schema->arguments[index].alias.isWrite;
}

bool ssa_compiler::torch::mayAliasOperand(Operation *op, const Schema *schema,
                                          unsigned result, unsigned operand) {
  if (!isMutableType(op->getResult(result).getType()) ||
      !isMutableType(op->getOperand(operand).getType()))
    return false;
  if (!schema || result >= schema->returns.size() ||
      operand >= schema->arguments.size())
    return true;
  const AliasInfo &returned = schema->returns[result].alias;
  return returned.wildcard ||
         returned.mayAlias(schema->arguments[operand].alias);
}

bool ssa_compiler::torch::isNeverWrittenList(Value value) {
  if (!value.getDefiningOp<PrimListConstructOp>())
    return false;
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    auto user = dyn_cast<TorchSchemaOpInterface>(use.getOwner());
    if (!user || user.isWritten(use.getOperandNumber()))
      return false;
    for (unsigned result = 0, end = user->getNumResults(); result < end;
         ++result)
      if (user.mayAlias(result, use.getOperandNumber()))
        return false;
    return true;
  });
}

/// True if a value of this type refers to other values that can be written: a
/// list of mutable tensors.
static bool refersToMutable(Type type) {
  if (auto list = dyn_cast<ListType>(type))
    return isMutableType(list.getContainedType());
  if (auto dict = dyn_cast<DictType>(type))
    return isMutableType(dict.getKeyType()) ||
           isMutableType(dict.getValueType());
  return !isa<NonValueTensorType>(type);
}

using Effects = SmallVectorImpl<MemoryEffects::EffectInstance>;

/// The op reads operand `operand`, and writes it if `written`.
static void addOperandEffects(OpOperand &operand, bool written,
                              Effects &effects) {
  Type type = operand.get().getType();
  if (!isMutableType(type))
    return;
  // An effect on what a container refers to is on no value in sight.
  if (refersToMutable(type)) {
    effects.emplace_back(MemoryEffects::Read::get());
    if (written)
      effects.emplace_back(MemoryEffects::Write::get());
  }
  if (!written && isNeverWrittenList(operand.get()))
    return;
  effects.emplace_back(MemoryEffects::Read::get(), &operand);
  if (written)
    effects.emplace_back(MemoryEffects::Write::get(), &operand);
}

void ssa_compiler::torch::getSchemaEffects(Operation *op, const Schema *schema,
                                           Effects &effects) {
  if (!schema) {
    effects.emplace_back(MemoryEffects::Read::get());
    effects.emplace_back(MemoryEffects::Write::get());
    return;
  }
  for (OpOperand &operand : op->getOpOperands())
    addOperandEffects(operand,
                      isWrittenOperand(op, schema, operand.getOperandNumber()),
                      effects);
  for (OpResult result : op->getResults()) {
    unsigned index = result.getResultNumber();
    bool fresh =
        index < schema->returns.size() && !schema->returns[index].alias.present;
    if (fresh && isMutableType(result.getType()))
      effects.emplace_back(MemoryEffects::Allocate::get(), result);
  }
  // An op that returns nothing is there for what it does: it prints, raises,
  // warns or writes.
  bool forItsEffect = schema->returns.empty() && !schema->isVarret;
  if (schema->isRandom)
    effects.emplace_back(MemoryEffects::Read::get());
  if (schema->isRandom || forItsEffect)
    effects.emplace_back(MemoryEffects::Write::get());
}
