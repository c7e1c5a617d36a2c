//===- CLibrary.cpp - functions of the C library in kernels ---------------===//

#include "CLibrary.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace ssa_compiler;

StringRef ssa_compiler::findCFunction(Operation *op) {
  if (op->getNumResults() != 1)
    return "";
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (type.isF32())
    return llvm::TypeSwitch<Operation *, StringRef>(op)
        .Case([](math::PowFOp) { return "powf"; })
        .Case([](arith::RemFOp) { return "fmodf"; })
        .Default([](Operation *) { return ""; });
  if (!type.isF64())
    return "";
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case([](arith::RemFOp) { return "fmod"; })
      .Case([](math::AcosOp) { return "acos"; })
      .Case([](math::AcoshOp) { return "acosh"; })
      .Case([](math::AsinOp) { return "asin"; })
      .Case([](math::AsinhOp) { return "asinh"; })
      .Case([](math::AtanOp) { return "atan"; })
      .Case([](math::Atan2Op) { return "atan2"; })
      .Case([](math::AtanhOp) { return "atanh"; })
      .Case([](math::CbrtOp) { return "cbrt"; })
      .Case([](math::CosOp) { return "cos"; })
      .Case([](math::CoshOp) { return "cosh"; })
      .Case([](math::ErfOp) { return "erf"; })
      .Case([](math::ErfcOp) { return "erfc"; })
      .Case([](math::ExpOp) { return "exp"; })
      .Case([](math::Exp2Op) { return "exp2"; })
      .Case([](math::ExpM1Op) { return "expm1"; })
      .Case([](math::LogOp) { return "log"; })
      .Case([](math::Log10Op) { return "log10"; })
      .Case([](math::Log1pOp) { return "log1p"; })
      .Case([](math::Log2Op) { return "log2"; })
      .Case([](math::PowFOp) { return "pow"; })
      .Case([](math::SinOp) { return "sin"; })
      .Case([](math::SinhOp) { return "sinh"; })
      .Case([](math::TanOp) { return "tan"; })
      .Case([](math::TanhOp) { return "tanh"; })
      .Default([](Operation *) { return ""; });
}

void ssa_compiler::callCFunction(Operation *op) {
  op->setAttr(kCFunction, StringAttr::get(op->getContext(), findCFunction(op)));
}

void ssa_compiler::listCFunctions(func::FuncOp function) {
  llvm::SetVector<Attribute> names;
  function.walk([&](Operation *op) {
    if (Attribute name = op->getAttr(kCFunction))
      names.insert(name);
  });
  if (!names.empty())
    function->setAttr(kCFunctions, ArrayAttr::get(function.getContext(),
                                                  names.getArrayRef()));
}

int64_t ssa_compiler::countCFunctions(func::FuncOp function) {
  auto names = function->getAttrOfType<ArrayAttr>(kCFunctions);
  return names ? names.size() : 0;
}

/// Calls a function by its address, as the System V ABI of x86-64 has it. IREE
/// resolves the callee of every call in an executable, so that this is
/// assembly: the stack pointer skips what the kernel may keep below it, and the
/// registers that a function need not preserve are lost.
static Value callAddress(OpBuilder &builder, Location loc, Value address,
                         ValueRange operands) {
  constexpr StringLiteral text = "movq %rsp, %r13\n"
                                 "subq $$256, %rsp\n"
                                 "andq $$-64, %rsp\n"
                                 "callq *%r12\n"
                                 "movq %r13, %rsp";
  SmallVector<Value> passed(operands);
  passed.push_back(address);
  std::string constraints, ties;
  for (unsigned k = 0; k < operands.size(); ++k) {
    constraints += llvm::formatv("={{xmm{0}},", k);
    ties += llvm::formatv("{0},", k);
  }
  constraints += ties + "{r12}";
  for (StringRef name : {"r13", "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9",
                         "r10", "r11", "dirflag", "fpsr", "flags"})
    constraints += llvm::formatv(",~{{{0}}", name);
  for (unsigned k = operands.size(); k < 32; ++k)
    constraints += llvm::formatv(",~{{xmm{0}}", k);
  for (unsigned k = 0; k < 8; ++k)
    constraints += llvm::formatv(",~{{k{0}}", k);
  Type type = operands.front().getType();
  if (operands.size() > 1)
    type = LLVM::LLVMStructType::getLiteral(
        builder.getContext(), SmallVector<Type>(operands.size(), type));
  Value left =
      LLVM::InlineAsmOp::create(
          builder, loc, type, passed, text, constraints,
          /*has_side_effects=*/true, /*is_align_stack=*/false,
          LLVM::TailCallKind::None, LLVM::AsmDialectAttr(), ArrayAttr())
          .getResult(0);
  if (operands.size() == 1)
    return left;
  return LLVM::ExtractValueOp::create(builder, loc, left, 0);
}

/// What a function computes of the operands of an op, of each element of
/// vectors.
static Value callForElements(OpBuilder &builder, Operation *op, Value address) {
  Location loc = op->getLoc();
  auto type = dyn_cast<VectorType>(op->getResult(0).getType());
  if (!type)
    return callAddress(builder, loc, address, op->getOperands());
  Value all =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(
          vector::ExtractOp::create(builder, loc, operand, lane));
    all = vector::InsertOp::create(
        builder, loc, callAddress(builder, loc, address, operands), all, lane);
  }
  return all;
}

void ssa_compiler::lowerCFunctions(func::FuncOp function, Value status) {
  auto names = function->getAttrOfType<ArrayAttr>(kCFunctions);
  if (!names)
    return;
  OpBuilder builder(function.getContext());
  llvm::DenseMap<Attribute, Value> addresses;
  builder.setInsertionPointToStart(&function.getBody().front());
  Location loc = function.getLoc();
  int64_t words = cast<MemRefType>(status.getType()).getDimSize(0);
  for (auto [k, name] : llvm::enumerate(names)) {
    Value place = arith::ConstantIndexOp::create(
        builder, loc, words - static_cast<int64_t>(names.size() - k));
    addresses[name] = memref::LoadOp::create(builder, loc, status, place);
  }
  function.walk([&](Operation *op) {
    Attribute name = op->getAttr(kCFunction);
    if (!name)
      return;
    builder.setInsertionPoint(op);
    op->getResult(0).replaceAllUsesWith(
        callForElements(builder, op, addresses.at(name)));
    op->erase();
  });
}
