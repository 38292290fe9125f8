#!/usr/bin/env python3
"""What including bailey costs a compiler: user time against a file that includes only fmt, <string>, <vector> and <chrono>."""
import os, pathlib, resource, statistics, subprocess, sys, tempfile

ROUNDS = int(os.environ.get("ROUNDS", 21))
include = pathlib.Path(__file__).resolve().parent.parent / "include"
BASE = "#include <fmt/format.h>\n#include <string>\n#include <vector>\n#include <chrono>\nint main() {}\n"
BAILEY = "#include <bailey/bailey.hpp>\nint main() {}\n"

def user_seconds(compiler, source):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([compiler, "-std=c++20", "-c", f"-I{include}", source, "-o", os.devnull], check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

with tempfile.TemporaryDirectory() as directory:
    sources = []
    for name, text in ("base", BASE), ("bailey", BAILEY):
        path = pathlib.Path(directory) / f"{name}.cpp"
        path.write_text(text)
        sources.append(path)
    for compiler in sys.argv[1:] or ["g++", "clang++-14"]:
        times = [[], []]
        for round in range(ROUNDS):
            for which in (0, 1) if round % 2 else (1, 0):
                times[which].append(user_seconds(compiler, sources[which]))
        ratio = statistics.median(b / a for a, b in zip(*times))
        print(f"{compiler}: base {statistics.median(times[0]):.2f} s, bailey {statistics.median(times[1]):.2f} s, ratio {ratio:.2f}")
