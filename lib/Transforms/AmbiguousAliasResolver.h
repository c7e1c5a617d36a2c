//===- AmbiguousAliasResolver.h - candidates by their tags ------*- C++ -*-===//
//
// Rewrites the reads and writes of ambiguous aliases
// (AmbiguousAliasAnalysis.h), whose region ops have the capacity for tags
// (TagCapacity.h).
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_TRANSFORMS_AMBIGUOUSALIASRESOLVER_H
#define SSA_COMPILER_LIB_TRANSFORMS_AMBIGUOUSALIASRESOLVER_H

#include "TagCapacity.h"

#include "ssa-compiler/Analysis/AmbiguousAliasAnalysis.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

namespace ssa_compiler {

/// Makes the ambiguous aliases of one function explicit: a read selects the
/// candidate by the tag, a write goes to it, and each edge sets the tag.
class AmbiguousAliasResolver {
public:
  AmbiguousAliasResolver(mlir::func::FuncOp function,
                         const TensorAliasAnalysis &aliases,
                         const AmbiguousAliasAnalysis &ambiguous)
      : function(function), aliases(aliases), ambiguous(ambiguous),
        builder(function.getContext()) {}

  void run();

private:
  /// The dynamic values beside a member of an ambiguous alias. The tag is null
  /// if there is one candidate only.
  struct Extras {
    mlir::Value tag;
    mlir::SmallVector<mlir::Value> carried;
  };
  using BodyFn = llvm::function_ref<mlir::Value(mlir::Value tensor)>;

  void findExtras(const RegionAliases &regionAliases, mlir::Operation *op);
  void fillEdge(const AmbiguousAlias &alias, mlir::OpOperand &source);
  Extras encode(const AmbiguousAlias &alias, mlir::Value root,
                mlir::ArrayRef<CandidateStep> path, mlir::Location loc);
  Extras makeConstant(const AmbiguousAlias &alias, unsigned candidate,
                      mlir::Location loc);
  void takeCarried(const CandidateParam &pattern, const CandidateParam &param,
                   Extras &extras, mlir::Location loc);
  CandidateParam makeConcrete(const CandidateParam &param, const Extras &extras,
                              mlir::Location loc);
  CandidatePath makeConcrete(mlir::ArrayRef<CandidateStep> path,
                             const Extras &extras, mlir::Location loc);
  mlir::Value materialize(const CandidateParam &param, mlir::Location loc);
  mlir::Value applyPath(mlir::Value tensor, mlir::ArrayRef<CandidateStep> path,
                        mlir::Location loc);
  mlir::Value forTensor(mlir::Value root, mlir::Type resultType,
                        mlir::Location loc, BodyFn body);
  mlir::Value forCandidate(mlir::Value member, unsigned candidate,
                           mlir::Type resultType, mlir::Location loc,
                           BodyFn body);
  mlir::Value read(mlir::Value tensor, mlir::Location loc);
  void store(mlir::Value tensor, mlir::Value contents, mlir::Location loc);
  void rewriteUses(mlir::Value tensor);
  mlir::Value clone(mlir::Value tensor, mlir::Location loc);

  mlir::func::FuncOp function;
  const TensorAliasAnalysis &aliases;
  const AmbiguousAliasAnalysis &ambiguous;
  mlir::OpBuilder builder;
  mlir::DenseMap<mlir::Value, Extras> extrasOf;
};

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_TRANSFORMS_AMBIGUOUSALIASRESOLVER_H
