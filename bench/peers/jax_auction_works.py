"""The works of bench/compare auctions in JAX.

make(work, file) gives a function without arguments that does the work once, waits for it, and
returns what it found.
"""
import functools

import jax
import jax.numpy as jnp
import numpy as np

from inputs import layers, load
from jax_auctions import (adam, adam_state, algnet_iteration, equivariantnet_mechanism,
                          lagrangian_iteration, regretnet_mechanism)

RUN_CHUNK = 2000           # profiles at a time: the fastest of those tried
DROPS = (10, 30, 60, 120)  # steps after which the worse half of the starts is left behind


def mlp_weights(arrays, *names):
    return {name: [(jnp.asarray(weight), jnp.asarray(bias))
                   for weight, bias in layers(arrays, name, "weight", "bias")]
            for name in names}


def exchangeable_weights(arrays):
    parts = ("own", "column", "row", "total", "bias")
    return {name: [(jnp.stack(layer[:4]), jnp.asarray(layer[4]))
                   for layer in layers(arrays, name, *parts)]
            for name in ("sold", "split", "payment")}


def run_equivariantnet(arrays, _):
    weights = exchangeable_weights(arrays)
    bids = jnp.asarray(arrays["bids"], jnp.float32)

    @jax.jit
    def everything(weights, bids):
        chunks = bids.reshape(-1, RUN_CHUNK, *bids.shape[1:])
        allocation, payment = jax.lax.map(
            functools.partial(equivariantnet_mechanism, weights), chunks)
        return allocation, payment, payment.sum(-1).mean()

    def run():
        revenue = jax.block_until_ready(everything(weights, bids))[2]
        return {"revenue": revenue}
    return run


