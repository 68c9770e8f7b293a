"""The symbolic maze of src/agents/envs/maze.cpp, many at a time in NumPy, on levels that are given."""
import numpy as np

SIDE, ACTIONS, LIMIT, REWARD = 15, 15, 500, 10.0
CELLS = SIDE * SIDE


def next_cells():
    """(cells, actions): where an action leads if nothing is in the way."""
    cells = np.arange(CELLS)[:, None]
    action = np.arange(ACTIONS)[None, :]
    right = np.where(action < 9, action // 3 - 1, 0)
    down = np.where((action < 9) & (right == 0), 1 - action % 3, 0)
    row, column = cells // SIDE + down, cells % SIDE + right
    inside = (row >= 0) & (row < SIDE) & (column >= 0) & (column < SIDE)
    return np.where(inside, row * SIDE + column, cells)


def level_tables(levels):
    """What (levels, side, side, 3) bytes of beginnings say: open cells, starts, goals."""
    planes = levels.reshape(len(levels), CELLS, 3)
    return planes[:, :, 0] == 0, planes[:, :, 1].argmax(1), planes[:, :, 2].argmax(1)


class Mazes:
    def __init__(self, levels, count, seed=1):
        self.beginnings = levels.reshape(len(levels), -1)
        is_open, self.start, self.goal = level_tables(levels)
        there = next_cells()
        # (levels, cells, actions): where an action leads.
        self.leads = np.where(is_open[:, there], there, np.arange(CELLS)[:, None])
        self.rng = np.random.default_rng(seed)
        self.every = np.arange(count)
        self.steps = np.zeros(count, np.int64)
        self.begin(self.rng.integers(0, len(levels), count))

    def begin(self, level):
        self.level = level
        self.agent = self.start[level]
        self.observations = self.beginnings[level]

    def step(self, actions):
        """Rewards, terminated, and whether any episode was cut off at the limit."""
        seen, every = self.observations, self.every
        seen[every, self.agent * 3 + 1] = 0
        self.agent = self.leads[self.level, self.agent, actions]
        seen[every, self.agent * 3 + 1] = 255
        self.steps += 1
        terminated = self.agent == self.goal[self.level]
        cut = (self.steps >= LIMIT) & ~terminated
        return terminated * np.float32(REWARD), terminated, cut

    def begin_again(self, ended):
        """Begins new episodes; ended is (count) of bool."""
        which = np.flatnonzero(ended)
        if not len(which):
            return
        level = self.rng.integers(0, len(self.beginnings), len(which))
        self.level[which] = level
        self.agent[which] = self.start[level]
        self.observations[which] = self.beginnings[level]
        self.steps[which] = 0


def check_rules(levels, actions, observations, ends):
    """Replays recorded (steps, count) actions until the first end of each; the same must be seen."""
    steps, count = actions.shape
    seen = observations.reshape(steps, count, -1)
    mazes = Mazes(levels, count)
    # A level is known by its walls and its goal; the agent stands at the start of all.
    of = {level.tobytes(): k for k, level in enumerate(mazes.beginnings)}
    mazes.begin(np.array([of[one.tobytes()] for one in seen[0]]))
    running = np.ones(count, bool)
    for t in range(steps):
        assert (mazes.observations[running] == seen[t][running]).all(), f"other views at step {t}"
        _, terminated, cut = mazes.step(actions[t])
        ended = terminated.astype(np.uint8) + 2 * cut.astype(np.uint8)
        assert (ended[running] == ends[t][running]).all(), f"other ends at step {t}"
        running &= ended == 0
    assert running.sum() < count, "no episode ended"
