"""Evaluations by MPI: one process decides, the others evaluate.

mpiexec -n 3 python -m mpi4py.futures examples/engines/mpi.py
"""

from mpi4py.futures import MPIPoolExecutor

import noregret as nr


def bowl(x):
    return (x[0] - 3) ** 2 + (x[1] - 2) ** 2


if __name__ == "__main__":
    with MPIPoolExecutor() as executor:
        found = nr.minimize(bowl, [(-5, 10), (0, 15)], n_trials=20, n_jobs=2, executor=executor)
    print(found.nfev, found.fun)
