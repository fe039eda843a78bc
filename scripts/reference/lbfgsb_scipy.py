"""Reference values of math/lbfgsb.rs, math/nelder_mead.rs and math/conjugate_gradient.rs.

Run with SciPy 1.17.1:
    python lbfgsb_scipy.py

Prints, per problem: method, name, value, iterations, evaluations. The starts are deterministic; the Rust tests
build the same ones. Evaluations of SciPy are calls of value and gradient together.
"""

import numpy as np
import scipy
from scipy.optimize import minimize


def rosenbrock(x):
    a = x[1:] - x[:-1] ** 2
    g = np.zeros_like(x)
    g[:-1] = -400.0 * x[:-1] * a - 2.0 * (1.0 - x[:-1])
    g[1:] += 200.0 * a
    return float(np.sum(100.0 * a**2 + (1.0 - x[:-1]) ** 2)), g


def quadratic(x):
    """A tridiagonal quadratic: sum (x_i - t_i)^2 (1 + i) + (x_{i+1} - x_i)^2 with t_i = 2 (-1)^i."""
    n = len(x)
    w = 1.0 + np.arange(n)
    t = 2.0 * (-1.0) ** np.arange(n)
    d = x[1:] - x[:-1]
    g = 2.0 * w * (x - t)
    g[1:] += 2.0 * d
    g[:-1] -= 2.0 * d
    return float(np.sum(w * (x - t) ** 2) + np.sum(d**2)), g


def alternating(n):
    """The customary start of Rosenbrock's function: -1.2, 1, -1.2, 1, ..."""
    return np.where(np.arange(n) % 2 == 0, -1.2, 1.0)


def splitmix(state):
    """The generator of the Rust tests, uniform on [0, 1)."""
    mask = (1 << 64) - 1
    state = (state + 0x9E3779B97F4A7C15) & mask
    z = state
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    z ^= z >> 31
    return state, (z >> 11) / (1 << 53)


def show(method, name, r):
    print(f"{method:12s} {name:28s} f={r.fun:.12e} iterations={r.nit} evaluations={r.nfev} {r.message}")


def lbfgsb(name, f, n, low, high, tight=True):
    x0 = np.clip(alternating(n), low, high)
    options = {"gtol": 1e-8, "ftol": 1e-15} if tight else {}
    show("L-BFGS-B", name, minimize(f, x0, jac=True, method="L-BFGS-B", bounds=[(low, high)] * n, options=options))


print("scipy", scipy.__version__)
lbfgsb("rosenbrock 10 [-5, 5]", rosenbrock, 10, -5.0, 5.0)
lbfgsb("rosenbrock 10 upper 0.5", rosenbrock, 10, -5.0, 0.5)
lbfgsb("rosenbrock 25 lower 1.1", rosenbrock, 25, 1.1, 5.0)
lbfgsb("rosenbrock 25 lower 1.1 open", rosenbrock, 25, 1.1, np.inf)
lbfgsb("rosenbrock 10 unbounded", rosenbrock, 10, -np.inf, np.inf)
lbfgsb("rosenbrock 100 [-5, 5]", rosenbrock, 100, -5.0, 5.0)
lbfgsb("rosenbrock 10 defaults", rosenbrock, 10, -5.0, 5.0, tight=False)
lbfgsb("quadratic 10 [-1, 1]", quadratic, 10, -1.0, 1.0)

state, evaluations, iterations, far = 1, 0, 0, 0
for _ in range(1000):
    x0 = np.zeros(8)
    for i in range(8):
        state, u = splitmix(state)
        x0[i] = 4.0 * u - 2.0
    r = minimize(rosenbrock, x0, jac=True, method="L-BFGS-B", bounds=[(-2.0, 2.0)] * 8)
    evaluations += r.nfev
    iterations += r.nit
    far += r.fun > 1e-6
print(f"L-BFGS-B     rosenbrock 8, 1000 starts    evaluations={evaluations} iterations={iterations} above 1e-6: {far}")

for n in (2, 4):
    x0 = alternating(n)
    show("CG", f"rosenbrock {n}", minimize(rosenbrock, x0, jac=True, method="CG"))
    for adaptive in (False, True):
        options = {"adaptive": adaptive, "maxiter": 10**6, "maxfev": 10**6}
        r = minimize(lambda x: rosenbrock(x)[0], x0, method="Nelder-Mead", options=options)
        show("Nelder-Mead", f"rosenbrock {n} adaptive {adaptive}", r)
    options = {"xatol": 1e-8, "fatol": 1e-8, "maxiter": 10**6, "maxfev": 10**6}
    for name, start in (("corner", np.clip(x0, -1, 1)), ("inside", np.full(n, 0.3))):
        r = minimize(
            lambda x: quadratic(x)[0], start, method="Nelder-Mead", bounds=[(-1.0, 1.0)] * n, options=options
        )
        show("Nelder-Mead", f"quadratic {n} from {name}", r)


def clipped(x):
    """The quadratic of the box, continued flat outside."""
    f, g = quadratic(np.clip(x, -3.0, 3.0))
    return f, np.where((x < -3.0) | (x > 3.0), 0.0, g)


show("CG", "quadratic 4", minimize(quadratic, alternating(4), jac=True, method="CG"))
show("CG", "quadratic 4 clipped", minimize(clipped, alternating(4), jac=True, method="CG"))
r = minimize(quadratic, alternating(4), jac=True, method="L-BFGS-B", bounds=[(-1, 1)] * 4, options={"gtol": 1e-10, "ftol": 0})
show("L-BFGS-B", "quadratic 4 [-1, 1]", r)
