#!/usr/bin/env python3
"""The examples do what they say. Arguments: the built programs."""
import http.server, os, pathlib, subprocess, sys, tempfile, threading


class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hello)
threading.Thread(target=server.serve_forever, daemon=True).start()
HERE = f"http://127.0.0.1:{server.server_port}/"
REFUSED = "the host refused, a command refused: no allowed domain covers it"

EXPECTED = {
    "event_loop": {"1: exited 0: one", "2: exited 2: two", "3: exited 0: three", "4: exited 0: four"},
    "stop_token": {"cancelled working"},
    "coroutine": {"1: built", "2: built", "1: tested", "2: tested"},
    "session_proxy": {f"{HERE}: the host 200, a command 200", f"http://unlisted.example/: {REFUSED}", f"https://unlisted.example/: {REFUSED}"},
}
ARGUMENTS = {"session_proxy": ["127.0.0.1", HERE, "http://unlisted.example/", "https://unlisted.example/"]}

with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
    os.mkdir(f"{directory}/bin")
    os.mkdir(f"{directory}/workspace")
    os.symlink(os.environ["BAILEY_SRT"] + "/dist/cli.js", f"{directory}/bin/srt")
    os.symlink(os.environ["BAILEY_NODE"], f"{directory}/bin/node")
    environment = {**os.environ, "PATH": f"{directory}/bin:" + os.environ["PATH"]}
    for program in sys.argv[1:]:
        name = pathlib.Path(program).name
        command = [program, f"{directory}/workspace", *ARGUMENTS.get(name, [])]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
        expected = EXPECTED[name]
        assert ran.returncode == 0 and set(ran.stdout.splitlines()) == expected, f"{program}: {ran.returncode}\n{ran.stdout}{ran.stderr}"
print("the examples do what they say")
