"""Whatever arguments are given: only noregret's exceptions, TypeError and ValueError come out, and the study goes on.

`NOREGRET_FUZZ=100 pytest python/tests/test_fuzz.py` tries so many times as much, with other examples in every run.
"""

import itertools
import json
import math
import operator
import os
from fractions import Fraction
from unittest.mock import MagicMock

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import noregret as nr
from noregret import optuna as nr_optuna
from noregret import skopt as nr_skopt

TIMES = int(os.environ.get("NOREGRET_FUZZ", "1"))
some = settings(
    max_examples=60 * TIMES,
    derandomize=TIMES == 1,
    deadline=None,
    database=None,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.generate, Phase.shrink],
)


class Evil(Exception):
    """What methods of users' objects raise: it may come out."""


class Sly:
    """An object with one method that raises, or returns what it should not."""

    def __init__(self, method, answer):
        self.method, self.answer = method, answer

    def __repr__(self):
        return f"Sly({self.method!r}, {self.answer!r})"


def sly(method, answer):
    def call(self, *args, **kwargs):
        if answer is Evil:
            raise Evil(method)
        return answer

    return type("Sly", (Sly,), {method: call})(method, answer)


METHODS = [
    "__index__", "__float__", "__int__", "__iter__", "__len__", "__array__", "__bool__", "__eq__", "__hash__", "__str__", "__repr__", "__lt__",
    "__getattr__", "__contains__", "tolist", "keys", "__length_hint__", "__call__", "__fspath__",
]  # fmt: skip
ANSWERS = [Evil, None, -1, 2**62, 2**70, "\ud800", 1.5, math.nan, [], [1.0], b"x"]


class LongList(list):
    """It says that it is longer than it is."""

    def __len__(self):
        return 2**62


class LongMapping(dict):
    def __len__(self):
        return 2**62


def recursive(kind):
    if kind is dict:
        outer = {}
        outer["a"] = outer
    else:
        outer = []
        outer.append(outer)
    return outer


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


numbers = st.one_of(
    st.sampled_from([0, 1, 2, 3, -1, 2**31, 2**63, 2**64, -(2**63) - 1, 10**400, True, False, 0.5, 1e308, -0.0, 5e-324, math.nan, math.inf, -math.inf]),
    st.integers(),
    st.floats(),
    st.sampled_from([Fraction(1, 3), 1j, np.float32(0.5), np.int8(3), np.uint64(2**64 - 1), np.bool_(True), np.datetime64("NaT"), np.float64("nan")]),
)
texts = st.one_of(st.sampled_from(["", "\ud800", "a\0b", "x", "lr", "relu", "m1", "nan", "1", "é" * 100]), st.text(max_size=5), st.binary(max_size=3))
arrays = st.builds(
    lambda shape, dtype, change: change(np.zeros(shape).astype(dtype)),
    st.sampled_from([(), (0,), (1,), (3,), (0, 5), (1, 5), (3, 5), (2, 0), (3, 3), (1, 1), (2, 5, 1), (1, 1, 1, 1)]),
    st.sampled_from(["f8", "f4", "f2", ">f8", "i8", "u1", "?", "c16", "U3", "O", "M8[s]", [("a", "f8"), ("b", "i4")]]),
    st.sampled_from([
        lambda a: a,
        lambda a: a.T,
        lambda a: np.repeat(a, 2, axis=-1)[..., ::-2] if a.ndim else a,
        lambda a: np.ma.masked_array(a, mask=True),
        lambda a: np.ma.masked_array(a, mask=False),
        lambda a: a.view(np.recarray) if a.dtype.names else a,
    ]),
)  # fmt: skip
large = st.sampled_from([
    range(2**62), range(2**70), np.broadcast_to(0.0, (2**40, 2)), np.broadcast_to(np.int8(1), (2**40, 3)), np.broadcast_to(0.5, (2**20, 2**21)),
])  # fmt: skip


class Recipe:
    """How to make an object: hypothesis shows what it has drawn, which not all objects survive, and uses it twice."""

    def __init__(self, make, *args):
        self.make, self.args = make, args

    def __repr__(self):
        return f"Recipe({self.make.__name__}, {ascii(self.args)})"


def made(drawn):
    if isinstance(drawn, Recipe):
        return drawn.make(*drawn.args)
    if type(drawn) is list:
        return [made(item) for item in drawn]
    if type(drawn) is tuple:
        return tuple(made(item) for item in drawn)
    if type(drawn) is dict:
        return {key: made(item) for key, item in drawn.items()}
    return drawn


