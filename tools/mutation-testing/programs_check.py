"""Runs the test programs and random ones through the interpreter and says how each one ended.

    SSA_OPT=path python tools/mutation-testing/programs_check.py --record baseline.json
    SSA_OPT=path python tools/mutation-testing/programs_check.py --compare baseline.json

--compare stops at the first program that ends in another way than recorded: a wrong result, a crash of ssa-opt, or a
program that is rejected now. It prints its name and exits with 1.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / folder) for folder in ("python", "test/python", "examples")]
RANDOM_PROGRAMS = 40


def _programs(folder: Path) -> Iterator[tuple[str, Any, Any]]:
    from programs import PROGRAMS
    from ssa_compiler.testing.fuzz import generate, load

    for seed in range(RANDOM_PROGRAMS):
        loaded = load(generate(seed).text, folder, f"random_{seed}")
        yield f"random {seed}", loaded.model, loaded.calls
    for program in PROGRAMS.values():
        yield program.name, program.make(), program.calls()


def _outcome(model: Any, calls: Any) -> str:
    from ssa_compiler import SsaCompilerError
    from ssa_compiler.testing import StageMismatch, check

    try:
        check(model, *calls, compiled=False, rejections=True)
    except StageMismatch as mismatch:
        return f"wrong in stage {mismatch.stage}"
    except SsaCompilerError as error:
        return f"rejected: {type(error).__name__}"
    except Exception as error:
        return f"error: {type(error).__name__}"
    return "equal"


def main() -> int:
    """Record or compare the outcomes."""
    warnings.simplefilter("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", type=Path, help="write the outcomes there")
    parser.add_argument("--compare", type=Path, help="outcomes to compare with")
    options = parser.parse_args()
    expected: dict[str, str] = json.loads(options.compare.read_text()) if options.compare else {}
    outcomes: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, model, calls in _programs(Path(folder)):
            outcomes[name] = _outcome(model, calls)
            if options.compare and outcomes[name] != expected.get(name):
                print(f"{name}: {outcomes[name]}, expected: {expected.get(name)}")
                return 1
    if options.record:
        options.record.write_text(json.dumps(outcomes, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