def audit_regretnet(arrays, numbers):
    """Adam on every start, as the thesis tests for regret; bids (profiles, n, starts, m)."""
    weights = mlp_weights(arrays, "allocation", "payment")
    values = jnp.asarray(arrays["values"], jnp.float32)
    _, n, m = values.shape
    starts = jnp.stack([jnp.asarray(arrays[f"starts.{i}"], jnp.float32) for i in range(n)], 1)
    mechanism = regretnet_mechanism(n, m)
    own = jnp.eye(n, dtype=bool)[None, :, None, :, None]

    def utilities(values, bids):
        profiles, _, count, _ = bids.shape
        all_bids = jnp.where(own, bids[:, :, :, None, :], values[:, None, None, :, :])
        allocation, payment = mechanism(weights, all_bids.reshape(-1, n, m))
        allocation = jnp.einsum("pisij->pisj", allocation.reshape(profiles, n, count, n, m))
        payment = jnp.einsum("pisi->pis", payment.reshape(profiles, n, count, n))
        return (allocation * values[:, :, None, :]).sum(-1) - payment

    def slopes(values, bids):
        def total(b):
            utility = utilities(values, b)
            return utility.sum(), utility
        gradient, utility = jax.grad(total, has_aux=True)(bids)
        return utility, -gradient

    def moved(bids, gradient, moments):
        bids, moments = adam(bids, gradient, moments, numbers["rate"])
        return jnp.clip(bids, 0, 1), moments

    @jax.jit
    def gains(values, bids):
        honest = utilities(values, values[:, :, None, :])[..., 0]

        def step(_, carry):
            bids, moments, reached, best = carry
            utility, gradient = slopes(values, bids)
            bids, moments = moved(bids, gradient, moments)
            return (bids, moments, jnp.maximum(reached, utility),
                    jnp.maximum(best, utility.max(-1)))

        def dropping_step(carry):
            bids, (first, second, made), reached, best = carry
            utility, gradient = slopes(values, bids)
            reached = jnp.maximum(reached, utility)
            best = jnp.maximum(best, utility.max(-1))
            reached, kept = jax.lax.top_k(reached, (bids.shape[2] + 1) // 2)
            bids, gradient, first, second = (
                jnp.take_along_axis(x, kept[..., None], 2)
                for x in (bids, gradient, first, second))
            bids, moments = moved(bids, gradient, (first, second, made))
            return bids, moments, reached, best

        carry = bids, adam_state(bids), jnp.full(bids.shape[:3], -jnp.inf), honest
        done = 0
        for drop in DROPS:
            carry = dropping_step(jax.lax.fori_loop(done + 1, drop, step, carry))
            done = drop
        bids, _, _, best = jax.lax.fori_loop(done, numbers["steps"], step, carry)
        return jnp.maximum(best, utilities(values, bids).max(-1)) - honest

    def run():
        found = np.sort(np.asarray(gains(values, starts)).ravel())
        return {"regret": found.mean(dtype=np.float64), "p99": found[int(0.99 * len(found))]}
    return run


def train_lagrangian(mechanism, weights, arrays, numbers):
    """The sample stays on the device; its misreports are looked up and remembered there."""
    batch = numbers["batch"]
    sample = jnp.asarray(arrays["values"])
    size, n, _ = sample.shape
    iteration = lagrangian_iteration(mechanism, numbers["misreport_steps"],
                                     numbers["misreport_rate"])

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2, 3))
    def step(params, state, remembered, multipliers, sample, order, made):
        at = jax.lax.dynamic_slice(order, (made * batch % size,), (batch,))
        penalty = numbers["penalty"] + numbers["penalty_step"] * (made // numbers["penalty_every"])
        params, state, misreports, revenue, regret = iteration(
            params, state, sample[at], remembered[at], multipliers, penalty)
        multipliers = jnp.where(made % numbers["multiplier_every"] == 0,
                                multipliers + penalty * regret, multipliers)
        return (params, state, remembered.at[at].set(misreports), multipliers, revenue,
                regret.mean())

    held = [weights, adam_state(weights),
            jnp.asarray(arrays["buffer.misreports"]).reshape(sample.shape),
            jnp.full(n, float(numbers["multiplier"]))]
    order = jnp.asarray(arrays["order"].astype(np.int32))
    shuffle = np.random.default_rng(0)
    made = 0

    def run():
        nonlocal made, order
        if made > 0 and made * batch % size == 0:
            order = jnp.asarray(shuffle.permutation(size).astype(np.int32))
        *held[:], revenue, regret = step(*held, sample, order, made)
        made += 1
        jax.block_until_ready(held)
        return {"revenue": revenue, "regret": regret}
    return run


def train_regretnet(arrays, numbers):
    n, m = arrays["values"].shape[1:]
    weights = mlp_weights(arrays, "allocation", "payment")
    return train_lagrangian(regretnet_mechanism(n, m), weights, arrays, numbers)


def train_equivariantnet(arrays, numbers):
    weights = exchangeable_weights(arrays)
    return train_lagrangian(equivariantnet_mechanism, weights, arrays, numbers)


def train_algnet(arrays, numbers):
    """The first two batches are given, to compare what is found; later ones are drawn."""
    _, n, m = arrays["values"].shape
    batch = numbers["batch"]
    given = jnp.asarray(arrays["values"]).reshape(-1, batch, n, m)
    auctioneer = mlp_weights(arrays, "sold", "split", "payment")
    misreporter = mlp_weights(arrays, "misreporter")["misreporter"]
    iteration = jax.jit(algnet_iteration(n, m, numbers["misreport_steps"], numbers["rate"]),
                        donate_argnums=(0, 1, 2, 3))
    draw = jax.jit(lambda made: jax.random.uniform(jax.random.key(made), (batch, n, m)))
    held = [auctioneer, adam_state(auctioneer), misreporter, adam_state(misreporter)]
    made = 0

    def run():
        nonlocal made
        values = given[made] if made < len(given) else draw(made)
        *held[:], revenue, regret = iteration(*held, values)
        made += 1
        jax.block_until_ready(held)
        return {"revenue": revenue, "regret": regret / n}
    return run


WORKS = {"run-equivariantnet": run_equivariantnet, "audit-regretnet": audit_regretnet,
         "train-regretnet": train_regretnet, "train-equivariantnet": train_equivariantnet,
         "train-algnet": train_algnet}


def make(work, file):
    return WORKS[work.rsplit("-", 1)[0]](*load(file))
