//===- NestedUpdates.h - stores through views of views ----------*- C++ -*-===//
//
// Finds the stores that --fold-nested-updates makes one of: follows the values
// that a store is nested in from the outermost one inwards and keeps the
// strided slice of the tensor that they are. Each store on the way has to
// change what that same slice of the tensor shows: then all that the nest
// changes is what the innermost store does.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_CONVERSION_NESTEDUPDATES_H
#define SSA_COMPILER_LIB_CONVERSION_NESTEDUPDATES_H

#include "ssa-compiler/Dialect/Torch/IR/TorchOpInterfaces.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"

namespace ssa_compiler {

/// An op such as select_scatter: the view that it stores through, and the
/// values.
struct Store {
  torch::ViewInstance view;
  mlir::Value values;
};

/// Values that are stored to a strided slice of a tensor, right after `store`.
struct Insertion {
  mlir::Operation *store;
  torch::StridedSlice slice;
  mlir::Value values;
};

/// A store of a nest: what it changes is what `view` shows of the base.
struct Member {
  mlir::Operation *store;
  /// The insertions that are made when its result is there are those from this
  /// one on.
  size_t last;
  mlir::Value view;
};

/// Stores whose outermost result is `base` after some insertions, the last of
/// which comes first.
struct Nest {
  mlir::Value base;
  mlir::SmallVector<Insertion> insertions;
  mlir::SmallVector<Member> members;
};

/// The store that an op such as select_scatter makes.
std::optional<Store> getStore(mlir::Operation *op);

/// The view op that makes a value, or null.
torch::TorchViewOpInterface getView(mlir::Value value);

/// The slice of `base` that `value` shows; nullopt if it is no such view of it.
std::optional<torch::StridedSlice> getStridedSliceIn(mlir::Value base,
                                                     mlir::Value value);

/// Collects the insertions that make `current` from what the base shows in
/// `slice`. False, and nothing is collected, if it is not made so.
bool collectNest(mlir::Operation *outermost, mlir::Value current,
                 torch::StridedSlice slice, Nest &nest);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_CONVERSION_NESTEDUPDATES_H
