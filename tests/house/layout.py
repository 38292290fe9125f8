#!/usr/bin/env python3
"""What stands at the top of the repository, and that the version is said once."""
import re

from tree import TOP, conclude

EXPECTED = """
.ci/run CHANGELOG.md CMakeLists.txt CONTRIBUTING.md LICENSE README.md SECURITY.md benchmarks/ docs/ examples/ include/bailey/bailey.hpp meson.build
single_include/bailey/bailey.hpp subprojects/doctest.wrap subprojects/fmt.wrap tests/compile_fail/ tests/consume/ tests/house/
scripts/ tests/process/ tests/sandbox/ tests/static/ tests/unit/ tools/amalgamate tools/demo tools/picture tools/setup tools/test
""".split()

problems = [f"{name} is missing" for name in EXPECTED if not (TOP / name).exists()]
for script in EXPECTED:
    if script.startswith("tools/") and not (TOP / script).stat().st_mode & 0o100:
        problems.append(f"{script} is not executable")

version = re.search(r"^  version: '([^']+)'", (TOP / "meson.build").read_text(), re.M)[1]
for file in ["CMakeLists.txt", "tools/amalgamate", *(path.relative_to(TOP) for path in (TOP / "include").rglob("*.hpp"))]:
    if version in (TOP / file).read_text():
        problems.append(f"{file} repeats the version {version}: meson.build is the one place")

conclude(problems, "everything is where it belongs")
