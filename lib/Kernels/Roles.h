//===- Roles.h - what the arguments of kernels are for ----------*- C++ -*-===//

#ifndef SSA_COMPILER_LIB_KERNELS_ROLES_H
#define SSA_COMPILER_LIB_KERNELS_ROLES_H

#include "CLibrary.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"

namespace ssa_compiler {

/// The attribute of an argument that says what it is for.
inline constexpr llvm::StringLiteral kRole = "kernel.role";

inline llvm::StringRef getRole(mlir::func::FuncOp function, unsigned argument) {
  auto role = function.getArgAttrOfType<mlir::StringAttr>(argument, kRole);
  return role ? role.getValue() : "";
}

inline void setRole(mlir::func::FuncOp function, unsigned argument,
                    llvm::StringRef role) {
  function.setArgAttr(argument, kRole,
                      mlir::StringAttr::get(function.getContext(), role));
}

/// Whether an argument is one of the function that the kernel stands for.
inline bool isGiven(mlir::func::FuncOp function, unsigned argument) {
  llvm::StringRef role = getRole(function, argument);
  return role == "input" || role == "written";
}

/// The argument that a result is the new contents of, if a kernel can write
/// them there.
inline std::optional<unsigned> getWrittenArgument(mlir::func::FuncOp function,
                                                  unsigned result) {
  auto number =
      function.getResultAttrOfType<mlir::IntegerAttr>(result, "tssa.writeback");
  if (!number)
    return std::nullopt;
  unsigned argument = number.getInt();
  auto type =
      mlir::dyn_cast<mlir::ShapedType>(function.getArgumentTypes()[argument]);
  if (!type || type != function.getResultTypes()[result])
    return std::nullopt;
  return argument;
}

/// The words of the status buffer: what has failed, whether the kernel is to
/// stop, and the scalar results.
inline constexpr int64_t kFailure = 0, kInterrupt = 1, kFirstScalar = 2;

/// The messages of assertions that the caller of a kernel answers itself: it
/// was told to stop; its workspace is too small.
inline constexpr llvm::StringLiteral kInterrupted = "interrupted",
                                     kNoSpace = "workspace";

/// The message of an assertion that stops a thread after another one has failed
/// and told the caller why.
inline constexpr llvm::StringLiteral kStopped = "stopped";

/// The attribute of a function that says how many threads run it.
inline constexpr llvm::StringLiteral kThreads = "kernel.threads";

/// The attribute of a function that says how many workgroups of these threads
/// run it, if they are more than one: a power of two.
inline constexpr llvm::StringLiteral kWorkgroups = "kernel.workgroups";

inline int64_t getWorkgroups(mlir::func::FuncOp function) {
  auto count = function->getAttrOfType<mlir::IntegerAttr>(kWorkgroups);
  return count ? count.getInt() : 1;
}

/// The function `(position, bits)` that keeps a number for the message of the
/// assertion behind its call.
inline constexpr llvm::StringLiteral kNote = "kernel.note";

/// The attribute of a function that says how many numbers it keeps so.
inline constexpr llvm::StringLiteral kNotes = "kernel.notes";

inline bool isNote(mlir::func::CallOp call) {
  return call.getCallee() == kNote;
}

/// The most numbers that a message of an assertion in a function has.
int64_t countNotes(mlir::func::FuncOp function);

/// The status buffer: the words above, the numbers of a message, and the
/// addresses of functions of the C library.
inline mlir::MemRefType getStatusType(mlir::func::FuncOp function,
                                      int64_t scalars) {
  return mlir::MemRefType::get(
      {kFirstScalar + scalars + countNotes(function) +
       countCFunctions(function)},
      mlir::IntegerType::get(function.getContext(), 64));
}

} // namespace ssa_compiler

#endif // SSA_COMPILER_LIB_KERNELS_ROLES_H
