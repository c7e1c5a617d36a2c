//===- TorchViewOps.h - how views are read, written and checked -*- C++ -*-===//
//
// A ViewModel says for one view op how the base is rebuilt when the view gets
// new contents, and which checks eager PyTorch makes when it takes the view.
// Adding a view op means adding a model; no pass knows views by name.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_DIALECT_TORCH_IR_TORCHVIEWOPS_H
#define SSA_COMPILER_DIALECT_TORCH_IR_TORCHVIEWOPS_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallBitVector.h"

#include <memory>

namespace ssa_compiler::torch {

/// One application of a view op to an immutable tensor.
struct ViewInstance {
  /// `torch.aten.select.int`.
  llvm::StringRef name;
  /// The schema of an op that is not registered, or null.
  mlir::StringAttr schema;
  /// The immutable tensor that is looked at.
  mlir::Value base;
  /// The operands of the view op after the first.
  mlir::ValueRange params;
};

/// A strided slice of a tensor, which many views show: along each dimension one
/// element, or every n-th of a range.
struct StridedSlice {
  /// What one select or slice adds to the origin of the slice.
  struct Offset {
    /// A `!torch.int`, or None for 0.
    mlir::Value start;
    /// The end of a slice; null for an index.
    mlir::Value end;
    /// Negative numbers count from the end of this dimension of this tensor.
    mlir::Value tensor;
    int64_t dim;
    /// What it counts, in elements of the whole tensor.
    int64_t stride;
  };
  /// One dimension of the whole tensor.
  struct Dimension {
    llvm::SmallVector<Offset, 1> offsets;
    int64_t stride = 1;
  };

  /// The slice of all elements. Requires a known rank.
  static StridedSlice getWhole(mlir::Value tensor);

  /// True if both show the same elements in the same order, given that both are
  /// strided slices of one tensor.
  bool operator==(const StridedSlice &other) const;
  bool operator!=(const StridedSlice &other) const { return !(*this == other); }

  /// True if no element is left out.
  bool isWhole() const;

  /// The dimensions of the whole tensor.
  llvm::SmallVector<Dimension> dimensions;
  /// For each dimension of the view the one of the whole tensor that it runs
  /// along; kNone for a dimension known to have size 1.
  llvm::SmallVector<int64_t> shown;
  static constexpr int64_t kNone = -1;
};

/// How a view op is read, written and checked.
class ViewModel {
public:
  virtual ~ViewModel();

  /// True if the view is no function of its base, but of the storage that the
  /// base begins: its base must not be a view. The default is false.
  virtual bool looksAtStorage() const { return false; }

  /// Builds what the view shows, of type `resultType`; null after an error. The
  /// default applies the view op itself.
  virtual mlir::Value buildAccess(mlir::OpBuilder &builder, mlir::Location loc,
                                  const ViewInstance &view,
                                  mlir::Type resultType) const;

  /// Builds the base with the elements that the view shows replaced by those of
  /// `source`. Fails, after an error at `loc`, if that has no meaning. The
  /// default serves every view: it applies the view to the positions of the
  /// base's elements and scatters `source` to them.
  virtual mlir::FailureOr<mlir::Value> buildAssign(mlir::OpBuilder &builder,
                                                   mlir::Location loc,
                                                   const ViewInstance &view,
                                                   mlir::Value source) const;

  /// True if `buildAssign` computes its result from elements of the base. Where
  /// it fails, or for all that a model does not tell, the answer is true.
  virtual bool assignKeepsBase(const ViewInstance &view,
                               mlir::Value source) const;

  /// Follows dimensions along which all elements are one element in memory.
  /// `repeated` has a bit for each dimension of the base, afterwards for each
  /// dimension of the view, whose type is `resultType`. True if of elements
  /// that are one the view shows, along the dimensions that it drops, none or
  /// the first; the default knows that only where nothing is repeated.
  virtual bool followRepeated(const ViewInstance &view, mlir::Type resultType,
                              llvm::SmallBitVector &repeated) const;

  /// True if the view may show an element of its base several times in a way
  /// that `followRepeated` follows.
  bool repeats(const ViewInstance &view, mlir::Type resultType) const;

  /// True if the view shows all elements of its base in their order: it is the
  /// memory of its base in another shape. The default is false.
  virtual bool keepsMemory(const ViewInstance &view,
                           mlir::Type resultType) const;

  /// Follows the strided slice that the base is of some tensor: afterwards
  /// `slice` is what the view, whose type is `resultType`, shows of that
  /// tensor. False if that is no strided slice; the default knows none.
  virtual bool followStridedSlice(const ViewInstance &view,
                                  mlir::Type resultType,
                                  StridedSlice &slice) const;

  /// The op that stores to what the view shows, with the operands of the view
  /// op after the base and the values; empty if there is none.
  virtual llvm::StringRef getScatterName() const { return {}; }

  /// True if two applications of this view op to bases of one type are
  /// provably disjoint. The default knows none.
  virtual bool areDisjoint(const ViewInstance &first,
                           const ViewInstance &second) const;

  /// Builds the conditions (`i1`), each with eager's message, that must hold
  /// when the view is taken, for those that are not known to hold. The default
  /// has none.
  struct Check {
    mlir::Value condition;
    std::string message;
  };
  virtual void buildChecks(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value base, mlir::ValueRange params,
                           llvm::SmallVectorImpl<Check> &checks) const;
};

/// Adds the model of a view op; a later one replaces an earlier one.
void registerViewModel(llvm::StringRef torchName,
                       std::unique_ptr<ViewModel> model);

/// The model of `torch.aten.select.int` and so on, or null if it is no view.
const ViewModel *lookupViewModel(llvm::StringRef torchName);

/// The view op that shows what `torch.aten.select_scatter` and so on store;
/// empty if it is no such op.
llvm::StringRef lookupScatteredView(llvm::StringRef scatterName);

/// Attaches TorchViewOpInterface to the ops that have a view model. Called once
/// the torch dialect has registered all its ops.
void registerTorchViewOps(mlir::MLIRContext &context);

} // namespace ssa_compiler::torch

#endif // SSA_COMPILER_DIALECT_TORCH_IR_TORCHVIEWOPS_H
