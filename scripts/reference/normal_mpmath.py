"""Reference values of math/normal.rs, and the Chebyshev coefficients of its one approximation.

Run with mpmath 1.3.0:
    python normal_mpmath.py coefficients   # the table EXCESS of normal.rs
    python normal_mpmath.py table          # the rows of the test table REFERENCE, and of QUANTILES
    python normal_mpmath.py check          # reads `function hex-x hex-value` lines, prints the worst relative errors

Everything is computed with 80 digits and rounded once.
"""

import sys
from collections import defaultdict

import mpmath as mp

mp.mp.dps = 80
SQRT_HALF_PI = mp.sqrt(mp.pi / 2)
CENTRE = mp.mpf(4)  # the z that the map s = 1 - 2k/(z + k) takes to 0: fewest terms for 1e-17 among 1.5, 2, .. 5
TERMS = 27


def pdf(x):
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def excess(z):
    """t(z) = pdf(z)/cdf(-z) - z for z >= 0, by Laplace's continued fraction in the far tail."""
    if z > 30:
        tail = mp.mpf(0)
        for n in range(400, 1, -1):
            tail = n / (z + tail)
        return 1 / (z + tail)
    mills = SQRT_HALF_PI * mp.exp(z * z / 2) * mp.erfc(z / mp.sqrt(2))
    return 1 / mills - z


def cdf(x):
    if x < -30:
        return pdf(x) / (excess(-x) - x)
    return mp.erfc(-x / mp.sqrt(2)) / 2


def log_cdf(x):
    if x > 0:
        return mp.log1p(-cdf(-x))
    return mp.log(cdf(x))


def h(u):
    if u < 0:
        t = excess(-u)
        return pdf(u) * t / (t - u)
    return u + h(-u) if u > 0 else pdf(u)


FUNCTIONS = {
    "pdf": pdf,
    "log_pdf": lambda x: mp.log(pdf(x)),
    "cdf": cdf,
    "log_cdf": log_cdf,
    "mills_ratio": lambda z: cdf(-z) / pdf(z),
    "hazard": lambda x: pdf(x) / cdf(x),
    "h": h,
    "log_h": lambda u: mp.log(h(u)),
    "log_h_slope": lambda u: cdf(u) / h(u),
}


def quantile(p, start):
    """Newton's iteration on ln cdf (lower half) from a double that is already nearly right."""
    if p == mp.mpf(1) / 2:
        return mp.mpf(0)
    lower = p if p < 0.5 else 1 - p
    x = -abs(mp.mpf(start))
    for _ in range(12):
        x -= (log_cdf(x) - mp.log(lower)) * cdf(x) / pdf(x)
    return x if p < 0.5 else -x


def coefficients():
    n = 96
    angles = [mp.pi * (j + mp.mpf(1) / 2) / n for j in range(n)]

    def correction(angle):
        s = mp.cos(angle)
        z = 2 * CENTRE / (1 - s) - CENTRE
        return (excess(z) * (z + SQRT_HALF_PI) - 1) / (1 - s * s)

    values = [correction(a) for a in angles]
    a = [2 * sum(v * mp.cos(i * t) for v, t in zip(values, angles)) / n for i in range(n)]
    a[0] /= 2
    for c in a[:TERMS]:
        print(f"    {float(c)!r},")
    print("left out:", mp.nstr(sum(abs(c) for c in a[TERMS:]), 3), file=sys.stderr)


def table():
    for x in [5, 0.5, 0, -0.5, -1, -5, -10, -38, -100, -1e4, -1e6, -1e100]:
        row = [FUNCTIONS[f](mp.mpf(x)) for f in ("log_cdf", "hazard", "log_h", "log_h_slope")]
        print(f"    ({float(x)!r}, " + ", ".join(repr(float(v)) for v in row) + "),")
    for p in ["1e-300", "1e-100", "1e-20", "1e-10", "1e-5", "0.02425", "0.075", "0.25", "0.4", "0.6", "0.975", "0.999999"]:
        exact = mp.mpf(float(p))
        guess = -mp.sqrt(-2 * mp.log(min(exact, 1 - exact)))
        print(f"    ({p}, {float(quantile(exact, guess if exact < 0.02 else mp.mpf(-0.5)))!r}),")


def check():
    worst = defaultdict(lambda: (mp.mpf(0), None))
    for line in sys.stdin:
        name, x, value = line.split()
        x, value = mp.mpf(float.fromhex(x)), mp.mpf(float.fromhex(value))
        exact = quantile(x, value) if name == "quantile" else FUNCTIONS[name](x)
        # log_h crosses zero at u = 0.90: there the error counts against 1, as no rounding of u allows more.
        scale = max(abs(exact), 1) if name == "log_h" else abs(exact)
        if scale < mp.mpf(2) ** -1022:
            continue
        error = abs(value - exact) / scale
        if error > worst[name][0]:
            worst[name] = (error, x)
    for name, (error, x) in worst.items():
        print(f"{name:12} {mp.nstr(error, 3):10} at {mp.nstr(x, 17)}")


if __name__ == "__main__":
    {"coefficients": coefficients, "table": table, "check": check}[sys.argv[1]]()
