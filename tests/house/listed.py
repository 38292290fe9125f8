#!/usr/bin/env python3
"""listed.py FILE...: that the build knows every test file there is (meson reads the folders only when it is configured)."""
import subprocess
import sys

from tree import TOP, conclude

found = set()
for suite in ["unit", "static", "compile_fail", "process", "sandbox"]:
    found |= set(subprocess.run([TOP / "tools/sources", f"tests/{suite}"], capture_output=True, text=True, check=True).stdout.split())
known = set(sys.argv[1:])
conclude(
    [f"tests/{file} is {'new' if file in found else 'gone'}: run meson setup --reconfigure" for file in sorted(found ^ known)],
    f"all {len(known)} test files are built",
)
