// C++ types of the torch dialect. BaseTensorType is what `!torch.tensor` and
// `!torch.vtensor` have in common.

#ifndef SSA_COMPILER_DIALECT_TORCH_IR_TORCHTYPES_H
#define SSA_COMPILER_DIALECT_TORCH_IR_TORCHTYPES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Types.h"

#include <optional>

namespace ssa_compiler::torch {

/// A dynamic size in the sizes of a tensor type. The same as in builtin tensor
/// types.
inline constexpr int64_t kUnknownSize = mlir::ShapedType::kDynamic;

class NonValueTensorType;
class ValueTensorType;

/// Either tensor type: optional sizes and an optional dtype.
class BaseTensorType : public mlir::Type {
public:
  using Type::Type;

  static bool classof(mlir::Type type);

  /// True if the number of dimensions is known.
  bool hasSizes() const { return getOptionalSizes().has_value(); }
  /// The sizes, kUnknownSize where one is unknown. Requires hasSizes().
  llvm::ArrayRef<int64_t> getSizes() const {
    assert(hasSizes() && "sizes are unknown");
    return *getOptionalSizes();
  }
  /// The sizes, or nullopt if the number of dimensions is unknown.
  std::optional<llvm::ArrayRef<int64_t>> getOptionalSizes() const;
  /// True if the number of dimensions and every size are known.
  bool areAllSizesKnown() const {
    return hasSizes() && llvm::none_of(getSizes(), [](int64_t size) {
             return size == kUnknownSize;
           });
  }

  bool hasDtype() const { return static_cast<bool>(getOptionalDtype()); }
  /// The element type. Requires hasDtype().
  mlir::Type getDtype() const {
    assert(hasDtype() && "dtype is unknown");
    return getOptionalDtype();
  }
  /// The element type, null if unknown.
  mlir::Type getOptionalDtype() const;

  bool hasValueSemantics() const;
  /// A type of the same kind (mutable or not) with other sizes and dtype.
  BaseTensorType
  getWithSizesAndDtype(std::optional<llvm::ArrayRef<int64_t>> sizes,
                       mlir::Type dtype) const;
  /// The `!torch.vtensor` with these sizes and this dtype.
  ValueTensorType getWithValueSemantics() const;
  /// The `!torch.tensor` with these sizes and this dtype.
  NonValueTensorType getWithoutValueSemantics() const;
  bool hasSameSizesAndDtype(BaseTensorType other) const {
    return getOptionalSizes() == other.getOptionalSizes() &&
           getOptionalDtype() == other.getOptionalDtype();
  }
};

/// The dtype of a tensor with elements of a builtin type: signless integers,
/// which PyTorch has not, are signed (i1 is bool).
mlir::Type getTorchDtype(mlir::Type element);

/// True if `type` may be the type of a TorchScript value (a dtype such as
/// `!torch.qint8` is not one).
bool isTorchValueType(mlir::Type type);

/// True if every value of `subtype` is also one of `type`, in PyTorch's sense:
/// T of optional<T>, int of number, anything of any, and a tensor type with
/// more information of one with less.
bool isValidSubtype(mlir::Type subtype, mlir::Type type);

/// True if a value of this type can be written, or can hold something that can:
/// a mutable tensor, a list, a dictionary, a module, `any`, or an optional,
/// tuple or union of one.
bool isMutableType(mlir::Type type);

} // namespace ssa_compiler::torch

#define GET_TYPEDEF_CLASSES
#include "ssa-compiler/Dialect/Torch/IR/TorchTypes.h.inc"

#endif // SSA_COMPILER_DIALECT_TORCH_IR_TORCHTYPES_H
