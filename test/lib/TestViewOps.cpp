//===- TestViewOps.cpp - view ops that exist only for tests ---------------===//
//
// Two views that travel in `torch.operator`, added with nothing but a view
// model each. The lit test Pipelines/new-view-op.mlir writes through them,
// which shows that no pass has to know a view by name.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Dialect/Torch/IR/TorchBuilders.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchOps.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"

using namespace mlir;
using namespace ssa_compiler;

namespace {

/// `test::reverse_rows(Tensor(a) self) -> Tensor(a)`: the rows from last to
/// first. It undoes itself, and is computed as a flip of dimension 0.
class ReverseRowsView final : public torch::ViewModel {
public:
  Value buildAccess(OpBuilder &builder, Location loc,
                    const torch::ViewInstance &view,
                    Type resultType) const override {
    return buildFlip(builder, loc, view.base, resultType);
  }

  FailureOr<Value> buildAssign(OpBuilder &builder, Location loc,
                               const torch::ViewInstance &view,
                               Value source) const override {
    return buildFlip(builder, loc, source, view.base.getType());
  }

  bool assignKeepsBase(const torch::ViewInstance &, Value) const override {
    return false;
  }

private:
  static Value buildFlip(OpBuilder &builder, Location loc, Value tensor,
                         Type type) {
    Value dims = torch::createIntList(
        builder, loc, torch::createIntConstant(builder, loc, 0));
    return torch::createTorchOp(builder, loc, "torch.aten.flip", type,
                                {tensor, dims})
        ->getResult(0);
  }
};

} // namespace

namespace ssa_compiler {
void registerTestViewOps();
void registerTestViewOps() {
  torch::registerViewModel("torch.test.reverse_rows",
                           std::make_unique<ReverseRowsView>());
  // `test::last_column(Tensor(a) self) -> Tensor(a)`, served by the generic
  // model.
  torch::registerViewModel("torch.test.last_column",
                           std::make_unique<torch::ViewModel>());
}
} // namespace ssa_compiler
