//===- DropCarriedBuffers.cpp - loops that carry no buffers ---------------===//

#include "ssa-compiler/Kernels/Passes.h"
#include "ssa-compiler/Support/RegionEdges.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_DROPCARRIEDBUFFERSPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

/// The buffer that a carried one begins as, null if it is not forwarded as it
/// is.
static Value findInit(Operation *loop, Value carried) {
  ForwardedValues forwarded = findForwardedValues(carried);
  if (!forwarded.entering.empty())
    return forwarded.entering.front();
  for (Value source : forwarded.inside)
    if (auto argument = dyn_cast<BlockArgument>(source))
      if (argument.getOwner()->getParentOp() == loop)
        return findInit(loop, argument);
  return Value();
}

namespace {
struct DropCarriedBuffersPass
    : public ssa_compiler::impl::DropCarriedBuffersPassBase<
          DropCarriedBuffersPass> {
  using DropCarriedBuffersPassBase::DropCarriedBuffersPassBase;

  void runOnOperation() override {
    // Inner loops first: their results are buffers of the outer ones then.
    getOperation()->walk([](LoopLikeOpInterface loop) {
      SmallVector<std::pair<Value, Value>> inits;
      forEachRegionEdge(loop, [&](OpOperand &, Value carried) {
        if (isa<MemRefType>(carried.getType()))
          if (Value init = findInit(loop, carried))
            if (init.getType() == carried.getType())
              inits.emplace_back(carried, init);
      });
      for (auto [carried, init] : inits)
        carried.replaceAllUsesWith(init);
    });
  }
};
} // namespace
