"""PPO of src/agents/ppo.cpp and rollout.cpp in PyTorch: whole iterations on the symbolic maze, and
acting and learning on recorded pictures with the IMPALA network."""
import numpy as np
import torch
from torch import nn

from inputs import load
from maze import ACTIONS, Mazes, check_rules
from torch_impala import Impala

ROLLOUT, COUNT, EPOCHS, MINIBATCHES = 256, 64, 3, 8
DISCOUNT, LAMBDA, CLIP, ENTROPY, VALUE, MAX_NORM = 0.999, 0.95, 0.2, 0.01, 0.5, 0.5
REWARD_DISCOUNT, MOST_REWARD = 0.99, 10.0


class Mlp(nn.Module):
    def __init__(self, numbers, width=64):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(numbers, width), nn.ReLU(), nn.Linear(width, width),
                                  nn.ReLU())
        self.actor = nn.Linear(width, ACTIONS)
        self.critic = nn.Linear(width, 1)

    def forward(self, seen):
        x = self.body(seen.flatten(1).to(torch.float32) / 255)
        return self.actor(x), self.critic(x)[:, 0]


def fill(linear, arrays, name):
    weight = torch.from_numpy(arrays[f"{name}.weight"])
    order = (1, 0) if weight.ndim == 2 else (3, 2, 0, 1)
    with torch.no_grad():
        linear.weight.copy_(weight.permute(order))
        linear.bias.copy_(torch.from_numpy(arrays[f"{name}.bias"]))


def given_mlp(arrays):
    net = Mlp(int(np.prod(arrays["observations"].shape[2:])))
    for k in (0, 1):
        fill(net.body[2 * k], arrays, f"policy.trunk.{k}")
    fill(net.actor, arrays, "policy.actor")
    fill(net.critic, arrays, "policy.critic")
    return net


def given_impala(arrays):
    net = Impala()
    for k in range(3):
        conv, _, first, second = net.body[4 * k: 4 * k + 4]
        fill(conv, arrays, f"policy.trunk.{k}.conv")
        for name, block in (("first", first), ("second", second)):
            fill(block.first, arrays, f"policy.trunk.{k}.{name}.first")
            fill(block.second, arrays, f"policy.trunk.{k}.{name}.second")
    # Ours flattens (height, width, channels).
    weight = arrays["policy.trunk.dense.weight"].reshape(8, 8, 32, 256).transpose(2, 0, 1, 3)
    fill(net.dense, {"dense.weight": weight.reshape(2048, 256),
                     "dense.bias": arrays["policy.trunk.dense.bias"]}, "dense")
    fill(net.actor, arrays, "policy.actor")
    fill(net.critic, arrays, "policy.critic")
    return net.to(memory_format=torch.channels_last)


class RewardScale:
    """Divides rewards by the running deviation of the discounted return."""

    def __init__(self, count):
        self.returns = np.zeros(count)
        self.mean, self.variance, self.count = 0.0, 1.0, 1e-4

    def __call__(self, rewards, ended):
        self.returns = REWARD_DISCOUNT * self.returns + rewards
        n, total = len(rewards), self.count + len(rewards)
        delta = self.returns.mean() - self.mean
        self.variance = (self.variance * self.count + self.returns.var() * n
                         + delta * delta * self.count * n / total) / total
        self.mean += delta * n / total
        self.count = total
        self.returns[ended] = 0
        return np.clip(rewards / np.sqrt(self.variance + 1e-8), -MOST_REWARD, MOST_REWARD)


def estimate_advantages(rewards, values, ended, after, last_values):
    """(steps, count) tensors; `after` is the value after an episode that was cut off, else 0."""
    advantages = torch.empty_like(rewards)
    follows = torch.cat([values[1:], last_values[None]])
    goes_on = (~ended).to(torch.float32)
    deltas = rewards + DISCOUNT * torch.where(ended, after, follows) - values
    total = torch.zeros_like(last_values)
    for t in range(len(rewards) - 1, -1, -1):
        total = deltas[t] + DISCOUNT * LAMBDA * goes_on[t] * total
        advantages[t] = total
    return advantages, advantages + values


