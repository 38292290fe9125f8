#!/usr/bin/env python3
"""The README's first program is examples/first.cpp, and prints what the README says. Its links lead somewhere."""
import os, pathlib, re, subprocess, sys, tempfile

root = pathlib.Path(__file__).resolve().parents[2]
program, srt, node = sys.argv[1], os.environ["BAILEY_SRT"], os.environ["BAILEY_NODE"]
readme = (root / "README.md").read_text()
code, output = (re.search(rf"```{kind}\n(.*?)```", readme, re.S).group(1) for kind in ("cpp", "text"))
assert code == (root / "examples/first.cpp").read_text(), "the README's first program is not examples/first.cpp"

for link in re.findall(r"\]\((?!http)([^)#]+)\)", readme):
    assert (root / link).exists(), f"the README links to {link}, which does not exist"

# As a user has them: srt and node on the PATH.
with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
    os.mkdir(f"{directory}/project")
    os.mkdir(f"{directory}/bin")
    os.symlink(f"{srt}/dist/cli.js", f"{directory}/bin/srt")
    os.symlink(node, f"{directory}/bin/node")
    environment = {**os.environ, "PATH": f"{directory}/bin:" + os.environ["PATH"]}
    printed = subprocess.run([program], cwd=directory, env=environment, capture_output=True, text=True, timeout=60)
    assert printed.stdout == output, f"printed:\n{printed.stdout}{printed.stderr}\nthe README says:\n{output}"
    assert os.listdir(f"{directory}/project") == [], "the program left something in its workspace"
print("the README's program prints what the README says")
