"""PPO on the symbolic maze in JAX, as in torch_ppo.py: an iteration, environment included, is one
compiled program."""
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np

from inputs import load
from maze import ACTIONS, CELLS, LIMIT, REWARD, check_rules, level_tables, next_cells

ROLLOUT, COUNT, EPOCHS, MINIBATCHES = 256, 64, 3, 8
DISCOUNT, LAMBDA, CLIP, ENTROPY, VALUE, MAX_NORM = 0.999, 0.95, 0.2, 0.01, 0.5, 0.5
REWARD_DISCOUNT, MOST_REWARD = 0.99, 10.0
RATE, EPSILON = 5e-4, 1e-5
tree = jax.tree_util.tree_map


def network(params, seen):
    x = seen.reshape(len(seen), -1).astype(jnp.float32) / 255
    for name in ("trunk.0", "trunk.1"):
        x = jax.nn.relu(x @ params[f"{name}.weight"] + params[f"{name}.bias"])
    logits = x @ params["actor.weight"] + params["actor.bias"]
    return logits, (x @ params["critic.weight"] + params["critic.bias"])[:, 0]


def chosen_log_probs(log_probs, actions):
    return jnp.take_along_axis(log_probs, actions[:, None], 1)[:, 0]


def ppo_loss(params, batch):
    logits, value = network(params, batch["seen"])
    log_probs = jax.nn.log_softmax(logits)
    advantage = batch["advantage"]
    ratio = jnp.exp(chosen_log_probs(log_probs, batch["action"]) - batch["log_prob"])
    policy = -jnp.minimum(ratio * advantage,
                          jnp.clip(ratio, 1 - CLIP, 1 + CLIP) * advantage).mean()
    near = batch["value"] + jnp.clip(value - batch["value"], -CLIP, CLIP)
    value_loss = 0.5 * jnp.maximum((value - batch["return"])**2,
                                   (near - batch["return"])**2).mean()
    entropy = -(jnp.exp(log_probs) * log_probs).sum(-1).mean()
    return policy + VALUE * value_loss - ENTROPY * entropy, (value_loss, entropy)


def norm_of(grads):
    return jnp.sqrt(sum((g * g).sum() for g in jax.tree_util.tree_leaves(grads)))


