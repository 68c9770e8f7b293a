"""One outer iteration of each training: our compute core against JAX and PyTorch on the CPU."""
import argparse
import json
import os

from comparison import (ROOT, Server, alternate, built_program, machine, median, peers_python,
                        print_table, say)

# work: the multiple of the better peer that is asked for
WORKS = {
    "regretnet-1x2": 3, "regretnet-2x2": 3, "regretnet-3x10": 3,
    "equivariantnet-1x2": 6, "equivariantnet-2x2": 6, "equivariantnet-4x5": 6,
    "algnet-1x2": 3, "algnet-2x2": 3, "algnet-3x10": 3,
    "impala-forward": 1.5, "impala-train": 1.5,
}
SHARE = 0.6  # or this share of the machine's own matrix product


def options(arguments):
    parser = argparse.ArgumentParser(prog="bench/compare compute", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--works", default=",".join(WORKS), help="names, separated by commas")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of one turn")
    parser.add_argument("--peers", default="jax,torch")
    parser.add_argument("--python", help="an interpreter that has the peers; no environment then")
    chosen = parser.parse_args(arguments)
    for work in chosen.works.split(","):
        if work not in WORKS:
            parser.error(f"--works: expected some of {', '.join(WORKS)}, found '{work}'")
    return chosen


def main(arguments):
    chosen = options(arguments)
    ours = built_program("release", "bench_compute")
    python = peers_python("compute", ["jax", "torch"], chosen.python)
    serve = ROOT / "bench" / "peers" / "serve.py"
    core = Server("ours", [ours, "--serve", "--threads", chosen.threads])
    alone = Server("ours, 1 thread", [ours, "--serve", "--threads", 1])
    peers = [Server(name, [python, serve, name, "--threads", chosen.threads])
             for name in chosen.peers.split(",")]
    versions = [peer.read()["version"] for peer in peers]
    results, peak = [], 0.0
    for work in chosen.works.split(","):
        before = core.ask("peak", 1)["gflops"]
        times, first = alternate([core, alone, *peers], work, chosen.rounds, chosen.seconds)
        # Other work on the machine only lowers it.
        peak = max(peak, before, core.ask("peak", 1)["gflops"])
        ms = {name: median(values) for name, values in times.items()}
        say(f"compare: {work}: " + ", ".join(f"{k} {v:.2f} ms" for k, v in ms.items()))
        results.append({"work": work, "ms": ms, "asked": WORKS[work],
                        "gflops": first["ours"]["flops"] / ms["ours"] / 1e6})
    for result in results:
        ms = result["ms"]
        ratio = min(ms[peer.name] for peer in peers) / ms["ours"]
        share = result["gflops"] / peak
        result |= {"ratio": ratio, "share": share, "peak_gflops": peak,
                   "threads_speedup": ms["ours, 1 thread"] / ms["ours"],
                   "met": ratio >= result["asked"] or share >= SHARE}
    for server in (core, alone, *peers):
        server.close()
    report = {"machine": machine(), "threads": chosen.threads, "versions": versions,
              "results": results}
    if chosen.json:
        print(json.dumps(report))
        return 0
    print(f"{report['machine']}; {chosen.threads} threads; {', '.join(versions)}; "
          "medians, ms per outer iteration")
    print_table(
        ["work", "ours", *(p.name for p in peers), "ratio", "asked", "share of peak", "met",
         "1 thread", "speed-up"],
        [[r["work"], f"{r['ms']['ours']:.2f}", *(f"{r['ms'][p.name]:.1f}" for p in peers),
          f"{r['ratio']:.1f}x", f"{r['asked']}x", f"{100 * r['share']:.0f} %",
          "yes" if r["met"] else "no", f"{r['ms']['ours, 1 thread']:.2f}",
          f"{r['threads_speedup']:.2f}"] for r in results])
    return 0
