#!/usr/bin/env python3
"""What checked literals and proofs cost a compiler: user time of a workspace with 10 or 100 literals and three proofs, against the same
file whose workspace has no policy and that proves nothing. Arguments: compilers."""
import os, pathlib, resource, statistics, subprocess, sys, tempfile

ROUNDS = int(os.environ.get("ROUNDS", "7"))
include = pathlib.Path(__file__).resolve().parent.parent / "include"
MAIN = "int main() {{ {0} workspace{{\".\"}}; return workspace.run(\"true\").exit_code; }}\n"


def source(literals):
    if not literals:
        return "#include <bailey/bailey.hpp>\nusing W = bailey::Workspace<>;\n" + MAIN.format("W")
    def some(share, pattern):
        return ", ".join('"' + pattern.format(i) + '"' for i in range(max(1, literals * share // 10)))
    text = "#include <bailey/bailey.hpp>\nusing namespace bailey;\n"
    text += f"using Wide = PolicySet<DomainAllowlist<{some(3, 'host-{}.service.example.com')}>, WritePolicy<Allow<{some(2, '/srv/data/{}/out')}>, "
    text += f"Deny<{some(1, 'secrets/{}')}>>, ReadPolicy<Allow<{some(2, '~/library/{}')}>>, EnvAllowlist<{some(2, 'SETTING_{}')}>>;\n"
    text += "using W = Workspace<Wide>;\nusing Offline = Workspace<Wide, DomainDenylist<\"*\">>;\nusing Reader = Workspace<Wide, ReadOnly, PrivateTmp>;\n"
    text += "using Least = Workspace<Wide, ReadOnly, PrivateTmp, MemoryLimit<1_GiB>>;\n"
    text += "static_assert(narrower_than<Offline, W>);\nstatic_assert(narrower_than<Reader, W>);\nstatic_assert(narrower_than<Least, Reader>);\n"
    return text + MAIN.format("W")


def user_seconds(compiler, path):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run([compiler, "-std=c++20", "-c", f"-I{include}", path, "-o", os.devnull], check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


with tempfile.TemporaryDirectory() as folder:
    sizes = [0, 10, 100]
    paths = []
    for size in sizes:
        paths.append(pathlib.Path(folder) / f"{size}.cpp")
        paths[-1].write_text(source(size))
    for compiler in sys.argv[1:] or ["g++", "clang++-14"]:
        times = [[user_seconds(compiler, path) for path in paths] for _ in range(ROUNDS)]
        line = f"{compiler}: no literals {statistics.median(t[0] for t in times):.2f} s"
        for at, size in list(enumerate(sizes))[1:]:
            line += f"; {size} and three proofs {statistics.median(t[at] / t[0] for t in times):.2f} times that"
        print(line)