def adam(params, grads, state):
    first, second, step = state
    step = step + 1
    first = tree(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
    second = tree(lambda v, g: 0.999 * v + 0.001 * g * g, second, grads)
    scale1, scale2 = 1 / (1 - 0.9**step), 1 / (1 - 0.999**step)
    params = tree(lambda p, m, v: p - RATE * m * scale1 / (jnp.sqrt(v * scale2) + EPSILON),
                  params, first, second)
    return params, (first, second, step)


def learn(carry, batch):
    params, state = carry
    grads = jax.grad(ppo_loss, has_aux=True)(params, batch)[0]
    scale = jnp.minimum(1, MAX_NORM / (norm_of(grads) + 1e-6))
    return adam(params, tree(lambda g: g * scale, grads), state), None


def scale_rewards(scale, rewards, ended):
    returns, mean, variance, count = scale
    returns = REWARD_DISCOUNT * returns + rewards
    total, delta = count + COUNT, returns.mean() - mean
    variance = (variance * count + returns.var() * COUNT
                + delta * delta * count * COUNT / total) / total
    rewards = jnp.clip(rewards / jnp.sqrt(variance + 1e-8), -MOST_REWARD, MOST_REWARD)
    return (jnp.where(ended, 0, returns), mean + delta * COUNT / total, variance, total), rewards


def estimate_advantages(rewards, values, ended, after, last_values):
    follows = jnp.concatenate([values[1:], last_values[None]])
    deltas = rewards + DISCOUNT * jnp.where(ended, after, follows) - values

    def back(total, at):
        delta, over = at
        total = delta + DISCOUNT * LAMBDA * jnp.where(over, 0, total)
        return total, total

    advantages = jax.lax.scan(back, jnp.zeros_like(last_values), (deltas, ended), reverse=True)[1]
    return advantages, advantages + values


def normalised(advantages):
    return (advantages - advantages.mean()) / (advantages.std(ddof=1) + 1e-8)


class Mazes:
    """The rules as functions of (level, agent, steps)."""

    def __init__(self, levels):
        is_open, start, goal = level_tables(levels)
        there = next_cells()
        self.beginnings = jnp.asarray(levels.reshape(len(levels), -1))
        self.leads = jnp.asarray(np.where(is_open[:, there], there, np.arange(CELLS)[:, None])
                                 .astype(np.int32))
        self.start, self.goal = jnp.asarray(start, jnp.int32), jnp.asarray(goal, jnp.int32)

    def begin(self, key):
        level = jax.random.randint(key, (COUNT,), 0, len(self.start))
        return level, self.start[level], jnp.zeros(COUNT, jnp.int32)

    def see(self, state):
        level, agent, _ = state
        every, seen = jnp.arange(COUNT), self.beginnings[level]
        seen = seen.at[every, self.start[level] * 3 + 1].set(0)
        return seen.at[every, agent * 3 + 1].set(255)

    def step(self, state, actions):
        level, agent, steps = state
        agent, steps = self.leads[level, agent, actions], steps + 1
        terminated = agent == self.goal[level]
        return (level, agent, steps), terminated, (steps >= LIMIT) & ~terminated


def play(mazes, params, state, scale, key):
    def step(carry, key):
        state, scale = carry
        seen = mazes.see(state)
        act, begin = jax.random.split(key)
        logits, value = network(params, seen)
        action = jax.random.categorical(act, logits)
        log_prob = chosen_log_probs(jax.nn.log_softmax(logits), action)
        state, terminated, cut = mazes.step(state, action)
        over = terminated | cut
        after = jax.lax.cond(cut.any(), lambda: network(params, mazes.see(state))[1] * cut,
                             lambda: jnp.zeros(COUNT))
        state = tuple(jnp.where(over, new, old) for new, old in zip(mazes.begin(begin), state))
        scale, reward = scale_rewards(scale, terminated * REWARD, over)
        return (state, scale), {"seen": seen, "action": action, "log_prob": log_prob,
                                "value": value, "reward": reward, "over": over, "after": after}

    (state, scale), rollout = jax.lax.scan(step, (state, scale), jax.random.split(key, ROLLOUT))
    return state, scale, rollout, network(params, mazes.see(state))[1]


def batch_of(rollout, last_values):
    advantages, returns = estimate_advantages(rollout["reward"], rollout["value"], rollout["over"],
                                              rollout["after"], last_values)
    samples = {k: rollout[k] for k in ("seen", "action", "log_prob", "value")}
    samples |= {"advantage": normalised(advantages), "return": returns}
    return {k: v.reshape(v.shape[0] * v.shape[1], *v.shape[2:]) for k, v in samples.items()}


@partial(jax.jit, static_argnums=0, donate_argnums=1)
def iterate(mazes, held):
    params, optimiser, state, scale, key = held
    key, playing, shuffling = jax.random.split(key, 3)
    state, scale, rollout, last_values = play(mazes, params, state, scale, playing)
    batch = batch_of(rollout, last_values)

    def minibatch(carry, chosen):
        return learn(carry, {k: v[chosen] for k, v in batch.items()})

    orders = jax.vmap(lambda k: jax.random.permutation(k, ROLLOUT * COUNT))(
        jax.random.split(shuffling, EPOCHS))
    (params, optimiser), _ = jax.lax.scan(minibatch, (params, optimiser),
                                          orders.reshape(EPOCHS * MINIBATCHES, -1))
    return params, optimiser, state, scale, key


def answer_of(params, arrays):
    """What a published rollout as one minibatch gives."""
    rollout = {"seen": arrays["observations"], "action": arrays["actions"],
               "log_prob": arrays["log_probs"], "value": arrays["values"],
               "reward": arrays["rewards"], "over": arrays["ends"] != 0, "after": arrays["after"]}
    batch = batch_of({k: jnp.asarray(v) for k, v in rollout.items()},
                     jnp.asarray(arrays["last_values"]))
    (loss, (value_loss, entropy)), grads = jax.jit(
        jax.value_and_grad(ppo_loss, has_aux=True))(params, batch)
    return {"loss": loss, "value_loss": value_loss, "entropy": entropy, "norm": norm_of(grads)}


def make(work, file):
    assert work == "ppo-maze", work
    arrays, _ = load(file)
    check_rules(arrays["levels"], arrays["actions"], arrays["observations"], arrays["ends"])
    params = {k.removeprefix("policy."): jnp.asarray(v) for k, v in arrays.items()
              if k.startswith("policy.")}
    assert params["actor.weight"].shape[1] == ACTIONS
    answer = answer_of(params, arrays)
    mazes = Mazes(arrays["levels"])
    zeros = tree(jnp.zeros_like, params)
    held = [(params, (zeros, tree(jnp.copy, zeros), jnp.zeros(())),
             mazes.begin(jax.random.key(1)),
             (jnp.zeros(COUNT), jnp.zeros(()), jnp.ones(()), jnp.full((), 1e-4)),
             jax.random.key(2))]

    def run():
        held[0] = jax.block_until_ready(iterate(mazes, held[0]))
        return answer

    return run
