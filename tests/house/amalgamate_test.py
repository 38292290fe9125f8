#!/usr/bin/env python3
"""That tools/amalgamate keeps order, hoists only what is safe, and sees what would leak."""
import subprocess
import tempfile
from pathlib import Path

from tree import TOP, conclude

TREE = {
    "bailey.hpp": "// umbrella\n#pragma once\n#include <bailey/a.hpp>\n#include <bailey/b.hpp>\n",
    "a.hpp": "// a\n#pragma once\n#include <vector>\n#include <string>\n#if defined(X)\n#include <sys/x.h>\n#endif\nint a;\n",
    "b.hpp": "#pragma once\n#include <string>\n#include <bailey/a.hpp>\nint b;\n#include <bailey/c.hpp>\nint b2;\n",
    "c.hpp": "#pragma once\n#define BAILEY_C 1\nint c = BAILEY_C;\n#undef BAILEY_C\n",
}


def amalgamate(changes={}, *options):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (TREE | changes).items():
            path = Path(folder) / "bailey" / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        output = Path(folder) / "out.hpp"
        command = [TOP / "tools/amalgamate", "--include", folder, "--output", output]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return done.stderr
        text = output.read_text()
        assert subprocess.run([*command, "--check"]).returncode == 0, "a fresh output passes --check"
        output.write_text(text + "\n")
        assert subprocess.run([*command, "--check"], capture_output=True).returncode == 1, "a changed one does not"
        return text


text = amalgamate()
at = [text.find(piece) for piece in ["#pragma once", "<string>", "<vector>", "// a\n", "<sys/x.h>", "int a;", "int b;", "int c =", "int b2;"]]
problems = []
if at != sorted(at) or -1 in at:
    problems.append(f"the order is wrong: {at}\n{text}")
problems += [f"{piece} stands {text.count(piece)} times" for piece in ["#pragma once", "<string>", "int a;"] if text.count(piece) != 1]
if "<bailey/" in text:
    problems.append("an include of ours is left")
for changes, sentence in [
    ({"c.hpp": "#define BAILEY_C 1\n"}, "bailey/c.hpp:1: BAILEY_C is defined and never undefined"),
    ({"c.hpp": "#if X\n#include <bailey/a.hpp>\n#endif\n"}, "included under #if"),
    ({"c.hpp": '#include "a.hpp"\n'}, "write <bailey/...>"),
    ({"c.hpp": "#include <bailey/d.hpp>\n"}, "no such file"),
]:
    if sentence not in (got := amalgamate(changes)):
        problems.append(f"expected '{sentence}', got: {got}")
conclude(problems, "amalgamate keeps order and sees leaks")
