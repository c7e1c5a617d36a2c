//===- DropCarriedBuffers.cpp - loops that carry no buffers ---------------===//

#include "ssa-compiler/Kernels/Passes.h"
#include "ssa-compiler/Support/RegionEdges.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"

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

/// The buffer of which a value is all elements, in their order.
static Value withoutReshapes(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(
            op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// The buffers that become others: what loops carry, with what it begins as.
using Inits = llvm::MapVector<Value, Value>;

/// Whether a value is surely the buffer `init`.
static bool isSameBuffer(Value value, Value init, const Inits &inits) {
  value = withoutReshapes(value);
  if (Value found = inits.lookup(value))
    value = withoutReshapes(found);
  if (value == withoutReshapes(init))
    return true;
  auto branch = value.getDefiningOp<scf::IfOp>();
  return branch &&
         llvm::all_of(findForwardedValues(value).inside, [&](Value yielded) {
           return isSameBuffer(yielded, init, inits);
         });
}

/// Copies what is yielded into the buffer `init`, in which bufferization found
/// that it could be, unless it is there.
static void copyInto(OpOperand &yielded, Value init, const Inits &inits) {
  if (isSameBuffer(yielded.get(), init, inits))
    return;
  OpBuilder builder(yielded.getOwner());
  memref::CopyOp::create(builder, yielded.getOwner()->getLoc(), yielded.get(),
                         init);
  yielded.set(init);
}

namespace {
struct DropCarriedBuffersPass
    : public ssa_compiler::impl::DropCarriedBuffersPassBase<
          DropCarriedBuffersPass> {
  using DropCarriedBuffersPassBase::DropCarriedBuffersPassBase;

  void runOnOperation() override {
    // Inner loops first: their results are buffers of the outer ones then.
    getOperation()->walk([](LoopLikeOpInterface loop) {
      Inits inits;
      SmallVector<std::pair<OpOperand *, Value>> yields;
      forEachRegionEdge(loop, [&](OpOperand &operand, Value carried) {
        if (!isa<MemRefType>(carried.getType()))
          return;
        Value init = findInit(loop, carried);
        if (!init || init.getType() != carried.getType())
          return;
        inits.insert({carried, init});
        if (operand.getOwner() != loop)
          yields.emplace_back(&operand, carried);
      });
      for (auto [operand, carried] : yields)
        copyInto(*operand, inits.lookup(carried), inits);
      for (auto [carried, init] : inits)
        carried.replaceAllUsesWith(init);
    });
  }
};
} // namespace
