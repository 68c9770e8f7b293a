"""serve.py FRAMEWORK --threads N: times works of a peer on request.

Each line `WORK REPS` on standard input is answered by one line of JSON: {"work", "ms": [...]}.
The first request for a work builds it and runs it once before timing.
"""
import argparse
import importlib
import json
import os
import sys
import time


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("framework", choices=["jax", "torch"])
    parser.add_argument("--threads", type=int, required=True)
    arguments = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.threads])
    if arguments.framework == "torch":
        import torch
        torch.set_num_threads(arguments.threads)
        version = torch.__version__
    else:
        os.environ["JAX_PLATFORMS"] = "cpu"
        import jax
        version = jax.__version__
    print(json.dumps({"version": f"{arguments.framework} {version}"}), flush=True)
    made = {}
    for line in sys.stdin:
        work, reps = line.split()
        if work not in made:
            family = "impala" if work.startswith("impala") else "auctions"
            made[work] = importlib.import_module(f"{arguments.framework}_{family}").make(work)
            made[work]()
        times = []
        for _ in range(int(reps)):
            start = time.perf_counter()
            made[work]()
            times.append(1e3 * (time.perf_counter() - start))
        print(json.dumps({"work": work, "ms": times}), flush=True)


if __name__ == "__main__":
    main()
