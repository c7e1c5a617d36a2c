# Configuration of the lit suite. LLVM's own FileCheck and not are used wherever they are; the Python port of FileCheck
# is not the same program and only stands in where LLVM's is missing.
import os
import shutil
import sys

import lit.formats

config.name = "ssa-compiler"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.ssa_obj_root, "test", "lit")

tool_dirs = [
    os.path.join(config.ssa_obj_root, "bin"),
    config.llvm_tools_dir,
    os.path.dirname(sys.executable),
]
path = os.pathsep.join([*tool_dirs, os.environ.get("PATH", "")])
config.environment["PATH"] = path

file_check = shutil.which("FileCheck", path=path)
if file_check:
    config.substitutions.append((r"\bFileCheck\b", f"{file_check} --enable-var-scope"))
    config.available_features.add("llvm-filecheck")
else:
    port = shutil.which("filecheck", path=path)
    if not port:
        lit_config.fatal("FileCheck was not found: install llvm-22-tools (or `pip install filecheck`)")
    config.substitutions.append((r"\bFileCheck\b", port))
if not shutil.which("not", path=path):
    config.substitutions.append((r"^not\b", "!"))