def ppo_loss(net, seen, actions, log_probs, values, advantages, returns):
    logits, value = net(seen)
    all_log_probs = logits.log_softmax(-1)
    ratio = (all_log_probs.gather(1, actions[:, None])[:, 0] - log_probs).exp()
    policy = -torch.minimum(ratio * advantages,
                            ratio.clamp(1 - CLIP, 1 + CLIP) * advantages).mean()
    near = values + (value - values).clamp(-CLIP, CLIP)
    value_loss = 0.5 * torch.maximum((value - returns)**2, (near - returns)**2).mean()
    entropy = -(all_log_probs.exp() * all_log_probs).sum(-1).mean()
    return policy + VALUE * value_loss - ENTROPY * entropy, value_loss, entropy


class Learner:
    def __init__(self, net):
        self.net = net
        self.optimiser = torch.optim.Adam(net.parameters(), lr=5e-4, eps=1e-5, fused=True)

    @torch.inference_mode()
    def act(self, seen):
        logits, value = self.net(seen)
        log_probs = logits.log_softmax(-1)
        actions = torch.multinomial(log_probs.exp(), 1)
        return actions[:, 0], log_probs.gather(1, actions)[:, 0], value

    def step(self, batch):
        loss, value_loss, entropy = ppo_loss(self.net, *batch)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), MAX_NORM)
        self.optimiser.step()
        return {"loss": loss.item(), "value_loss": value_loss.item(), "entropy": entropy.item(),
                "norm": norm.item()}


def normalised(advantages):
    return (advantages - advantages.mean()) / (advantages.std() + 1e-8)


def recorded_batch(arrays):
    """A published rollout as one minibatch."""
    given = {k: torch.from_numpy(v) for k, v in arrays.items()}
    advantages, returns = estimate_advantages(given["rewards"], given["values"],
                                              given["ends"] != 0, given["after"],
                                              given["last_values"])
    return (given["observations"].flatten(0, 1), given["actions"].flatten().long(),
            given["log_probs"].flatten(), given["values"].flatten(),
            normalised(advantages).flatten(), returns.flatten())


def maze_iterations(arrays):
    check_rules(arrays["levels"], arrays["actions"], arrays["observations"], arrays["ends"])
    answer = Learner(given_mlp(arrays)).step(recorded_batch(arrays))
    learner, mazes = Learner(given_mlp(arrays)), Mazes(arrays["levels"], COUNT)
    scale = RewardScale(COUNT)
    samples = ROLLOUT * COUNT
    observations = torch.empty((ROLLOUT, COUNT, mazes.observations.shape[1]), dtype=torch.uint8)
    actions = torch.empty((ROLLOUT, COUNT), dtype=torch.int64)
    log_probs, values, rewards, after = (torch.empty((ROLLOUT, COUNT)) for _ in range(4))
    ended = torch.empty((ROLLOUT, COUNT), dtype=torch.bool)

    def play():
        after.zero_()
        for t in range(ROLLOUT):
            observations[t] = torch.from_numpy(mazes.observations)
            actions[t], log_probs[t], values[t] = learner.act(observations[t])
            reward, terminated, cut = mazes.step(actions[t].numpy())
            over = terminated | cut
            if cut.any():
                _, _, value = learner.act(torch.from_numpy(mazes.observations))
                after[t] = value * torch.from_numpy(cut)
            mazes.begin_again(over)
            rewards[t] = torch.from_numpy(scale(reward, over))
            ended[t] = torch.from_numpy(over)
        return learner.act(torch.from_numpy(mazes.observations))[2].clone()

    def iterate():
        last_values = play()
        advantages, returns = estimate_advantages(rewards, values, ended, after, last_values)
        flat = (observations.flatten(0, 1), actions.flatten(), log_probs.flatten(),
                values.flatten(), normalised(advantages).flatten(), returns.flatten())
        for _ in range(EPOCHS):
            for chosen in torch.randperm(samples).chunk(MINIBATCHES):
                learner.step([each[chosen] for each in flat])
        return answer

    return iterate


def pictures_act(arrays):
    learner = Learner(given_impala(arrays))
    rows = torch.from_numpy(arrays["observations"])
    with torch.inference_mode():
        answer = {"value": np.mean([learner.act(row)[2].mean().item() for row in rows])}

    def act():
        for row in rows:
            learner.act(row)
        return answer

    return act


def pictures_learn(arrays):
    learner, batch = Learner(given_impala(arrays)), recorded_batch(arrays)
    return lambda: learner.step(batch)


def make(work, file):
    torch.manual_seed(0)
    arrays, _ = load(file)
    return {"ppo-maze": maze_iterations, "ppo-pictures-act": pictures_act,
            "ppo-pictures-learn": pictures_learn}[work](arrays)
