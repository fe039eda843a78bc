"""Reference values of tests/it/sklearn.rs: exact Gaussian processes with given hyperparameters.

Run with scikit-learn 1.9.1 and NumPy 2.4.6:
    python gp_sklearn.py

Prints, per kernel: posterior mean, posterior variance (of the noise-free function) at four
points, and the log marginal likelihood, of 12 observations in three dimensions with noise variance 1e-2.
"""

import numpy as np
import sklearn
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, DotProduct, Matern

N, D = 12, 3
# Exact in binary, so that both programs see the same numbers: multiples of 1/64 by a linear congruence.
X = np.array([[((37 * (3 * i + k) + 11) % 64) / 64 for k in range(D)] for i in range(N)])
Y = np.array([((29 * i + 5) % 32) / 8 - 2 for i in range(N)])
AT = np.array([[0.25, 0.5, 0.75], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0], X[4]])
LENGTHSCALES = [0.25, 0.5, 1.0]
OUTPUTSCALE = 1.5

KERNELS = {
    "SquaredExponential": RBF(LENGTHSCALES),
    "Matern12": Matern(LENGTHSCALES, nu=0.5),
    "Matern32": Matern(LENGTHSCALES, nu=1.5),
    "Matern52": Matern(LENGTHSCALES, nu=2.5),
    "Linear": DotProduct(sigma_0=0.0),  # has no lengthscales: 1 each
}

print(f"# scikit-learn {sklearn.__version__}, NumPy {np.__version__}")
for name, kernel in KERNELS.items():
    gp = GaussianProcessRegressor(ConstantKernel(OUTPUTSCALE) * kernel, alpha=1e-2, optimizer=None).fit(X, Y)
    mean, covariance = gp.predict(AT, return_cov=True)
    print(name)
    print("    mean:", ", ".join(repr(float(m)) for m in mean))
    print("    variance:", ", ".join(repr(float(v)) for v in np.diag(covariance)))
    print(f"    log likelihood: {float(gp.log_marginal_likelihood_value_)!r}")