MADE = [
    Recipe(object), Recipe(MagicMock), Recipe(recursive, dict), Recipe(recursive, list), Recipe(nested, 100), Recipe(nested, 127), Recipe(nested, 400),
    Recipe(LongList), Recipe(LongList, [1.0]), Recipe(LongMapping), Recipe(LongMapping, {"lr": 1}), Recipe(iter, [1.0]), Recipe(memoryview, b"ab"),
    Recipe(lambda: (x for x in [[1.0]])), Recipe(lambda: int), Recipe(lambda: len), Recipe(lambda: np.ma.masked), Recipe(slice, 3),
]  # fmt: skip
odd = st.one_of(st.builds(lambda method, answer: Recipe(sly, method, answer), st.sampled_from(METHODS), st.sampled_from(ANSWERS)), st.sampled_from(MADE))
leaves = st.one_of(st.none(), numbers, texts, odd)
keys = st.sampled_from(["lr", "layers", "act", "width", "bias", "mass", "name", "candidates", "\ud800", 0, None, ("a",)])
anything = st.one_of(
    leaves,
    arrays,
    large,
    st.lists(leaves, max_size=5),
    st.lists(st.lists(leaves, max_size=5), max_size=3),
    st.dictionaries(keys, leaves, max_size=5),
    st.lists(st.dictionaries(keys, leaves, max_size=5), max_size=2),
    st.sets(st.sampled_from([0, 1, 0.5, "relu", None]), max_size=3),
    st.frozensets(st.sampled_from([0, 1, 0.5, "relu"]), max_size=3),
    st.tuples(leaves, leaves),
)


def harmless(call, *args, **kwargs):
    """Calls it; what is raised is documented, or was raised by one of our objects."""
    try:
        return call(*args, **kwargs)
    except (nr.NoRegretError, TypeError, ValueError, Evil, AttributeError) as error:
        assert "which is a bug" not in str(error)
        # Objects of ours that lack a method, and nothing of noregret.
        assert not isinstance(error, AttributeError) or "Sly" in str(error) or "object has no attribute" in str(error)


SPACE = {"lr": nr.Float(1e-5, 1e-1, log=True), "layers": nr.Int(1, 8), "act": nr.Categorical(["relu", "tanh"]), "width": nr.Ordinal([32, 64]), "bias": nr.Bool()}
ONE = {"x": nr.Float(0, 1)}


def pool():
    return nr.Pool([[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]], ids=["m0", "m1", "m2"])


STUDIES = {
    "mixed": lambda: nr.Study(SPACE, algorithm="random"),
    "one": lambda: nr.Study(ONE, algorithm="random", duplicates="replicate"),
    "objects": lambda: nr.Study({"c": nr.Categorical([None, (1, 2), "a"])}, algorithm="random", duplicates="replicate"),
    "pool": lambda: nr.Study(pool(), algorithm="random", duplicates="replicate"),
}


def usable(study):
    """It has lost nothing, and goes on."""
    before = len(study.trials)
    (trial,) = study.ask(1)
    assert study.tell(trial, 1.0) == "complete"
    assert len(study.trials) in (before, before + 1)
    assert json.loads(study._native.log())
    assert repr(study)


def few(n):
    """Not a number of points that fits into memory and is not worth waiting for: that is for the tests of limits."""
    try:
        return 1 if 100 < operator.index(n) < 2**63 else n
    except Exception:
        return n


CALLS = {
    "ask": (lambda study, a, b: study.ask(few(a), lease=b), anything, anything),
    "tell": (lambda study, a, b: study.tell(a, b), anything, anything),
    "tell value": (lambda study, a, b: study.tell(0, a, b), anything, anything),
    "tell attrs": (lambda study, a, b: study.tell(0, 1.0, attrs=a, seconds=b), anything, anything),
    "tell attrs of one": (lambda study, a, b: study.tell(0, 1.0, attrs={"a": a, "b": b}), anything, anything),
    "fail": (lambda study, a, b: study.fail(0, a, seconds=b), anything, anything),
    "fail number": (lambda study, a, b: study.fail(a, "no"), anything, st.none()),
    "release": (lambda study, a, b: study.release(a, b), anything, anything),
    "enqueue": (lambda study, a, b: study.enqueue(a, b), anything, anything),
    "enqueue dict": (lambda study, a, b: study.enqueue({"lr": a, "layers": b, "act": a, "width": 32, "bias": b}), anything, anything),
    "tell_many": (lambda study, a, b: study.tell_many(a, b), anything, anything),
    "tell_many X": (lambda study, a, b: study.tell_many(a, [1.0, 2.0, 3.0], b), anything, anything),
    "tell_many rows": (lambda study, a, b: study.tell_many([a, b], [1.0, 2.0]), anything, anything),
    "tell_many y": (lambda study, a, b: study.tell_many([[0.5], [0.25]], a, b), anything, anything),
    "suggest": (lambda study, a, b: study.suggest(few(a)), anything, st.none()),
    "predict": (lambda study, a, b: study.predict(a), anything, st.none()),
    "predict rows": (lambda study, a, b: study.predict([a, b]), anything, anything),
    "to_dataframe": (lambda study, a, b: study.to_dataframe(a), anything, st.none()),
}


