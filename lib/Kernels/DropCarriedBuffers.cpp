//===- DropCarriedBuffers.cpp - loops that carry no buffers ---------------===//

#include "ssa-compiler/Kernels/Passes.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

namespace ssa_compiler {
#define GEN_PASS_DEF_DROPCARRIEDBUFFERSPASS
#include "ssa-compiler/Kernels/Passes.h.inc"
} // namespace ssa_compiler

using namespace mlir;
using namespace ssa_compiler;

namespace {
struct DropCarriedBuffersPass
    : public ssa_compiler::impl::DropCarriedBuffersPassBase<
          DropCarriedBuffersPass> {
  using DropCarriedBuffersPassBase::DropCarriedBuffersPassBase;

  void runOnOperation() override {
    getOperation()->walk<WalkOrder::PreOrder>([](LoopLikeOpInterface loop) {
      auto use = [](Value carried, Value init) {
        if (isa<MemRefType>(carried.getType()) &&
            carried.getType() == init.getType())
          carried.replaceAllUsesWith(init);
      };
      if (auto counted = dyn_cast<scf::ForOp>(*loop)) {
        for (auto [argument, result, init] :
             llvm::zip(counted.getRegionIterArgs(), counted.getResults(),
                       counted.getInits())) {
          use(argument, init);
          use(result, init);
        }
      } else if (auto decided = dyn_cast<scf::WhileOp>(*loop)) {
        for (auto [argument, init] :
             llvm::zip(decided.getBeforeArguments(), decided.getInits()))
          use(argument, init);
        // Buffers come first, in one order (--yield-in-place).
        for (auto [argument, result, init] :
             llvm::zip(decided.getAfterArguments(), decided.getResults(),
                       decided.getInits())) {
          use(argument, init);
          use(result, init);
        }
      }
    });
  }
};
} // namespace
