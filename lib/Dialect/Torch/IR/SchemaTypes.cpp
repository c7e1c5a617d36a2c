// Which types of the torch dialect a PyTorch schema type stands for, and the
// verifier made of that.

#include "SchemaTable.h"

#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace ssa_compiler::torch {

using TypePredicate = bool (*)(Type);

/// The types that a schema type without `?` and `[]` stands for. What is not
/// listed is a type variable (`t`, `key`) or a class that the dialect does not
/// distinguish: any torch type.
static TypePredicate getAtomPredicate(StringRef atom) {
  if (atom.starts_with("("))
    return [](Type type) { return isa<TupleType>(type); };
  if (atom.starts_with("Dict("))
    return [](Type type) { return isa<DictType>(type); };
  if (atom.starts_with("__torch__.torch.classes.quantized.Linear"))
    return [](Type type) { return isa<LinearParamsType>(type); };
  return llvm::StringSwitch<TypePredicate>(atom)
      .Case("Tensor", [](Type type) { return isa<BaseTensorType>(type); })
      .Cases(
          {"int", "SymInt", "ScalarType", "Layout", "MemoryFormat", "QScheme"},
          [](Type type) { return isa<IntType>(type); })
      .Case("float", [](Type type) { return isa<FloatType>(type); })
      .Cases({"bool", "SymBool"}, [](Type type) { return isa<BoolType>(type); })
      .Cases(
          {"Scalar", "number"},
          [](Type type) { return isa<NumberType, IntType, FloatType>(type); })
      .Case("str", [](Type type) { return isa<StringType>(type); })
      .Case("Device", [](Type type) { return isa<DeviceType>(type); })
      // The importer has ints for the caller's generators.
      .Case("Generator",
            [](Type type) { return isa<GeneratorType, IntType>(type); })
      .Default(isTorchValueType);
}

bool isAccepted(StringRef schemaType, Type type) {
  if (schemaType.consume_back("?"))
    return isa<NoneType, OptionalType>(type) || isAccepted(schemaType, type);
  if (schemaType.ends_with("]")) {
    auto list = dyn_cast<ListType>(type);
    return list && isAccepted(schemaType.take_front(schemaType.rfind('[')),
                              list.getContainedType());
  }
  return getAtomPredicate(schemaType)(type);
}

static LogicalResult verifyOperand(Operation *op, unsigned index,
                                   const Argument &argument) {
  Type type = op->getOperand(index).getType();
  if (!isAccepted(argument.type, type))
    return op->emitOpError()
           << "operand #" << index << " ('" << argument.name << "') must be "
           << argument.type << ", but got " << type;
  if (argument.alias.isWrite && isa<ValueTensorType>(type))
    return op->emitOpError()
           << "operand #" << index << " ('" << argument.name
           << "') is written and must be !torch.tensor, but got " << type;
  return success();
}

static LogicalResult verifyResult(Operation *op, unsigned index,
                                  const Argument &result) {
  Type type = op->getResult(index).getType();
  // As in torch-mlir, a tensor result may also be an optional tensor.
  bool accepted = isAccepted(result.type, type) ||
                  (StringRef(result.type).starts_with("Tensor") &&
                   isa<OptionalType, NoneType>(type));
  if (!accepted)
    return op->emitOpError() << "result #" << index << " must be "
                             << result.type << ", but got " << type;
  return success();
}

/// A result that is an operand that the op writes has that operand's dtype.
static LogicalResult verifyWrittenDtype(Operation *op, unsigned index,
                                        const Schema &schema) {
  const AliasInfo &alias = schema.returns[index].alias;
  auto result = dyn_cast<BaseTensorType>(op->getResult(index).getType());
  if (!result || !alias.isWrite)
    return success();
  for (auto [number, argument] : llvm::enumerate(schema.arguments)) {
    if (number >= op->getNumOperands() || !argument.alias.isWrite ||
        !alias.mayAlias(argument.alias))
      continue;
    auto written = dyn_cast<BaseTensorType>(op->getOperand(number).getType());
    if (written && written.getOptionalDtype() && result.getOptionalDtype() &&
        written.getOptionalDtype() != result.getOptionalDtype())
      return op->emitOpError()
             << "result #" << index << " is operand #" << number
             << ", which is written, but has another dtype";
  }
  return success();
}

LogicalResult verifyAgainstSchema(Operation *op, const Schema &schema) {
  unsigned arguments = schema.arguments.size();
  if (!schema.isVararg && op->getNumOperands() != arguments)
    return op->emitOpError() << "expected " << arguments
                             << " operands, but got " << op->getNumOperands();
  unsigned returns = schema.returns.size();
  if (!schema.isVarret && op->getNumResults() != returns)
    return op->emitOpError() << "expected " << returns << " results, but got "
                             << op->getNumResults();
  for (unsigned index = 0, end = op->getNumOperands(); index < end; ++index) {
    if (index < arguments) {
      if (failed(verifyOperand(op, index, schema.arguments[index])))
        return failure();
    } else if (Type type = op->getOperand(index).getType();
               !isTorchValueType(type)) {
      return op->emitOpError() << "operand #" << index
                               << " must be a torch type, but got " << type;
    }
  }
  for (unsigned index = 0, end = op->getNumResults(); index < end; ++index) {
    if (index < returns) {
      if (failed(verifyResult(op, index, schema.returns[index])) ||
          failed(verifyWrittenDtype(op, index, schema)))
        return failure();
    } else if (Type type = op->getResult(index).getType();
               !isTorchValueType(type)) {
      return op->emitOpError() << "result #" << index
                               << " must be a torch type, but got " << type;
    }
  }
  return success();
}

} // namespace ssa_compiler::torch