@pytest.mark.parametrize("kind", STUDIES)
@pytest.mark.parametrize("name", CALLS)
def test_methods_of_a_study(name, kind):
    call, first, second = CALLS[name]
    study = STUDIES[kind]()
    study.ask(1)

    @settings(some, max_examples=25 * TIMES)
    @given(first, second)
    def fuzz(a, b):
        harmless(call, study, made(a), made(b))
        usable(study)

    fuzz()


@some
@given(anything, anything, anything)
def test_parameters(a, b, c):
    a, b, c = made((a, b, c))
    for declare in [lambda: nr.Float(a, b, c), lambda: nr.Int(a, b, c), lambda: nr.Categorical(a), lambda: nr.Ordinal(a), lambda: nr.Categorical([a, b])]:
        parameter = harmless(declare)
        harmless(nr.Study, {"p": parameter}, algorithm="random")


@some
@given(anything, anything)
def test_spaces(a, b):
    a, b = made((a, b))
    harmless(nr.Study, a)
    harmless(nr.Study, {"x": nr.Float(0, 1)}, constraints=a)
    harmless(nr.Study, [(a, b)])
    harmless(nr.Study, {"x": a, b if isinstance(b, (str, int)) else "y": nr.Bool()})


OPTIONS = ["direction", "algorithm", "seed", "name", "duplicates", "trials"]


@some
@given(st.sampled_from(OPTIONS), anything)
def test_options_of_a_study(option, a):
    harmless(nr.Study, ONE, **{option: made(a)})


@some
@given(st.sampled_from(["sobol", "gp-ei", "bbkb", "neural-bo", "random-forest"]), st.sampled_from(["candidates", "initial_points", "model", "solver", "trees"]), anything)
def test_options_of_an_algorithm(name, option, a):
    harmless(nr.Study, ONE, algorithm={"name": name, option: made(a)})


@some
@given(anything, anything)
def test_storages(a, b):
    a, b = made((a, b))
    harmless(nr.Study, ONE, storage=a, name="s")
    harmless(nr.Study.load, b, a)


@some
@given(anything, anything, anything)
def test_pools(a, b, c):
    a, b, c = made((a, b, c))
    harmless(nr.Pool, a)
    harmless(nr.Pool, [a, b])
    harmless(nr.Pool, [[1.0], [2.0]], ids=a, names=b)
    known = pool()
    for call in [known.id, known.row, known.params, known.rows]:
        harmless(call, c)
    assert len(known) == 3 and known.row("m1") == 1


@some
@given(anything, anything)
def test_minimize(a, b):
    a, b = made((a, b))
    harmless(nr.minimize, lambda x: a, ONE, n_trials=2, algorithm="random")
    harmless(nr.minimize, lambda x: (a, b), [(0, 1)], n_trials=2, algorithm="random")
    harmless(nr.minimize, a, ONE, n_trials=2, algorithm="random")
    harmless(nr.minimize, len, a, n_trials=0, algorithm="random")


@some
@given(st.sampled_from(["n_trials", "batch_size", "n_jobs", "callback", "executor", "catch", "timeout", "progress"]), anything)
def test_options_of_minimize(option, a):
    a = made(a)
    count = itertools.count()

    def fun(x):
        if next(count) > 20:
            raise Evil("enough")
        return 1.0

    options = {"n_trials": 2, "algorithm": "random", option: a}
    if option in ("n_jobs", "batch_size"):
        options[option] = few(a)
    harmless(nr.minimize, fun, ONE, **options)


@some
@given(anything, anything)
def test_skopt(a, b):
    a, b = made((a, b))
    for dimension in [lambda: nr_skopt.Real(a, b), lambda: nr_skopt.Integer(a, b), lambda: nr_skopt.Categorical(a), lambda: nr_skopt.Space([a, b])]:
        harmless(dimension)
    optimizer = nr_skopt.Optimizer([(0.0, 1.0), (1, 5)], base_estimator="dummy")
    harmless(optimizer.tell, a, b)
    harmless(optimizer.tell, [0.5, 2], a)
    assert len(optimizer.ask()) == 2


@some
@given(anything, anything)
def test_optuna(a, b):
    a, b = made((a, b))
    harmless(nr_optuna.NoRegretSampler, algorithm=a)
    harmless(nr_optuna.NoRegretSampler, seed=b)


