"""The IMPALA network (stacks of 16, 32, 32 channels) in PyTorch: forward pass and train step.

64x64x3 bytes in, 15 logits and a value out, batch 256; the loss is a policy gradient with a value
and an entropy term, one Adam step.
"""
import torch
from torch import nn
from torch.nn import functional as F

BATCH = 256


class Residual(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x):
        return x + self.second(F.relu(self.first(F.relu(x))))


class Impala(nn.Module):
    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for out in (16, 32, 32):
            layers += [nn.Conv2d(channels, out, 3, padding=1), nn.MaxPool2d(3, 2, padding=1),
                       Residual(out), Residual(out)]
            channels = out
        self.body = nn.Sequential(*layers)
        self.dense = nn.Linear(8 * 8 * 32, 256)
        self.actor = nn.Linear(256, 15)
        self.critic = nn.Linear(256, 1)

    def forward(self, images):  # (batch, 64, 64, 3) bytes
        x = images.permute(0, 3, 1, 2).to(torch.float32) / 255
        x = F.relu(self.body(x)).flatten(1)
        x = F.relu(self.dense(x))
        return self.actor(x), self.critic(x)[:, 0]


def make(work):
    torch.manual_seed(0)
    net = Impala().to(memory_format=torch.channels_last)
    optimiser = torch.optim.Adam(net.parameters(), lr=5e-4, eps=1e-5)
    images = torch.randint(0, 256, (BATCH, 64, 64, 3), dtype=torch.uint8)
    actions = torch.randint(0, 15, (BATCH,))
    advantages, returns = torch.randn(BATCH), torch.randn(BATCH)

    def forward():
        with torch.no_grad():
            net(images)

    def train():
        logits, value = net(images)
        log_probs = logits.log_softmax(-1)
        chosen = log_probs.gather(1, actions[:, None])[:, 0]
        entropy = -(log_probs.exp() * log_probs).sum(-1).mean()
        loss = -(chosen * advantages).mean() + 0.5 * ((value - returns)**2).mean() - 0.01 * entropy
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()

    return {"impala-forward": forward, "impala-train": train}[work]
