//===- TorchTypeRelations.cpp - subtypes, and what can be written ---------===//
//
// The questions about types of the torch dialect that ops and passes ask.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h"

using namespace mlir;
using namespace ssa_compiler;
using namespace ssa_compiler::torch;

bool torch::isTorchValueType(Type type) {
  return isa<BaseTensorType, AnyType, BoolType, DictType, DeviceType, FloatType,
             GeneratorType, IntType, ListType, LinearParamsType, NumberType,
             NnModuleType, NoneType, OptionalType, StringType, TupleType,
             UnionType>(type);
}

/// True if a tensor of type `subtype` is one of type `type`: same semantics,
/// and what `type` says `subtype` says as well.
static bool isTensorSubtype(BaseTensorType subtype, BaseTensorType type) {
  if (subtype.hasValueSemantics() != type.hasValueSemantics())
    return false;
  if (type.hasDtype() && subtype.getOptionalDtype() != type.getDtype())
    return false;
  if (!type.hasSizes())
    return true;
  if (!subtype.hasSizes() ||
      subtype.getSizes().size() != type.getSizes().size())
    return false;
  return llvm::all_of(llvm::zip_equal(subtype.getSizes(), type.getSizes()),
                      [](auto sizes) {
                        auto [subsize, size] = sizes;
                        return size == kUnknownSize || size == subsize;
                      });
}

bool torch::isValidSubtype(Type subtype, Type type) {
  if (subtype == type || isa<AnyType>(type))
    return true;
  if (isa<NumberType>(type))
    return isa<IntType, FloatType>(subtype);
  if (auto optional = dyn_cast<OptionalType>(type)) {
    if (isa<NoneType>(subtype))
      return true;
    if (auto other = dyn_cast<OptionalType>(subtype))
      return isValidSubtype(other.getContainedType(),
                            optional.getContainedType());
    return isValidSubtype(subtype, optional.getContainedType());
  }
  if (auto unionType = dyn_cast<UnionType>(type)) {
    auto isMember = [&](Type member) {
      return llvm::any_of(unionType.getContainedTypes(), [&](Type other) {
        return isValidSubtype(member, other);
      });
    };
    if (auto other = dyn_cast<UnionType>(subtype))
      return llvm::all_of(other.getContainedTypes(), isMember);
    return isMember(subtype);
  }
  if (auto tuple = dyn_cast<TupleType>(type)) {
    auto other = dyn_cast<TupleType>(subtype);
    return other &&
           other.getContainedTypes().size() ==
               tuple.getContainedTypes().size() &&
           llvm::all_of(llvm::zip_equal(other.getContainedTypes(),
                                        tuple.getContainedTypes()),
                        [](auto pair) {
                          return isValidSubtype(std::get<0>(pair),
                                                std::get<1>(pair));
                        });
  }
  auto tensor = dyn_cast<BaseTensorType>(type);
  auto other = dyn_cast<BaseTensorType>(subtype);
  return tensor && other && isTensorSubtype(other, tensor);
}

bool torch::isMutableType(Type type) {
  if (isa<NonValueTensorType, ListType, DictType, NnModuleType, AnyType,
          GeneratorType, LinearParamsType>(type))
    return true;
  if (auto optional = dyn_cast<OptionalType>(type))
    return isMutableType(optional.getContainedType());
  if (auto tuple = dyn_cast<TupleType>(type))
    return llvm::any_of(tuple.getContainedTypes(), isMutableType);
  if (auto unionType = dyn_cast<UnionType>(type))
    return llvm::any_of(unionType.getContainedTypes(), isMutableType);
  return false;
}
