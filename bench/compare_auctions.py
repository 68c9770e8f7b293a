"""Running, auditing, training and computing mechanisms: ours against JAX, PyTorch, NumPy and HiGHS.

Ours publishes weights, bids and starts; a peer is timed only after it found the same with them.
"""
import argparse
import json
import os
import tempfile

from comparison import (ROOT, Server, alternate, built_program, machine, median, peers_python,
                        print_table, say)

PACKAGES = ["jax", "torch", "numpy", "highspy", "safetensors"]
PEERS = ["jax", "torch", "numpy"]
NETWORKS = ["jax", "torch"]
# work: (peers, what is counted, the number of it per second that is asked for or None)
WORKS = {
    "run-equivariantnet-2x2": (NETWORKS, "profiles", 500_000),
    "run-vcg-3x10": (["torch", "numpy"], "profiles", None),
    "run-entry-fees-8x20": (["numpy"], "profiles", None),
    "run-tariff-3x10": ([], "profiles", 500_000),
    "run-tariff-3x10-files": ([], "profiles", 500_000),
    "audit-regretnet-2x2": (NETWORKS, "profiles", 10_000 / 300),
    "train-regretnet-1x2": (NETWORKS, "iterations", None),
    "train-regretnet-2x2": (NETWORKS, "iterations", None),
    "train-equivariantnet-2x2": (NETWORKS, "iterations", None),
    "train-algnet-1x2": (NETWORKS, "iterations", None),
    "train-algnet-2x2": (NETWORKS, "iterations", None),
    "lp-1x2-50": (["numpy"], "programs", None),
}
AGREEMENT = 1e-5  # of what is found, relative to numbers above 1


def options(arguments):
    parser = argparse.ArgumentParser(prog="bench/compare auctions", description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--works", default=",".join(WORKS), help="names, separated by commas")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of one turn")
    parser.add_argument("--peers", default=",".join(PEERS), help="'' for none")
    parser.add_argument("--python", help="an interpreter that has the peers; no environment then")
    chosen = parser.parse_args(arguments)
    for name, known in (("works", WORKS), ("peers", PEERS)):
        for word in filter(None, getattr(chosen, name).split(",")):
            if word not in known:
                parser.error(f"--{name}: expected some of {', '.join(known)}, found '{word}'")
    return chosen


def check_agreement(work, first):
    """What every server found in its first two runs, or the end of the comparison."""
    ours = first["ours"]["answers"]
    for name, answer in first.items():
        for mine, theirs in zip(ours, answer["answers"], strict=True):
            for key, value in mine.items():
                if abs(theirs[key] - value) > AGREEMENT * max(1, abs(value)):
                    raise SystemExit(f"compare: {work}: {key} is {value} by ours, "
                                     f"{theirs[key]} by {name}")
    return ours


def measure(chosen, folder):
    ours = Server("ours", [built_program("release", "bench_auctions"), "--serve", "--threads",
                           chosen.threads, "--inputs", folder])
    names = list(filter(None, chosen.peers.split(",")))
    peers = {}
    if names:
        python = peers_python("auctions", PACKAGES, chosen.python)
        serve = ROOT / "bench" / "peers" / "serve.py"
        peers = {name: Server(name, [python, serve, name, "--threads", chosen.threads, "--inputs",
                                     folder]) for name in names}
    versions = [peer.read()["version"] for peer in peers.values()]
    results, peak = [], 0.0
    for work in chosen.works.split(","):
        known, unit, asked = WORKS[work]
        servers = [ours, *(peers[name] for name in names if name in known)]
        before = ours.ask("peak", 1)["gflops"]
        times, first = alternate(servers, work, chosen.rounds, chosen.seconds)
        # Other work on the machine only lowers it.
        peak = max(peak, before, ours.ask("peak", 1)["gflops"])
        found = check_agreement(work, first)
        ms = {name: median(values) for name, values in times.items()}
        say(f"compare: {work}: " + ", ".join(f"{k} {v:.2f} ms" for k, v in ms.items()))
        rate = 1e3 * first["ours"]["amount"] / ms["ours"]
        results.append({"work": work, "ms": ms, "found": found, "rate": rate, "unit": unit,
                        "asked": asked, "met": asked and rate >= asked,
                        "ratio": min((v for k, v in ms.items() if k != "ours"), default=0)
                        / ms["ours"], "gflops": first["ours"]["flops"] / ms["ours"] / 1e6})
    for server in (ours, *peers.values()):
        server.close()
    for result in results:
        result |= {"peak_gflops": peak, "share": result["gflops"] / peak}
    return {"machine": machine(), "threads": chosen.threads, "versions": versions,
            "results": results}


def main(arguments):
    chosen = options(arguments)
    with tempfile.TemporaryDirectory() as folder:
        report = measure(chosen, folder)
    if chosen.json:
        print(json.dumps(report))
        return 0
    names = list(filter(None, chosen.peers.split(",")))
    print(f"{report['machine']}; {chosen.threads} threads; {', '.join(report['versions'])}; "
          "medians, ms")
    print_table(
        ["work", "ours", *names, "ratio", "share of peak", "per second", "", "asked", "met"],
        [[r["work"], f"{r['ms']['ours']:.2f}",
          *(f"{r['ms'][name]:.1f}" if name in r["ms"] else "-" for name in names),
          f"{r['ratio']:.1f}x" if r["ratio"] else "-",
          f"{100 * r['share']:.0f} %" if r["share"] else "-",
          f"{r['rate']:,.0f}" if r["rate"] >= 100 else f"{r['rate']:.2f}", r["unit"],
          f"{r['asked']:,.0f}" if r["asked"] else "-",
          {True: "yes", False: "no", None: "-"}[r["met"]]] for r in report["results"]])
    return 0
