//===- GridBarriers.cpp - how workgroups wait for each other --------------===//
//
// See ThreadPlan.h.
//
//===----------------------------------------------------------------------===//

#include "Roles.h"
#include "ThreadPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace ssa_compiler;

/// Lets workgroups wait for each other at barriers. They count, in the first
/// word of the workspace, those that have come: the one that is awaited is
/// over when the count reaches the next multiple of their number, with which
/// each call begins and ends. The first thread of each releases what all of
/// it have written, and acquires what the others have: `bar.sync` orders that
/// with the rest of the workgroup.
void ssa_compiler::waitForWorkgroups(func::FuncOp function,
                                     Value threadInGroup) {
  OpBuilder builder(function.getContext());
  int64_t groups = getWorkgroups(function);
  Value workspace;
  for (unsigned k = 0; k < function.getNumArguments(); ++k)
    if (getRole(function, k) == "scratch")
      workspace = function.getArgument(k);
  builder.setInsertionPointToStart(&function.getBody().front());
  Location loc = function.getLoc();
  Value place =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, workspace);
  place = arith::IndexCastOp::create(builder, loc, builder.getI64Type(), place);
  std::string count = std::to_string(groups);
  std::string text = "{\n.reg .pred leads, waits;\n.reg .b32 seen, end;\n"
                     "setp.ne.u32 leads, $1, 0;\n@leads bra BEHIND;\n"
                     "atom.add.release.gpu.u32 seen, [$0], 1;\n"
                     "rem.u32 end, seen, " +
                     count + ";\nsub.u32 end, seen, end;\nadd.u32 end, end, " +
                     count +
                     ";\nAGAIN:\nld.acquire.gpu.u32 seen, [$0];\n"
                     "sub.u32 seen, seen, end;\nsetp.lt.s32 waits, seen, 0;\n"
                     "@waits bra AGAIN;\nBEHIND:\n}";
  SmallVector<gpu::BarrierOp> barriers;
  function.walk([&](gpu::BarrierOp op) { barriers.push_back(op); });
  for (gpu::BarrierOp op : barriers) {
    builder.setInsertionPointAfter(op);
    LLVM::InlineAsmOp::create(
        builder, op.getLoc(), TypeRange(), ValueRange{place, threadInGroup},
        text, "l,r,~{memory}", /*has_side_effects=*/true,
        /*is_align_stack=*/false, LLVM::TailCallKind::None,
        LLVM::AsmDialectAttr(), ArrayAttr());
    gpu::BarrierOp::create(builder, op.getLoc());
  }
}
