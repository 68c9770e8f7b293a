"""RegretNet, EquivariantNet and ALGnet in JAX: one outer iteration is one function to be jitted.

make(work) gives a function without arguments that runs one outer iteration and waits for it.
Shapes: valuations (batch, n, m); a misreport profile i replaces row i by bidder i's misreport.
"""
import jax
import jax.numpy as jnp
import numpy as np

HIDDEN = {"1x2": 2, "2x2": 2, "3x10": 5, "5x10": 5}  # RegretNet's hidden layers of 100


def tree(function, *trees):
    return jax.tree_util.tree_map(function, *trees)


def adam_state(params):
    return tree(jnp.zeros_like, params), tree(jnp.zeros_like, params), jnp.zeros(())


def adam(params, grads, state, rate, decay=0.0):
    """Adam, or AdamW with a decoupled decay."""
    first, second, step = state
    step = step + 1
    first = tree(lambda m, g: 0.9 * m + 0.1 * g, first, grads)
    second = tree(lambda v, g: 0.999 * v + 0.001 * g * g, second, grads)
    scale1, scale2 = 1 / (1 - 0.9**step), 1 / (1 - 0.999**step)
    params = tree(
        lambda p, m, v: p * (1 - rate * decay) - rate * m * scale1 / (jnp.sqrt(v * scale2) + 1e-8),
        params, first, second)
    return params, (first, second, step)


def mlp_params(rng, sizes):
    def layer(fan_in, fan_out):
        bound = np.sqrt(6 / (fan_in + fan_out))
        weight = rng.uniform(-bound, bound, (fan_in, fan_out)).astype(np.float32)
        return jnp.asarray(weight), jnp.zeros(fan_out)
    return [layer(a, b) for a, b in zip(sizes, sizes[1:])]


def mlp(params, x):
    for weight, bias in params[:-1]:
        x = jnp.tanh(x @ weight + bias)
    weight, bias = params[-1]
    return x @ weight + bias


def misreport_profiles(values, misreports):
    """(batch, n, m) twice -> (batch, n, n, m)."""
    n = values.shape[1]
    own = jnp.eye(n, dtype=bool)[None, :, :, None]
    return jnp.where(own, misreports[:, :, None, :], values[:, None, :, :])


def misreport_utilities(mechanism, params, values, misreports):
    """Utility of each bidder i with true values in its misreport profile: (batch, n)."""
    batch, n, m = values.shape
    profiles = misreport_profiles(values, misreports).reshape(batch * n, n, m)
    allocation, payment = mechanism(params, profiles)
    allocation = jnp.einsum("biij->bij", allocation.reshape(batch, n, n, m))
    payment = jnp.einsum("bii->bi", payment.reshape(batch, n, n))
    return (allocation * values).sum(-1) - payment


def lagrangian_iteration(mechanism, steps, misreport_rate):
    """Misreport ascent, then one step on the augmented Lagrangian (Duetting et al.)."""
    def iteration(params, state, values, misreports, multipliers, penalty):
        def ascend(_, carry):
            guess, moments = carry
            gradient = jax.grad(
                lambda g: -misreport_utilities(mechanism, params, values, g).sum())(guess)
            guess, moments = adam(guess, gradient, moments, misreport_rate)
            return jnp.clip(guess, 0, 1), moments

        misreports, _ = jax.lax.fori_loop(0, steps, ascend, (misreports, adam_state(misreports)))

        def loss(p):
            allocation, payment = mechanism(p, values)
            truthful = (allocation * values).sum(-1) - payment
            gain = misreport_utilities(mechanism, p, values, misreports) - truthful
            regret = jax.nn.relu(gain).mean(0)
            revenue = payment.sum(-1).mean()
            lagrangian = (-revenue + (multipliers * regret).sum()
                          + penalty / 2 * (regret**2).sum())
            return lagrangian, (revenue, regret)

        gradient, (revenue, regret) = jax.grad(loss, has_aux=True)(params)
        params, state = adam(params, gradient, state, 1e-3)
        return params, state, misreports, revenue, regret
    return iteration


def lagrangian_work(mechanism, params, n, m, batch, rate):
    rng = np.random.default_rng(1)
    iteration = jax.jit(lagrangian_iteration(mechanism, 25, rate), donate_argnums=(0, 1))
    values = jnp.asarray(rng.uniform(size=(batch, n, m)).astype(np.float32))
    held = [params, adam_state(params),
            jnp.asarray(rng.uniform(size=(batch, n, m)).astype(np.float32))]

    def run():
        held[:] = iteration(held[0], held[1], values, held[2], jnp.full(n, 5.0), 1.0)[:3]
        jax.block_until_ready(held)
    return run


def regretnet_mechanism(n, m):
    def mechanism(p, bids):
        flat = bids.reshape(-1, n * m)
        logits = mlp(p["allocation"], flat).reshape(-1, n + 1, m + 1)
        allocation = jax.nn.softmax(logits, axis=1)[:, :n, :m]
        fraction = jax.nn.sigmoid(mlp(p["payment"], flat))
        return allocation, fraction * (allocation * bids).sum(-1)
    return mechanism


def regretnet(size):
    n, m = map(int, size.split("x"))
    hidden = [100] * HIDDEN[size]
    rng = np.random.default_rng(0)
    params = {"allocation": mlp_params(rng, [n * m, *hidden, (n + 1) * (m + 1)]),
              "payment": mlp_params(rng, [n * m, *hidden, n])}
    return lagrangian_work(regretnet_mechanism(n, m), params, n, m, 128, 0.1)


