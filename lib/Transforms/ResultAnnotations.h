//===- ResultAnnotations.h - which results are arguments --------*- C++ -*-===//
//
// The attributes of a function's results that say which of them are arguments,
// views of arguments or one tensor (docs/Rationale/TensorSSA.md, "Arguments and
// results"). They are read off the locations, which passes take away.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_TRANSFORMS_RESULTANNOTATIONS_H
#define SSA_COMPILER_LIB_TRANSFORMS_RESULTANNOTATIONS_H

#include "ssa-compiler/Analysis/TensorAliasAnalysis.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ssa_compiler {

/// Annotates the tensors that `function` returns: `tssa.alias_of`,
/// `tssa.view_of` and `tssa.same_as` for what they are in every run,
/// `tssa.may_alias` and `tssa.may_same_as` for what they are in some.
/// Attributes that are there already stay: a pass that resolves ambiguous
/// aliases knew more.
void annotateResults(mlir::func::FuncOp function,
                     const TensorAliasAnalysis &aliases);

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_TRANSFORMS_RESULTANNOTATIONS_H
