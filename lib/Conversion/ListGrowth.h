//===- ListGrowth.h - lists that loops make longer --------------*- C++ -*-===//
//
// A list whose length is dynamic is a buffer with a row for each element, and a
// length. The importer has it twice as large where an append finds no room.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_CONVERSION_LISTGROWTH_H
#define SSA_COMPILER_LIB_CONVERSION_LISTGROWTH_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace ssa_compiler {

/// What an iteration of a loop does to the buffer of a list.
class ListGrowth {
public:
  explicit ListGrowth(mlir::BlockArgument buffer) : buffer(buffer) {}

  /// Finds how many elements are appended at most; fails if `value` is not the
  /// buffer with other contents and more room.
  std::optional<int64_t> measure(mlir::Value value);

  /// Lets the buffer be as large as it is: asserts that there is room where it
  /// was made larger.
  void keepSize(mlir::OpBuilder &builder);

private:
  std::optional<int64_t> measureBranch(mlir::OpResult result);

  mlir::BlockArgument buffer;
  /// The buffers that are larger if there is no room.
  mlir::SmallVector<mlir::OpResult> larger;
};

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_CONVERSION_LISTGROWTH_H
