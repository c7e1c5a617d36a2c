# Makes MLIR's imported targets link LLVM statically.
#
# Distributions build MLIR against the libLLVM shared library, and say so in the interface of every MLIR target. This
# replaces that name by the static components that MLIR needs, and drops the compression and solver libraries, which
# nothing in ssa-opt uses.

set(SSA_COMPILER_LLVM_COMPONENTS
  LLVMSupport LLVMCore LLVMDemangle LLVMBitstreamReader LLVMTargetParser LLVMBinaryFormat LLVMRemarks)

get_property(_mlir_targets GLOBAL PROPERTY MLIR_ALL_LIBS)
set(_static_candidates ${MLIR_EXPORTED_TARGETS} ${LLVM_AVAILABLE_LIBS})
foreach(_target IN LISTS _static_candidates)
  if(NOT TARGET ${_target})
    continue()
  endif()
  get_target_property(_type ${_target} TYPE)
  if(_type STREQUAL "EXECUTABLE")
    continue()
  endif()
  get_target_property(_libs ${_target} INTERFACE_LINK_LIBRARIES)
  if(NOT _libs)
    continue()
  endif()
  set(_new)
  foreach(_lib IN LISTS _libs)
    if(_lib STREQUAL "LLVM")
      list(APPEND _new ${SSA_COMPILER_LLVM_COMPONENTS})
    elseif(NOT _lib MATCHES "z3|ZLIB|zstd|LibXml2|libxml2|tinfo|Terminfo")
      list(APPEND _new ${_lib})
    endif()
  endforeach()
  set_target_properties(${_target} PROPERTIES INTERFACE_LINK_LIBRARIES "${_new}")
endforeach()
