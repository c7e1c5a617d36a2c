// Models of TorchViewOpInterface, one for each view op.

#include "ssa-compiler/Dialect/Torch/IR/TorchViewOps.h"

void ssa_compiler::torch::registerTorchViewOps(mlir::MLIRContext &context) {}
