"""noregret decides which experiments to run next: model-based optimisation of expensive things, in batches.

>>> import noregret as nr
>>> study = nr.Study({"x": nr.Float(-5, 10), "kind": nr.Categorical(["a", "b"])}, seed=1)
>>> trials = study.ask(4)  # four points, decided on together
>>> for trial in trials:
...     verdict = study.tell(trial, (trial.params["x"] - 3) ** 2)
>>> study.best_observed.value >= 0
True

`Study` is ask and tell; `minimize` the whole loop for functions; `Float`, `Int`, `Categorical`, `Ordinal`, `Bool` and `Pool` say what may be
varied; `algorithms()` lists the methods. `noregret.optuna`, `noregret.ray` and `noregret.skopt` serve users of these; `noregret.executors` has
executors for submitit and Ray.
"""

import atexit

from . import _native
from .errors import (
    AnotherStudy,
    InvalidAlgorithm,
    InvalidArgument,
    InvalidParams,
    InvalidSpace,
    ModelError,
    NoRegretError,
    NoSuchStudy,
    NothingLeft,
    StorageError,
    UnknownTrial,
)
from .optimize import OptimizeResult, minimize
from .space import Bool, Categorical, Float, Int, Ordinal, Pool
from .study import Study, algorithms
from .trial import Recommendation, RemainingRegret, Trial

__version__ = _native.version()

# Threads that call constraints must be out of Python when it ends.
atexit.register(_native.close)

__all__ = [
    "AnotherStudy",
    "Bool",
    "Categorical",
    "Float",
    "Int",
    "InvalidAlgorithm",
    "InvalidArgument",
    "InvalidParams",
    "InvalidSpace",
    "ModelError",
    "NoRegretError",
    "NoSuchStudy",
    "NothingLeft",
    "OptimizeResult",
    "Ordinal",
    "Pool",
    "Recommendation",
    "RemainingRegret",
    "StorageError",
    "Study",
    "Trial",
    "UnknownTrial",
    "algorithms",
    "minimize",
]
