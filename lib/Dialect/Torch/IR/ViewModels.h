//===- ViewModels.h - what the view models share ----------------*- C++ -*-===//
//
// Builders that several view models use, and the functions through which each
// family of models enters the registry (TorchViewOps.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_DIALECT_TORCH_IR_VIEWMODELS_H
#define SSA_COMPILER_LIB_DIALECT_TORCH_IR_VIEWMODELS_H

#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"

namespace ssa_compiler::torch {

/// Builds a torch op with one result.
mlir::Value buildOp(mlir::OpBuilder &builder, mlir::Location loc,
                    llvm::StringRef name, mlir::Type resultType,
                    mlir::ValueRange operands);

/// Builds a view of `tensor` with the sizes of `like`.
mlir::Value buildViewAs(mlir::OpBuilder &builder, mlir::Location loc,
                        mlir::Value tensor, mlir::Value like);

/// The dimension that `dim` names, counted from 0, if it and the rank are
/// known.
std::optional<int64_t> getDimension(mlir::Value base, mlir::Value dim);

/// Hides the dimensions of a strided slice that have size 1 in the type of the
/// view; false if the type has not the rank of the slice.
bool hideUnits(mlir::Type viewType, StridedSlice &slice);

/// Follows a strided slice through a view that keeps the elements in order, if
/// it adds and drops dimensions of size 1 only; false for other changes of
/// shape. `keepsSizes` says that it does no more than that.
bool followUnits(mlir::Type baseType, mlir::Type viewType, bool keepsSizes,
                 StridedSlice &slice);

/// Follows a strided slice through a view whose dimensions are `order`, counted
/// from 0, of its base.
void followOrder(mlir::ArrayRef<int64_t> order, StridedSlice &slice);

using AddViewModelFn =
    llvm::function_ref<void(llvm::StringRef, std::unique_ptr<ViewModel>)>;

/// Adds the views that pick a part of their base: select, slice, narrow.
void addPartViewModels(AddViewModelFn add);

/// Adds the views that show every element, in order, permuted or repeated, and
/// those of the generic model.
void addWholeViewModels(AddViewModelFn add);

/// Adds as_strided.
void addStridedViewModels(AddViewModelFn add);

} // namespace ssa_compiler::torch

#endif // SSA_COMPILER_LIB_DIALECT_TORCH_IR_VIEWMODELS_H
