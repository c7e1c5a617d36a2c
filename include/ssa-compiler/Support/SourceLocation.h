//===- SourceLocation.h - the user's line of an op --------------*- C++ -*-===//
//
// Run-time errors name the line of the user's program. The importer gives calls
// call-site locations whose outermost caller is that line.
//
//===----------------------------------------------------------------------===//

#ifndef SSA_COMPILER_SUPPORT_SOURCELOCATION_H
#define SSA_COMPILER_SUPPORT_SOURCELOCATION_H

#include "mlir/IR/Location.h"

#include <optional>
#include <string>

namespace ssa_compiler {

/// The file and line that the user wrote: that of the outermost caller.
std::optional<mlir::FileLineColLoc> getUserLine(mlir::Location loc);

/// `message` followed by ` [file:line]` if `loc` has a line.
std::string withSourceLine(llvm::StringRef message, mlir::Location loc);

} // namespace ssa_compiler

#endif // SSA_COMPILER_SUPPORT_SOURCELOCATION_H
