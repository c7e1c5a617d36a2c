//===- MutationLocations.h - numbers and names of mutations -----*- C++ -*-===//
//
// How the report's passes know a mutation again: by its number, which locations
// carry as metadata. And how the report names lines, ops and storages.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_TRANSFORMS_MUTATIONLOCATIONS_H
#define SSA_COMPILER_LIB_TRANSFORMS_MUTATIONLOCATIONS_H

#include "ssa-compiler/Support/SourceLocation.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Location.h"

#include <string>
#include <vector>

namespace ssa_compiler {

/// The numbers of the mutations that a location belongs to.
mlir::SmallVector<size_t> getNumbers(mlir::Location loc);

/// `loc` as one of mutation `number`.
mlir::Location addNumber(mlir::Location loc, size_t number);

/// `loc` without the numbers of mutations.
mlir::Location removeNumbers(mlir::Location loc);

/// The user's `file:line`, empty if there is none.
std::string getLine(mlir::Location loc);

/// The user's line, then those of the functions it calls.
void collectLines(mlir::Location loc, std::vector<std::string> &lines);

/// What a region op is to the user: a loop or a branch.
std::string getKind(mlir::Operation *regionOp);

/// `aten.add_.Tensor` of `torch.aten.add_.Tensor`.
llvm::StringRef getShortName(mlir::Operation *op);

/// `text` followed by the user's line in parentheses, if there is one.
std::string withLine(std::string text, mlir::Location loc);

/// A storage by the value that first held it.
std::string describeRoot(mlir::func::FuncOp function, mlir::Value root);

/// `.select(0, _)`: constants are shown, other params are `_`.
std::string describePath(mlir::ArrayRef<mlir::Operation *> path);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_TRANSFORMS_MUTATIONLOCATIONS_H
