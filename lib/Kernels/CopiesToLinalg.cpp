//===- CopiesToLinalg.cpp - copies as linalg ops, counted -----------------===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_COPIESTOLINALGPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

/// Whether a copy is of a whole tensor: of a version that is still needed, or
/// into the place where a loop or branch has it.
static bool isOfWholeTensor(memref::CopyOp op) {
  return !op.getSource().getDefiningOp<ViewLikeOpInterface>() &&
         !op.getTarget().getDefiningOp<ViewLikeOpInterface>();
}

namespace {
struct CopiesToLinalgPass
    : public ssa_compiler::impl::CopiesToLinalgPassBase<CopiesToLinalgPass> {
  using CopiesToLinalgPassBase::CopiesToLinalgPassBase;

  void runOnOperation() override {
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp op) { copies.push_back(op); });
    // How many, and how many bytes.
    int64_t outside[2] = {0, 0}, inside[2] = {0, 0};
    for (memref::CopyOp op : copies) {
      OpBuilder builder(op);
      auto type = cast<MemRefType>(op.getSource().getType());
      if (isOfWholeTensor(op)) {
        auto &count =
            op->getParentOfType<LoopLikeOpInterface>() ? inside : outside;
        count[0] += 1;
        if (type.hasStaticShape())
          count[1] += type.getNumElements() *
                      llvm::divideCeil(type.getElementTypeBitWidth(), 8);
      }
      linalg::makeMemRefCopyOp(builder, op.getLoc(), op.getSource(),
                               op.getTarget());
      op.erase();
    }
    Builder builder(&getContext());
    auto note = [&](StringRef name, int64_t number) {
      getOperation()->setAttr(name, builder.getI64IntegerAttr(number));
    };
    note("kernel.copies", outside[0]);
    note("kernel.copied_bytes", outside[1]);
    note("kernel.loop_copies", inside[0]);
    note("kernel.loop_copied_bytes", inside[1]);
  }
};
} // namespace
