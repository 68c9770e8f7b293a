"""What the comparisons share: the peers' environment, timing servers, tables."""
import atexit
import json
import os
import pathlib
import platform
import select
import signal
import statistics
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parent.parent


def say(message):
    print(message, file=sys.stderr, flush=True)


def built_program(preset, target):
    """Path of build/PRESET/bench/TARGET, built if need be."""
    program = ROOT / "build" / preset / "bench" / target
    if not program.exists():
        say(f"compare: building {target}")
        subprocess.run(["cmake", "--preset", preset], cwd=ROOT, check=True, stdout=sys.stderr)
        subprocess.run(["cmake", "--build", "--preset", preset, "--target", target], cwd=ROOT,
                       check=True, stdout=sys.stderr)
    return program


def peers_python(name, packages, python=None):
    """An interpreter that has the packages: the given one, or a virtual environment of ours."""
    if python:
        return python
    folder = ROOT / "build" / f"peers-{name}"
    interpreter = folder / "bin" / "python"
    done = folder / "installed.json"
    if not done.exists() or json.loads(done.read_text()) != packages:
        say(f"compare: installing {', '.join(packages)} into {folder}")
        venv.create(folder, with_pip=True)
        subprocess.run([interpreter, "-m", "pip", "install", "--quiet", *packages], check=True,
                       stdout=sys.stderr)
        done.write_text(json.dumps(packages))
    return interpreter


class Server:
    """A process that answers each line `WORK REPS` by one line of JSON.

    It is stopped between answers: idle thread pools that spin would take a core from the others.
    """

    def __init__(self, name, command):
        self.name = name
        environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        self.process = subprocess.Popen([str(c) for c in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, env=environment)
        atexit.register(self.process.kill)  # a stopped one would outlive a comparison that failed

    def read(self, seconds=None):
        """The next answer. With a limit in `seconds`: None, and the end of the process, without."""
        if seconds is not None and not select.select([self.process.stdout], [], [], seconds)[0]:
            self.process.kill()
            self.process.wait()
            return None
        line = self.process.stdout.readline()
        if not line and seconds is not None:
            self.process.wait()
            return None
        if not line:
            raise SystemExit(f"compare: {self.name} ended with status {self.process.wait()}")
        return json.loads(line)

    def ask(self, work, reps, seconds=None):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.write(f"{work} {reps}\n")
        self.process.stdin.flush()
        answer = self.read(seconds)
        if answer is not None:
            self.process.send_signal(signal.SIGSTOP)
        return answer

    def close(self):
        self.process.send_signal(signal.SIGCONT)
        self.process.stdin.close()
        self.process.wait()


def alternate(servers, work, rounds, seconds, measure="ms"):
    """Milliseconds of every repetition by server; the servers take turns, round by round.

    By the clock, or with "cpu_ms" of the processor, which other work on the machine changes less.
    Each turn lasts about `seconds`, so that fast works are repeated more often.
    """
    first = {s.name: s.ask(work, 1) for s in servers}
    reps = {name: max(1, min(200, int(1e3 * seconds / max(a["ms"][0], 1e-3))))
            for name, a in first.items()}
    times = {s.name: [] for s in servers}
    for _ in range(rounds):
        for server in servers:
            times[server.name] += server.ask(work, reps[server.name])[measure]
    return times, first


def median(values):
    return statistics.median(values)


def machine():
    model = platform.processor() or platform.machine()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return f"{model}, {os.cpu_count()} cores"


def print_table(header, rows):
    cells = [header] + [[str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for index, row in enumerate(cells):
        print("  ".join(c.ljust(w) if i == 0 else c.rjust(w)
                        for i, (c, w) in enumerate(zip(row, widths))))
        if index == 0:
            print("  ".join("-" * w for w in widths))