# What this has found.


def test_a_pool_of_a_range_that_is_larger_than_memory():
    with pytest.raises(nr.InvalidSpace):
        nr.Pool(range(2**62))


def test_a_row_that_says_it_is_longer_than_memory():
    assert len(nr.Pool([LongList([1.0])])) == 1


def test_a_pool_of_an_array_that_is_larger_than_memory():
    with pytest.raises(nr.InvalidSpace):
        nr.Pool(np.broadcast_to(0.0, (2**20, 2**24)))


def test_attributes_with_half_of_a_surrogate_pair():
    study = nr.Study(ONE)
    study.ask(1)
    with pytest.raises(nr.InvalidArgument, match="attrs"):
        study.tell(0, 1.0, attrs={"a": "\ud800"})
    assert study.tell(0, 1.0, attrs={"a": "\U0001f600"}) == "complete"


def test_attributes_with_an_integer_of_400_digits_keep_it_as_text():
    study = nr.Study(ONE)
    study.ask(1)
    study.tell(0, 1.0, attrs={"a": 10**400, "b": 2**64 - 1, "c": -(2**63)})
    assert study.trials[0].attrs == {"a": str(10**400), "b": 2**64 - 1, "c": -(2**63)}


def test_attributes_that_are_nested_too_deep_do_not_spoil_the_log(tmp_path):
    storage = f"sqlite:///{tmp_path}/n.db"
    study = nr.Study(ONE, storage=storage, name="s")
    study.ask(1)
    for depth in range(95, 130):
        harmless(study.tell, 0, 1.0, attrs={"a": nested(depth)})
        assert len(nr.Study(ONE, storage=storage, name="s").trials) == 1
    for attrs in [recursive(dict), {"a": nested(5000)}]:
        with pytest.raises(nr.InvalidArgument, match="nested too deep"):
            study.tell(0, 1.0, attrs=attrs)


@pytest.mark.parametrize("y", [{1.0, 2.0}, frozenset([1.0, 2.0]), {1.0: 0, 2.0: 0}, "12", b"12", np.ma.masked_array([1.0, 2.0], mask=[True, False]), range(2**62)])
def test_values_without_an_order_or_with_a_mask(y):
    study = nr.Study(ONE)
    with pytest.raises(nr.InvalidArgument):
        study.tell_many([[0.1], [0.2]], y)
    with pytest.raises(nr.InvalidArgument):
        study.tell_many([[0.1], [0.2]], [1.0, 2.0], y)


@pytest.mark.parametrize("X", [{0.1, 0.2}, [{0.1}, {0.2}], np.ma.masked_array([[0.1], [0.2]], mask=[[True], [False]]), range(2**62)])
def test_points_without_an_order_or_with_a_mask(X):
    study = nr.Study(ONE)
    for call in [lambda: study.tell_many(X, [1.0, 2.0]), lambda: study.predict(X)]:
        with pytest.raises(nr.InvalidParams):
            call()


def test_arrays_with_nothing_masked_are_arrays():
    study = nr.Study(ONE)
    assert study.tell_many(np.ma.masked_array([[0.1], [0.2]]), np.ma.masked_array([1.0, 2.0], mask=[False, False])) == 2
    study.ask(1)
    with pytest.raises(nr.InvalidArgument):
        study.tell(2, np.ma.masked)


@pytest.mark.parametrize("features", [{(1.0,), (2.0,)}, [{1.0, 2.0}], [{1.0: 2.0}], np.ma.masked_array([[1.0]], mask=[[True]])])
def test_pools_without_an_order_or_with_a_mask(features):
    with pytest.raises(nr.InvalidSpace):
        nr.Pool(features)


@pytest.mark.parametrize("kind", [nr.Categorical, nr.Ordinal])
def test_choices_without_an_order(kind):
    with pytest.raises(nr.InvalidSpace, match="set"):
        kind({"a", "b"})


@pytest.mark.parametrize("n", [2**64, 10**30, -(2**70)])
def test_numbers_that_are_too_large_for_native_code(n):
    study = nr.Study(ONE)
    for call in [lambda: study.ask(n), lambda: study.suggest(n), lambda: study.tell(n, 1.0), lambda: pool().id(n), lambda: pool().params(n)]:
        with pytest.raises(nr.NoRegretError):
            call()
    study.ask(1)
    for number in [10**400, -(10**400)]:
        for call in [lambda: study.tell(0, 1.0, number), lambda: study.tell(0, 1.0, seconds=number), lambda: study.ask(1, lease=number)]:
            with pytest.raises(nr.InvalidArgument):
                call()
