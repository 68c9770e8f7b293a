"""Other people's planners on the benchmark grid: lines `WORK REPS` in, JSON out."""
import json
import sys
import tempfile
import time

import numpy as np
import scipy.sparse as sparse

DISCOUNT, TOLERANCE = 0.99, 1e-4


def grid(n, seed=1):
    """Successors (states, 4) of the free cells; the goal keeps itself at no cost."""
    with np.errstate(over="ignore"):
        x = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + np.arange(n * n, dtype=np.uint64)
        x = x + np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
    wall = (x >> np.uint64(11)).astype(np.float64) < 0.2 * 2.0**53
    goal_cell = (n // 2) * n + n // 2
    wall[goal_cell] = False
    free = np.flatnonzero(~wall)
    state_of = np.full(n * n, -1)
    state_of[free] = np.arange(len(free))
    row, col = free // n, free % n
    successors = np.empty((len(free), 4), dtype=np.int64)
    moves = [(row > 0, -n), (col < n - 1, 1), (row < n - 1, n), (col > 0, -1)]
    for a, (inside, step) in enumerate(moves):
        to = np.where(inside, state_of[np.where(inside, free + step, 0)], -1)
        successors[:, a] = np.where(to < 0, np.arange(len(free)), to)
    goal = state_of[goal_cell]
    successors[goal] = goal
    rewards = np.full((len(free), 4), -1.0)
    rewards[goal] = 0.0
    return successors, rewards, goal


def matrices(successors):
    n = len(successors)
    ones = np.ones(n)
    return [sparse.csr_matrix((ones, (np.arange(n), successors[:, a])), shape=(n, n))
            for a in range(4)]


def quantecon_solver(successors, rewards):
    from quantecon.markov import DiscreteDP
    n = len(successors)
    q = sparse.csr_matrix((np.ones(4 * n), (np.arange(4 * n), successors.ravel())),
                          shape=(4 * n, n))
    problem = DiscreteDP(rewards.ravel(), q, DISCOUNT, np.repeat(np.arange(n), 4),
                         np.tile(np.arange(4), n))
    return lambda: problem.solve(method="value_iteration", epsilon=2 * TOLERANCE,
                                 max_iter=100000).v


def pymdptoolbox_solver(successors, rewards):
    import mdptoolbox.mdp
    mdptoolbox.util.check = lambda p, r: None  # it would make a dense states x states matrix
    solver = mdptoolbox.mdp.ValueIteration(matrices(successors), rewards, DISCOUNT,
                                           epsilon=2 * TOLERANCE)
    start = solver.V

    def run():
        solver.V, solver.iter, solver.max_iter = start, 0, 100000
        solver.run()
        return np.array(solver.V)
    return run


def mdpsolver_solver(successors, rewards):
    import mdpsolver
    probabilities = [[[1.0]] * 4] * len(successors)
    columns = [[[int(t)] for t in row] for row in successors]

    solver = mdpsolver.model()
    solver.mdp(discount=DISCOUNT, rewards=rewards.tolist(), tranMatProbs=probabilities,
               tranMatColumns=columns)

    def run():
        solver.solve(algorithm="vi", tolerance=TOLERANCE)
        return np.array(solver.getValueVector())
    return run


def write_drn(successors, rewards, file):
    """Storm's format, as docs/models.md has it."""
    with open(file, "w") as out:
        out.write("@type: MDP\n@value_type: double\n@parameters\n\n@reward_models\nreward\n"
                  f"@nr_states\n{len(successors)}\n@nr_choices\n{4 * len(successors)}\n@model\n")
        for state, (row, earned) in enumerate(zip(successors.tolist(), rewards.tolist())):
            out.write(f"state {state} [0]{' init' if state == 0 else ''}\n")
            for action in range(4):
                out.write(f"\taction {action} [{earned[action]}]\n\t\t{row[action]} : 1\n")


def stormpy_solver(successors, rewards):
    import stormpy
    import stormpy.environments
    with tempfile.NamedTemporaryFile(suffix=".drn") as file:
        write_drn(successors, rewards, file.name)
        model = stormpy.build_model_from_drn(file.name)
    wanted = stormpy.parse_properties('R{"reward"}max=? [Cdiscount=99/100]')[0]
    environment = stormpy.environments.default(model)
    method = environment.solver().min_max()
    method.method = stormpy.environments.MinMaxMethod.VALUE_ITERATION
    method.precision = stormpy.Rational("1/10000")
    method.relative_termination_criterion = False
    return lambda: np.array(stormpy.model_checking(model, wanted, environment=environment)
                            .get_value_vector())


SOLVERS = {"stormpy": stormpy_solver, "quantecon": quantecon_solver, "pymdptoolbox": pymdptoolbox_solver,
           "mdpsolver": mdpsolver_solver}


def main():
    name = sys.argv[1]
    side = int(sys.argv[2])
    successors, rewards, goal = grid(side)
    solver = SOLVERS[name](successors, rewards)
    from importlib.metadata import version
    print(json.dumps({"version": f"{name} {version(name)}"}), flush=True)
    for line in sys.stdin:
        _, reps = line.split()
        times, values = [], None
        for _ in range(int(reps)):
            begin = time.perf_counter()
            values = solver()
            times.append(1e3 * (time.perf_counter() - begin))
        print(json.dumps({"ms": times, "states": len(successors),
                          "least": float(np.min(values))}), flush=True)


if __name__ == "__main__":
    main()
