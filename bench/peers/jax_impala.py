"""The IMPALA network in JAX, as in torch_impala.py."""
import jax
import jax.numpy as jnp
import numpy as np

from jax_auctions import adam, adam_state

BATCH = 256


def conv_params(rng, fan_in, fan_out):
    bound = np.sqrt(6 / (9 * (fan_in + fan_out)))
    return (jnp.asarray(rng.uniform(-bound, bound, (3, 3, fan_in, fan_out)).astype(np.float32)),
            jnp.zeros(fan_out))


def dense_params(rng, fan_in, fan_out):
    bound = np.sqrt(6 / (fan_in + fan_out))
    return (jnp.asarray(rng.uniform(-bound, bound, (fan_in, fan_out)).astype(np.float32)),
            jnp.zeros(fan_out))


def convolve(params, x):
    weight, bias = params
    return bias + jax.lax.conv_general_dilated(
        x, weight, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def impala(params, images):
    x = images.astype(jnp.float32) / 255
    for stack in params["stacks"]:
        x = convolve(stack[0], x)
        x = jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1),
                                  ((0, 0), (1, 1), (1, 1), (0, 0)))
        for first, second in (stack[1:3], stack[3:5]):
            x = x + convolve(second, jax.nn.relu(convolve(first, jax.nn.relu(x))))
    x = jax.nn.relu(x).reshape(x.shape[0], -1)
    x = jax.nn.relu(x @ params["dense"][0] + params["dense"][1])
    logits = x @ params["actor"][0] + params["actor"][1]
    return logits, (x @ params["critic"][0] + params["critic"][1])[:, 0]


def make(work):
    rng = np.random.default_rng(0)
    stacks, channels = [], 3
    for out in (16, 32, 32):
        stacks.append([conv_params(rng, channels, out)]
                      + [conv_params(rng, out, out) for _ in range(4)])
        channels = out
    params = {"stacks": stacks, "dense": dense_params(rng, 2048, 256),
              "actor": dense_params(rng, 256, 15), "critic": dense_params(rng, 256, 1)}
    images = jnp.asarray(rng.integers(0, 256, (BATCH, 64, 64, 3), dtype=np.uint8))
    actions = jnp.asarray(rng.integers(0, 15, BATCH))
    advantages = jnp.asarray(rng.normal(size=BATCH).astype(np.float32))
    returns = jnp.asarray(rng.normal(size=BATCH).astype(np.float32))

    def loss(p):
        logits, value = impala(p, images)
        log_probs = jax.nn.log_softmax(logits)
        chosen = jnp.take_along_axis(log_probs, actions[:, None], 1)[:, 0]
        entropy = -(jnp.exp(log_probs) * log_probs).sum(-1).mean()
        return (-(chosen * advantages).mean() + 0.5 * ((value - returns)**2).mean()
                - 0.01 * entropy)

    forward_step = jax.jit(impala)
    train_step = jax.jit(lambda p, s: adam(p, jax.grad(loss)(p), s, 5e-4))
    held = [params, adam_state(params)]

    def forward():
        jax.block_until_ready(forward_step(held[0], images))

    def train():
        held[:] = train_step(*held)
        jax.block_until_ready(held)

    return {"impala-forward": forward, "impala-train": train}[work]
