"""One outer iteration of each training on a GPU: ours, JAX with the whole iteration jitted, and PyTorch."""
import argparse
import json
import os
import subprocess

from comparison import (ROOT, Server, alternate, built_program, machine, median, peers_python,
                        print_table, say)

# work: milliseconds that are asked for on an H200
WORKS = {
    "regretnet-1x2": .2, "regretnet-2x2": .2, "regretnet-3x10": .4, "regretnet-5x10": .5,
    "equivariantnet-1x2": .3, "equivariantnet-2x2": .5, "equivariantnet-4x5": 2,
    "algnet-1x2": 2, "algnet-2x2": 3, "algnet-3x10": 6, "algnet-5x10": 10,
}
# What float products can reach there: three products of tensor cores at 495 TFLOP/s each.
PEAK_TFLOPS = 495 / 3


def options(arguments):
    parser = argparse.ArgumentParser(prog="bench/compare gpu", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--works", default=",".join(WORKS), help="names, separated by commas")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of one turn")
    parser.add_argument("--peers", default="jax,torch")
    parser.add_argument("--program", help="bench_compute of a build that is here already")
    parser.add_argument("--python", help="an interpreter that has the peers; no environment then")
    chosen = parser.parse_args(arguments)
    for work in chosen.works.split(","):
        if work not in WORKS:
            parser.error(f"--works: expected some of {', '.join(WORKS)}, found '{work}'")
    return chosen


def gpu():
    """The name of the GPU; the end of the comparison where there is none."""
    try:
        asked = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                               capture_output=True, text=True, check=True)
        return asked.stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError):
        raise SystemExit("compare: nvidia-smi shows no GPU on this machine")


def main(arguments):
    chosen = options(arguments)
    name = gpu()
    ours = chosen.program or built_program("cuda", "bench_compute")
    peers = [p for p in chosen.peers.split(",") if p]
    python = peers_python("gpu", ["jax[cuda13]", "torch"], chosen.python) if peers else None
    serve = ROOT / "bench" / "peers" / "serve.py"
    threads = os.cpu_count()
    core = Server("ours", [ours, "--serve", "--device", "cuda"])
    others = [Server(p, [python, serve, p, "--threads", threads, "--device", "cuda"])
              for p in peers]
    versions = [other.read()["version"] for other in others]
    results = []
    for work in chosen.works.split(","):
        times, first = alternate([core, *others], work, chosen.rounds, chosen.seconds)
        ms = {server: median(values) for server, values in times.items()}
        say(f"compare: {work}: " + ", ".join(f"{k} {v:.3f} ms" for k, v in ms.items()))
        bound = first["ours"]["flops"] / (PEAK_TFLOPS * 1e9)
        results.append({"work": work, "ms": ms, "asked_ms": WORKS[work], "bound_ms": bound,
                        "share": bound / ms["ours"], "met": ms["ours"] <= WORKS[work]})
    for server in (core, *others):
        server.close()
    report = {"machine": f"{name}; {machine()}", "versions": versions, "results": results}
    if chosen.json:
        print(json.dumps(report))
        return 0
    print(f"{report['machine']}; {', '.join(versions)}; medians, ms per outer iteration")
    print_table(
        ["work", "ours", *peers, *(f"{p} / ours" for p in peers), "asked", "met", "bound", "share"],
        [[r["work"], f"{r['ms']['ours']:.3f}", *(f"{r['ms'][p]:.2f}" for p in peers),
          *(f"{r['ms'][p] / r['ms']['ours']:.1f}x" for p in peers), f"{r['asked_ms']:g}",
          "yes" if r["met"] else "no", f"{r['bound_ms']:.4f}", f"{100 * r['share']:.1f} %"]
         for r in results])
    return 0