def exchangeable_params(rng, sizes):
    def layer(fan_in, fan_out):
        bound = np.sqrt(6 / (fan_in + fan_out)) / 2
        weights = rng.uniform(-bound, bound, (4, fan_in, fan_out)).astype(np.float32)
        return jnp.asarray(weights), jnp.zeros(fan_out)
    return [layer(a, b) for a, b in zip(sizes, sizes[1:])]


def exchangeable(params, x):
    """(rows, n, m, 1) -> (rows, n, m); own, mean over bidders, over items, over both."""
    for index, (weights, bias) in enumerate(params):
        over_bidders = x.mean(1, keepdims=True)
        over_items = x.mean(2, keepdims=True)
        over_both = over_bidders.mean(2, keepdims=True)
        x = (x @ weights[0] + over_bidders @ weights[1] + over_items @ weights[2]
             + (over_both @ weights[3] + bias))
        if index + 1 < len(params):
            x = jnp.tanh(x)
    return x[..., 0]


def equivariantnet_mechanism(p, bids):
    x = bids[..., None]
    sold = jax.nn.sigmoid(exchangeable(p["sold"], x).mean(1, keepdims=True))
    allocation = sold * jax.nn.softmax(exchangeable(p["split"], x), axis=1)
    fraction = jax.nn.sigmoid(exchangeable(p["payment"], x).mean(2))
    return allocation, fraction * (allocation * bids).sum(-1)


def equivariantnet(size):
    n, m = map(int, size.split("x"))
    rng = np.random.default_rng(0)
    params = {name: exchangeable_params(rng, [1, 25, 25, 25, 1])
              for name in ("sold", "split", "payment")}
    return lagrangian_work(equivariantnet_mechanism, params, n, m, 500, 0.001)


def algnet_iteration(n, m, misreporter_steps, rate):
    """Steps of the misreporter's parameters, then one of the auctioneer's (thesis, ch. 5)."""
    # order[i]: bidder i first, the others in their order
    order = np.array([[i] + [k for k in range(n) if k != i] for i in range(n)])

    def seen_by_each(bids):  # (rows, n, m) -> (rows, n, n * m)
        return bids[:, order].reshape(-1, n, n * m)

    def allocate(p, bids, views):
        sold = jax.nn.sigmoid(mlp(p["sold"], bids.reshape(-1, n * m)))
        return sold[:, None, :] * jax.nn.softmax(mlp(p["split"], views), axis=1)

    def truthful(p, values):
        views = seen_by_each(values)
        allocation = allocate(p, values, views)
        worth = (allocation * values).sum(-1)
        payment = jax.nn.sigmoid(mlp(p["payment"], views))[..., 0] * worth
        return worth - payment, payment

    def deviating(p, values, misreports):
        """Bidder i's utility in its own misreport profile; only its payment is needed."""
        rows = values.shape[0]
        profiles = misreport_profiles(values, misreports).reshape(rows * n, n, m)
        views = seen_by_each(profiles)
        allocation = allocate(p, profiles, views).reshape(rows, n, n, m)
        allocation = jnp.einsum("biij->bij", allocation)
        own_view = jnp.einsum("biik->bik", views.reshape(rows, n, n, n * m))
        fraction = jax.nn.sigmoid(mlp(p["payment"], own_view))[..., 0]
        return (allocation * values).sum(-1) - fraction * (allocation * misreports).sum(-1)

    def iteration(w, w_state, phi, phi_state, values):
        views = seen_by_each(values)

        def misreports_of(parameters):
            return jax.nn.sigmoid(mlp(parameters, views))

        def misreporter_step(_, carry):
            parameters, state = carry
            gradient = jax.grad(
                lambda q: -deviating(w, values, misreports_of(q)).sum(-1).mean())(parameters)
            return adam(parameters, gradient, state, rate, 1e-2)

        phi, phi_state = jax.lax.fori_loop(0, misreporter_steps, misreporter_step,
                                           (phi, phi_state))
        misreports = misreports_of(phi)

        def loss(p):
            utility, payment = truthful(p, values)
            revenue = payment.sum(-1).mean()
            gain = deviating(p, values, misreports) - utility
            regret = jax.nn.relu(gain).sum(-1).mean()
            root_loss = -(jnp.sqrt(revenue) - jnp.sqrt(regret + 1e-8)) + regret
            return root_loss, (revenue, regret)

        gradient, (revenue, regret) = jax.grad(loss, has_aux=True)(w)
        w, w_state = adam(w, gradient, w_state, rate, 1e-2)
        return w, w_state, phi, phi_state, revenue, regret
    return iteration


def algnet(size):
    n, m = map(int, size.split("x"))
    batch = 500
    rng = np.random.default_rng(0)
    sizes = [n * m, 100, 100, 100]
    auctioneer = {"sold": mlp_params(rng, [*sizes, m]), "split": mlp_params(rng, [*sizes, m]),
                  "payment": mlp_params(rng, [*sizes, 1])}
    misreporter = mlp_params(rng, [*sizes, m])
    iteration = jax.jit(algnet_iteration(n, m, 100, 1e-3), donate_argnums=(0, 1, 2, 3))
    values = jnp.asarray(rng.uniform(size=(batch, n, m)).astype(np.float32))
    held = [auctioneer, adam_state(auctioneer), misreporter, adam_state(misreporter)]

    def run():
        held[:] = iteration(*held, values)[:4]
        jax.block_until_ready(held)
    return run


WORKS = {"regretnet": regretnet, "equivariantnet": equivariantnet, "algnet": algnet}


def make(work):
    family, size = work.split("-")
    return WORKS[family](size)
