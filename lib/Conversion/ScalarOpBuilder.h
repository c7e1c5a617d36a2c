//===- ScalarOpBuilder.h - Python's ops on scalars --------------*- C++ -*-===//
//
// Shared by TorchScalarsToArith.cpp, which chooses among the ops, and
// ScalarDivision.cpp, which builds those that take many ops.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_LIB_CONVERSION_SCALAROPBUILDER_H
#define SSA_COMPILER_LIB_CONVERSION_SCALAROPBUILDER_H

#include "ssa-compiler/Support/SourceLocation.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"

namespace ssa_compiler {

/// True for scalars of the two kinds.
inline bool isFloat(mlir::Value value) {
  return mlir::isa<mlir::FloatType>(value.getType());
}
inline bool isBool(mlir::Value value) { return value.getType().isInteger(1); }

/// Builds the value of one scalar op. Each method returns null if there is no
/// counterpart.
class ScalarOpBuilder {
public:
  ScalarOpBuilder(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  mlir::Value build(llvm::StringRef name, mlir::ValueRange args,
                    mlir::Type resultType);

private:
  mlir::Value buildUnary(llvm::StringRef name, mlir::Value arg,
                         mlir::Type resultType);
  mlir::Value buildBinary(llvm::StringRef name, mlir::Value lhs,
                          mlir::Value rhs, mlir::Type resultType);
  mlir::Value buildCompare(llvm::StringRef name, mlir::Value lhs,
                           mlir::Value rhs);
  mlir::Value buildIntDivision(llvm::StringRef name, mlir::Value lhs,
                               mlir::Value rhs);
  mlir::Value buildFloatDivision(llvm::StringRef name, mlir::Value lhs,
                                 mlir::Value rhs);
  mlir::Value buildShift(llvm::StringRef name, mlir::Value lhs,
                         mlir::Value rhs);
  mlir::Value buildTrueDivision(mlir::Value lhs, mlir::Value rhs);
  mlir::Value buildRoundingError(mlir::Value value, mlir::Value rounded);
  mlir::Value buildProductError(mlir::Value lhs, mlir::Value rhs,
                                mlir::Value product);
  mlir::Value buildExactCompare(mlir::arith::CmpFPredicate predicate,
                                mlir::Value integer, mlir::Value number);
  void checkDomain(llvm::StringRef name, mlir::Value arg);
  void checkRange(llvm::StringRef name, mlir::Value arg, mlir::Value result);
  void require(mlir::Value condition, llvm::StringRef message) {
    mlir::cf::AssertOp::create(builder, loc, condition,
                               withSourceLine(message, loc));
  }
  mlir::Value floatConstant(double value) {
    return create<mlir::arith::ConstantOp>(builder.getF64FloatAttr(value));
  }
  mlir::Value intConstant(int64_t value) {
    return create<mlir::arith::ConstantOp>(builder.getI64IntegerAttr(value));
  }
  mlir::Value convert(mlir::Value value, mlir::Type type);

  template <typename OpTy, typename... Args>
  mlir::Value create(Args &&...args) {
    return OpTy::create(builder, loc, std::forward<Args>(args)...);
  }
  mlir::Value zero(mlir::Type type) {
    return create<mlir::arith::ConstantOp>(builder.getZeroAttr(type));
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_CONVERSION_SCALAROPBUILDER_H
