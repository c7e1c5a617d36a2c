//===- Passes.h - passes that make kernels ----------------------*- C++ -*-===//

#ifndef SSA_COMPILER_KERNELS_PASSES_H
#define SSA_COMPILER_KERNELS_PASSES_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir {
class DialectRegistry;
namespace bufferization {
struct OneShotBufferizationOptions;
} // namespace bufferization
} // namespace mlir

namespace ssa_compiler {

#define GEN_PASS_DECL
#include "ssa-compiler/Kernels/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "ssa-compiler/Kernels/Passes.h.inc"

/// How kernels are bufferised: function boundaries included, arguments and
/// results without strides.
mlir::bufferization::OneShotBufferizationOptions getKernelBufferization();

/// Registers the dialects of the linalg stage, and what bufferization asks of
/// them.
void registerKernelDialects(mlir::DialectRegistry &registry);

/// Registers `--lower-kernels`.
void registerKernelPipelines();

} // namespace ssa_compiler

#endif // SSA_COMPILER_KERNELS_PASSES_H
