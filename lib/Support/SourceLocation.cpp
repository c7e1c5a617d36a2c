//===- SourceLocation.cpp - the user's line of an op ----------------------===//
//
// See the header.
//
//===----------------------------------------------------------------------===//

#include "ssa-compiler/Support/SourceLocation.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

std::optional<FileLineColLoc> ssa_compiler::getUserLine(Location loc) {
  if (auto line = dyn_cast<FileLineColLoc>(loc))
    return line;
  if (auto name = dyn_cast<NameLoc>(loc))
    return getUserLine(name.getChildLoc());
  if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    if (std::optional<FileLineColLoc> caller = getUserLine(call.getCaller()))
      return caller;
    return getUserLine(call.getCallee());
  }
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (std::optional<FileLineColLoc> line = getUserLine(part))
        return line;
  return std::nullopt;
}

std::string ssa_compiler::withSourceLine(StringRef message, Location loc) {
  std::optional<FileLineColLoc> line = getUserLine(loc);
  if (!line)
    return message.str();
  return (message + " [" + line->getFilename().getValue() + ":" +
          Twine(line->getLine()) + "]")
      .str();
}
