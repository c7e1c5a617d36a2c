//===- ResultMarks.h - what results are arguments or one tensor -*- C++ -*-===//
//
// The attributes of a function's results that say which of them are arguments,
// views of arguments or one tensor (docs/Rationale/TensorSSA.md, "Arguments and
// results"). They are read off the locations, which passes take away.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_TRANSFORMS_RESULTMARKS_H
#define SSA_COMPILER_LIB_TRANSFORMS_RESULTMARKS_H

#include "ssa-compiler/Analysis/TensorAliasAnalysis.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ssa_compiler {

/// Marks the tensors that `function` returns: `tssa.alias_of`, `tssa.view_of`
/// and `tssa.same_as` for what they are in every run, `tssa.may_alias` and
/// `tssa.may_same_as` for what they are in some. Marks that are there already
/// stay: a pass that resolves choices knew more.
void markResults(mlir::func::FuncOp function,
                 const TensorAliasAnalysis &aliases);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_TRANSFORMS_RESULTMARKS_H
