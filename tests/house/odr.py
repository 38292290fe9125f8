#!/usr/bin/env python3
"""odr.py COMPILER FLAGS...: two translation units with every header link: nothing at namespace scope lacks inline or constexpr."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tree import conclude, headers

everything = "".join(f"#include <{header}>\n" for header in headers())
with tempfile.TemporaryDirectory() as folder:
    one, two = Path(folder) / "one.cpp", Path(folder) / "two.cpp"
    one.write_text(everything + "int other();\nint main() { return other(); }\n")
    two.write_text(everything + "int other() { return 0; }\n")
    program = Path(folder) / "program"
    # -Wunused: a static or unnamed-namespace function would be a copy in every translation unit, and link all the same.
    done = subprocess.run([*sys.argv[1:], "-DFMT_HEADER_ONLY", "-Wunused", "-Werror", one, two, "-o", program], capture_output=True, text=True)
    problems = [done.stderr] if done.returncode or subprocess.run([program]).returncode else []
conclude(problems, "two translation units with every header link")
