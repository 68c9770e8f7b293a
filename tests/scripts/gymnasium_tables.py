"""Compares our toy-text models with Gymnasium's own tables, transition by transition, and our
values with an independent policy iteration on those tables. Usage: gymnasium_tables.py AGORA"""
import collections
import csv
import pathlib
import subprocess
import sys
import tempfile

try:
    import gymnasium
    import numpy as np
except ImportError as missing:
    print(f"skipped: {missing}")
    sys.exit(77)

DISCOUNT = 0.97
DONE = -1  # our one terminal state of Taxi, which Gymnasium has only as a flag
GRID_MOVES = {
    "FrozenLake": ["left", "down", "right", "up"],
    "CliffWalking": ["up", "right", "down", "left"],
}
TAXI_ACTIONS = ["south", "north", "east", "west", "pickup", "dropoff"]
PLACES = ["R", "G", "Y", "B", "taxi"]


def newest(name):
    """The newest version of an environment that this Gymnasium has."""
    versions = [spec.version for spec in gymnasium.registry.values() if spec.name == name]
    return f"{name}-v{max(versions)}"


def problems():
    for size in ("4x4", "8x8"):
        yield f"frozenlake{size}", "FrozenLake", {"map_name": size}, int(size[0])
        yield f"frozenlake{size}(slip=0)", "FrozenLake", {"map_name": size, "is_slippery": False}, int(size[0])
    yield "cliffwalking", "CliffWalking", {}, 12
    yield "cliffwalking(slip=2/3)", "CliffWalking", {"is_slippery": True}, 12
    yield "taxi", "Taxi", {}, None


def number_of(name, columns):
    if columns is not None:
        row, column = name.split(",")
        return int(row) * columns + int(column)
    if name == "done":
        return DONE
    row, column, passenger, destination = name.split(".")
    return ((int(row) * 5 + int(column)) * 5 + PLACES.index(passenger)) * 4 + PLACES.index(destination)


def our_table(program, model, actions, columns, folder):
    """{(state, action): {next: (probability, reward)}}, terminal states."""
    file = folder / "model.csv"
    subprocess.run([program, "plan", "convert", model, "--out", str(file)], check=True,
                   capture_output=True)
    table, terminals = collections.defaultdict(dict), set()
    with open(file, newline="") as rows:
        for row in csv.DictReader(rows):
            state = number_of(row["state"], columns)
            if row["action"] == "":
                assert float(row["reward"]) == 0.0
                terminals.add(state)
                continue
            following = number_of(row["next_state"], columns)
            landings = table[state, actions.index(row["action"])]
            assert following not in landings, f"{row}: given twice"
            landings[following] = (float(row["probability"]), float(row["reward"]))
    return table, terminals


def compare_tables(model, ours, terminals, theirs):
    transitions = 0
    entered_at_the_end = set()
    for state, actions in theirs.items():
        for action, landings in actions.items():
            # Equal transitions add up. A slip and a fall may lead to one state with two rewards;
            # then their mean counts.
            expected = collections.defaultdict(lambda: np.zeros(2))
            for probability, following, reward, done in landings:
                if done and DONE in terminals:
                    following = DONE
                if state not in terminals:
                    assert done == (following in terminals), \
                        f"{model}: {state} -> {following} ends: {done}"
                if done:
                    entered_at_the_end.add(int(following))
                expected[int(following)] += (probability, probability * reward)
            if state in terminals:
                continue
            found = ours.pop((state, action))
            assert set(found) == set(expected), f"{model}: state {state}, action {action}"
            for following, (probability, earned) in expected.items():
                assert np.allclose(found[following], (probability, earned / probability),
                                   rtol=0, atol=1e-12), f"{model}: {state},{action},{following}"
                transitions += 1
    assert not ours, f"{model}: transitions that Gymnasium does not have: {list(ours)[:3]}"
    assert terminals == entered_at_the_end, f"{model}: other terminal states"
    return transitions


def policy_iteration(table):
    """Values of Gymnasium's table, by NumPy alone."""
    states, actions = len(table), len(table[0])
    probability = np.zeros((actions, states, states))
    reward = np.zeros((actions, states))
    for state in range(states):
        for action in range(actions):
            for p, following, r, done in table[state][action]:
                reward[action, state] += p * r
                if not done:
                    probability[action, state, following] += p
    policy = np.zeros(states, dtype=int)
    everyone = np.arange(states)
    while True:
        values = np.linalg.solve(np.eye(states) - DISCOUNT * probability[policy, everyone],
                                 reward[policy, everyone])
        better = reward + DISCOUNT * probability @ values
        improved = better.max(axis=0) > better[policy, everyone] + 1e-12
        if not improved.any():
            return values
        policy[improved] = better.argmax(axis=0)[improved]


def our_values(program, model, columns, folder):
    file = folder / "values.csv"
    subprocess.run([program, "plan", "solve", model, "--method", "vi", "--discount", str(DISCOUNT),
                    "--tolerance", "1e-10", "--out", str(file)], check=True, capture_output=True)
    with open(file, newline="") as rows:
        return {number_of(row["name"], columns): float(row["value"]) for row in csv.DictReader(rows)}


def main(program):
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        for model, name, options, columns in problems():
            try:
                table = gymnasium.make(newest(name), **options).unwrapped.P
            except TypeError as refused:
                print(f"{model}: this Gymnasium takes no {list(options)} ({refused})")
                continue
            actions = GRID_MOVES.get(name, TAXI_ACTIONS)
            ours, terminals = our_table(program, model, actions, columns, folder)
            transitions = compare_tables(model, ours, terminals, table)
            values = our_values(program, model, columns, folder)
            expected = policy_iteration(table)
            difference = max(abs(values[s] - expected[s]) for s in table if s not in terminals)
            assert difference < 1e-8, f"{model}: values differ by {difference}"
            print(f"{model}: {transitions} transitions agree, values within {difference:.1e}")


if __name__ == "__main__":
    main(sys.argv[1])
