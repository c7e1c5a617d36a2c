// Registers everything that ssa-opt knows: our dialects and passes, and the
// upstream ones that our IR is made of.

#ifndef SSA_COMPILER_INITALL_H
#define SSA_COMPILER_INITALL_H

#include "ssa-compiler/Conversion/Passes.h"
#include "ssa-compiler/Dialect/TSSA/IR/TSSADialect.h"
#include "ssa-compiler/Dialect/Torch/IR/TorchDialect.h"
#include "ssa-compiler/Dialect/TorchConversion/IR/TorchConversionDialect.h"
#include "ssa-compiler/Kernels/Passes.h"
#include "ssa-compiler/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace ssa_compiler {

/// Registers the dialects and extensions of ssa-opt.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::arith::ArithDialect, mlir::cf::ControlFlowDialect,
                  mlir::func::FuncDialect, mlir::math::MathDialect,
                  mlir::scf::SCFDialect, mlir::tensor::TensorDialect,
                  mlir::vector::VectorDialect, torch::TorchDialect,
                  torch_c::TorchConversionDialect, tssa::TSSADialect>();
  mlir::func::registerInlinerExtension(registry);
  registerKernelDialects(registry);
}

/// Registers the passes of ssa-opt, and upstream's transformation passes
/// (--cse, --canonicalize, --inline, ...).
inline void registerAllPasses() {
  mlir::registerTransformsPasses();
  registerConversionPasses();
  registerKernelsPasses();
  registerTransformsPasses();
  registerKernelPipelines();
  registerPipelines();
}

} // namespace ssa_compiler

#endif // SSA_COMPILER_INITALL_H
