#!/usr/bin/env python3
"""The examples do what they say. Arguments: the built programs."""
import os, pathlib, subprocess, sys, tempfile

EXPECTED = {
    "event_loop": {"1: exited 0: one", "2: exited 2: two", "3: exited 0: three", "4: exited 0: four"},
    "stop_token": {"cancelled working"},
    "coroutine": {"1: built", "2: built", "1: tested", "2: tested"},
}

with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
    os.mkdir(f"{directory}/bin")
    os.mkdir(f"{directory}/workspace")
    os.symlink(os.environ["BAILEY_SRT"] + "/dist/cli.js", f"{directory}/bin/srt")
    os.symlink(os.environ["BAILEY_NODE"], f"{directory}/bin/node")
    environment = {**os.environ, "PATH": f"{directory}/bin:" + os.environ["PATH"]}
    for program in sys.argv[1:]:
        ran = subprocess.run([program, f"{directory}/workspace"], env=environment, capture_output=True, text=True, timeout=120)
        expected = EXPECTED[pathlib.Path(program).name]
        assert ran.returncode == 0 and set(ran.stdout.splitlines()) == expected, f"{program}: {ran.returncode}\n{ran.stdout}{ran.stderr}"
print("the examples do what they say")
