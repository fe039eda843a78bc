"""Bad input gets a typed exception that says what would be right."""

import pickle

import numpy as np
import pytest

import noregret as nr


@pytest.mark.parametrize(
    "space, message, parameter",
    [
        ({}, "at least one parameter", None),
        ({"x": nr.Float(1, 0)}, "parameter `x`: low must be below high", "x"),
        ({"x": nr.Float(0, 1, log=True)}, "`x`: a logarithmic range must begin above 0", "x"),
        ({"x": nr.Float(0, float("inf"))}, "`x`: bounds must be finite", "x"),
        ({"x": nr.Float("a", 1)}, "parameter `x`: must be real number", "x"),
        ({"n": nr.Int(0.5, 3)}, "parameter `n`", "n"),
        ({"c": nr.Categorical([])}, "`c` needs at least one value", "c"),
        ({"c": nr.Categorical(["a", "a"])}, '"a" is listed twice', "c"),
        ({"a b": nr.Float(0, 1)}, "cannot name a parameter", "a b"),
        ({"x": (0, 1)}, "`x` must be declared by Float, Int", None),
        ("x", "a dict of parameters, a Pool, or a list of bounds", None),
        ([(0, 1, 2)], "list of bounds", None),
    ],
)
def test_spaces(space, message, parameter):
    with pytest.raises(nr.InvalidSpace, match=message) as caught:
        nr.Study(space)
    assert caught.value.parameter == parameter
    assert isinstance(caught.value, ValueError)


def test_constraints():
    with pytest.raises(nr.InvalidSpace, match="constraint `c0`, column 1: unknown parameter `y`"):
        nr.Study({"x": nr.Float(0, 1)}, constraints="y < 1")
    with pytest.raises(nr.InvalidSpace, match="too few to search"):
        nr.Study({"x": nr.Float(0, 1)}, constraints=lambda p: False)
    with pytest.raises(nr.InvalidSpace, match="an expression or a function, not 3"):
        nr.Study({"x": nr.Float(0, 1)}, constraints=[3])


def test_choices_must_be_a_list():
    with pytest.raises(nr.InvalidSpace, match="Categorical takes a list of values, not 'relu'"):
        nr.Categorical("relu")


@pytest.mark.parametrize(
    "features, options, message",
    [
        ([], {}, "at least one row"),
        ([[1.0], [1.0, 2.0]], {}, "row 1 of the pool .* has 2 features, row 0 has 1"),
        ([[float("nan")]], {}, "must be a finite number"),
        (np.zeros((2, 2)), {"ids": ["a", "a"]}, "share the id"),
        (np.zeros((2, 2)), {"ids": ["a"]}, "needs as many ids"),
        (np.zeros((2, 2)), {"names": ["a"]}, "needs as many names"),
        (np.zeros(3), {}, "a row for each candidate"),
    ],
)
def test_pools(features, options, message):
    with pytest.raises(nr.InvalidSpace, match=message):
        nr.Pool(features, **options)


@pytest.mark.parametrize(
    "point, message, parameter",
    [
        ({"x": 2.0, "c": "a"}, "`x` must lie between 0.0 and 1.0, unlike 2.0", "x"),
        ({"x": 0.5}, "`c` is missing", "c"),
        ({"x": 0.5, "C": "a"}, "unknown parameter `C` .nearest known: `c`.", "C"),
        ({"x": 0.5, "c": "z"}, '`c` must be one of "a", "b", not "z"', "c"),
        ({"x": "much", "c": "a"}, '`x` must be .*, not "much"', "x"),
        ({"x": [1], "c": "a"}, "a value must be a number, text, True or False", "x"),
        ({"x": 2**80, "c": "a"}, "too large", "x"),
        ([0.5], "a point has 2 values, one for each parameter, not 1", None),
    ],
)
def test_points(point, message, parameter):
    study = nr.Study({"x": nr.Float(0, 1), "c": nr.Categorical(["a", "b"])})
    with pytest.raises(nr.InvalidParams, match=message) as caught:
        study.tell_many([point], [1.0])
    assert caught.value.parameter == parameter
    assert len(study) == 0


def test_arguments():
    study = nr.Study([(0, 1)])
    trial = study.ask(1)[0]
    for call, message in [
        (lambda: study.ask(0), "ask for 1 to 100,000 trials"),
        (lambda: study.ask(-1), "ask for 1 to 100,000 trials"),
        (lambda: study.ask(1.5), "ask for 1 to 100,000 trials"),
        (lambda: study.ask(2**63), "ask for 1 to 100,000 trials"),
        (lambda: study.ask(2**64), "ask for 1 to 100,000 trials"),
        (lambda: study.ask(1, lease=-1), "a lease is a number of seconds"),
        (lambda: study.tell(trial, "good"), "a value is a number, not 'good'"),
        (lambda: study.tell(trial, 1.0, noise_var=-1), "noise variance must be from 0 to 1e150"),
        (lambda: study.tell(trial, 1.0, noise_var=1.7e308), "noise variance must be from 0 to 1e150"),
        (lambda: study.tell("first", 1.0), "name a trial by itself or by its number"),
        (lambda: study.tell_many([[0.5]], [1.0, 2.0]), "1 points need as many values"),
        (lambda: study.tell_many([[0.5]], ["x"]), "y has one number for each point"),
        (lambda: nr.Study([(0, 1)], direction="up"), 'direction must be "minimize" or "maximize"'),
        (lambda: nr.Study([(0, 1)], duplicates="no"), "duplicates must be"),
        (lambda: nr.Study([(0, 1)], seed=-1), "a seed is a whole number"),
        (lambda: nr.Study([(0, 1)], storage="sqlite:///a.db"), "needs a name"),
        (lambda: nr.Study([(0, 1)], algorithm=3), "an algorithm is a name"),
    ]:
        with pytest.raises(nr.InvalidArgument, match=message):
            call()
    with pytest.raises(nr.UnknownTrial, match="there is no trial 7"):
        study.tell(7, 1.0)
    assert study.trials[0].state == "running"


def test_algorithms():
    with pytest.raises(nr.InvalidAlgorithm, match="gp-ucb"):
        nr.Study([(0, 1)], algorithm="gp-ucp")
    with pytest.raises(nr.InvalidAlgorithm, match="initial_point"):
        nr.Study([(0, 1)], algorithm={"name": "gp-ei", "initial_point": 3})
    names = [a["name"] for a in nr.algorithms()]
    assert names[0] == "auto" and {"ts-rsr", "bbkb", "sto-bnts", "neural-bo", "gp-ucb"} <= set(names)
    for name in names:
        nr.Study([(0, 1)] * 2, algorithm=name)


def test_storages():
    for url, message in [("results.db", "sqlite:///path.db"), ("postgresql://ann@host/db?sslmode=no", "sslmode")]:
        with pytest.raises(nr.StorageError, match=message):
            nr.Study([(0, 1)], storage=url, name="s")
    with pytest.raises(nr.StorageError):
        nr.Study.load("s", "sqlite:////no/such/file.db")


def test_all_are_ours_and_survive_a_pickle():
    for name in nr.errors.__all__:
        kind = getattr(nr, name)
        assert issubclass(kind, nr.NoRegretError)
        assert str(pickle.loads(pickle.dumps(kind("because")))) == "because"
