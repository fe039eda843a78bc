"""What the pictures show: the data of their artists, scales, labels."""

import math
import sys

import pytest

import noregret as nr

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402


class Act:
    """A choice that is neither a number nor text."""


SPACE = {
    "lr": nr.Float(1e-5, 1e-1, log=True),
    "layers": nr.Int(1, 8),
    "act": nr.Categorical(["relu", None, Act, 1, True]),
    "width": nr.Ordinal([32, 64, 128]),
    "bias": nr.Bool(),
}


def cost(params):
    return (math.log10(params["lr"]) + 3) ** 2 + 0.1 * params["layers"] + params["width"] / 100 + (params["act"] == "relu")


def mixed(n=20, direction="minimize", failing=(3, 11)):
    study = nr.Study(SPACE, seed=1, direction=direction)
    for trial in study.ask(n):
        if trial.number in failing:
            study.fail(trial, "boom")
        else:
            study.tell(trial, cost(trial.params) if direction == "minimize" else -cost(trial.params))
    return study


def of_pool(n=3000):
    features = np.random.default_rng(0).random((n, 3))
    study = nr.Study(nr.Pool(features, names=["mass", "charge", "size"]), direction="maximize", seed=1)
    for trial in study.ask(12):
        study.tell(trial, -trial.params["mass"])
    return study


@pytest.fixture(autouse=True)
def closed():
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()  # whatever a test drew can be rendered
    plt.close("all")


def line(ax, label):
    return next(found for found in ax.lines if found.get_label() == label)


def points(ax, at=0):
    """Offsets of the scatter that is drawn as number `at`, leaving out those that are there for the legend."""
    return [c.get_offsets() for c in ax.collections if hasattr(c, "get_offsets") and len(c.get_offsets()) > 1][at]


# History


@pytest.mark.parametrize("direction", ["minimize", "maximize"])
def test_history_has_values_the_best_so_far_and_failures(direction):
    study = mixed(direction=direction)
    ax = study.plot_history()
    told = [t for t in study.trials if t.state == "complete"]
    assert line(ax, "value").get_xydata().tolist() == [[t.number, t.value] for t in told]

    best = line(ax, "best so far")
    better = min if direction == "minimize" else max
    assert best.get_ydata()[-1] == study.best_observed.value
    assert list(best.get_ydata()[:-1]) == [better(t.value for t in told[: i + 1]) for i in range(len(told))]
    assert best.get_drawstyle() == "steps-post" and best.get_xdata()[-1] == 19

    failed = line(ax, "failed")
    assert list(failed.get_xdata()) == [3, 11]
    # At the edge of bad values, in shares of the height.
    assert set(failed.get_ydata()) == ({0.97} if direction == "minimize" else {0.03})
    assert ax.get_xlabel() == "trial" and ax.get_ylabel() == f"value ({direction})"


def test_history_has_the_recommendation_with_its_interval():
    study = mixed()
    ax = study.plot_history()
    (bar,) = ax.containers
    (segment,) = bar.lines[2][0].get_segments()
    assert sorted(segment[:, 1]) == pytest.approx(sorted(study.recommended.interval))
    assert bar.lines[0].get_ydata()[0] == study.recommended.mean
    assert bar.lines[0].get_xdata()[0] > 19  # beside the trials
    (legend,) = ax.figure.legends
    assert {text.get_text() for text in legend.get_texts()} == {"value", "best so far", "failed", "recommended, 95 %"}


def test_history_draws_where_it_is_told_to():
    _, ax = plt.subplots()
    study = mixed(failing=())
    assert study.plot_history(ax) is ax
    assert not [found for found in ax.lines if found.get_label() == "failed"]
    assert ax.get_legend() is not None and not ax.figure.legends  # not ours to write beside


# Slices


def test_slice_has_a_panel_for_each_parameter():
    study = mixed()
    axes = study.plot_slice()
    assert [ax.get_xlabel() for ax in axes] == list(SPACE)
    assert [ax.get_xscale() for ax in axes] == ["log"] + ["linear"] * 4
    assert axes[0].get_ylabel() == "value (minimize)"
    assert axes[0].get_ylim() == axes[4].get_ylim()
    told = [t for t in study.trials if t.state == "complete"]
    for ax, name in zip(axes[:2], ["lr", "layers"]):
        assert points(ax).tolist() == [[t.params[name], t.value] for t in told]
        assert list(ax.collections[0].get_array()) == [t.number for t in told]
        best = study.best_observed
        assert line(ax, "best").get_xydata().tolist() == [[best.params[name], best.value]]
        assert list(line(ax, "failed").get_xdata()) == [study.trials[i].params[name] for i in (3, 11)]


def test_slice_puts_choices_at_their_ticks():
    study = mixed(40)
    ax = study.plot_slice("act")[0]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["relu", "None", "Act", "1", "True"]
    told = [t for t in study.trials if t.state == "complete"]
    places = points(ax)[:, 0]
    assert [SPACE["act"].choices[round(x)] for x in places] == [t.params["act"] for t in told]
    assert all(type(SPACE["act"].choices[round(x)]) is type(t.params["act"]) for x, t in zip(places, told))
    assert len(set(places)) == len(places)  # told apart
    assert max(abs(x - round(x)) for x in places) < 0.16


def test_slice_of_named_parameters():
    axes = mixed().plot_slice(["width", "lr"])
    assert [ax.get_xlabel() for ax in axes] == ["width", "lr"]
    with pytest.raises(nr.InvalidArgument, match="no parameter rl; known: lr, layers"):
        mixed().plot_slice(["rl"])


def test_slice_of_many_parameters_keeps_to_the_important_ones():
    study = nr.Study([(0, 1)] * 20, seed=1)
    for trial in study.ask(30):
        study.tell(trial, 5 * trial.params["x17"] + trial.params["x3"])
    axes = study.plot_slice()
    assert len(axes) == 12
    assert [ax.get_xlabel() for ax in axes] == list(study.importance)[:12]
    assert axes[0].get_xlabel() == "x17"


# The model


def test_surrogate_of_one_parameter_is_what_predict_says():
    study = mixed()
    ax = study.plot_surrogate("lr")
    mean = line(ax, "mean")
    rest = study.recommended.params
    expected, sd = study.predict([{**rest, "lr": lr} for lr in mean.get_xdata()])
    assert list(mean.get_ydata()) == list(expected)
    assert mean.get_xdata()[0] == 1e-5 and mean.get_xdata()[-1] == 1e-1
    assert ax.get_xscale() == "log" and ax.get_xlabel() == "lr"

    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].max() == pytest.approx((expected + 2 * sd).max())
    assert band[:, 1].min() == pytest.approx((expected - 2 * sd).min())

    told = [t for t in study.trials if t.state == "complete"]
    assert points(ax).tolist() == [[t.params["lr"], t.value] for t in told]
    assert line(ax, "recommended").get_xydata().tolist() == [[rest["lr"], study.recommended.mean]]
    assert ax.get_title(loc="left").startswith(f"at layers = {rest['layers']}, act = ")


def test_observations_fade_with_their_distance_in_what_matters():
    study = nr.Study([(0, 1), (0, 1), (0, 1)], seed=1)
    for trial in study.ask(30):
        study.tell(trial, trial.params["x0"] + 3 * trial.params["x1"])
    ax = study.plot_surrogate("x0")
    alphas = next(c for c in ax.collections if np.ndim(c.get_alpha())).get_alpha()
    away = [abs(t.params["x1"] - study.recommended.params["x1"]) for t in study.trials]
    assert max(alphas) > 0.8 and min(alphas) < 0.25
    assert np.corrcoef(alphas, away)[0, 1] < -0.6
    # With nothing held there is nothing to be far from.
    study = nr.Study([(0, 1)], seed=1)
    study.tell_many([[0.1], [0.5], [0.9]], [1.0, 0.5, 2.0])
    alphas = next(c for c in study.plot_surrogate().collections if np.ndim(c.get_alpha())).get_alpha()
    assert min(alphas) == max(alphas) > 0.8


def test_surrogate_of_whole_numbers_and_choices():
    study = mixed()
    assert list(line(study.plot_surrogate(["layers"]), "mean").get_xdata()) == [1, 2, 3, 4, 5, 6, 7, 8]

    ax = study.plot_surrogate("act")
    (bar,) = ax.containers
    rest = study.recommended.params
    expected, sd = study.predict([{**rest, "act": act} for act in SPACE["act"].choices])
    assert list(bar.lines[0].get_ydata()) == list(expected)
    heights = [np.ptp(segment[:, 1]) for segment in bar.lines[2][0].get_segments()]
    assert heights == pytest.approx(4 * sd)
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["relu", "None", "Act", "1", "True"]


def test_surrogate_of_two_numbers_is_two_maps():
    study = mixed()
    left, right = study.plot_surrogate(["lr", "layers"])
    for ax in (left, right):
        assert (ax.get_xscale(), ax.get_yscale()) == ("log", "linear")
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("lr", "layers")
        told = [t for t in study.trials if t.state == "complete"]
        assert points(ax, 0).tolist() == [[t.params["lr"], t.params["layers"]] for t in told]
        assert points(ax, 1).tolist() == [[study.trials[i].params[name] for name in ("lr", "layers")] for i in (3, 11)]
        best = study.recommended.params
        assert line(ax, "recommended").get_xydata().tolist() == [[best["lr"], best["layers"]]]
    # The colours span what is predicted.
    grid = [{**study.recommended.params, "lr": lr, "layers": n} for lr in np.geomspace(1e-5, 1e-1, 60) for n in range(1, 9)]
    mean, sd = study.predict(grid)
    for ax, surface in ((left, mean), (right, sd)):
        colours = ax.collections[0]
        assert colours.get_clim()[0] <= surface.min() and surface.max() <= colours.get_clim()[1]
        assert np.ptp(colours.get_clim()) < 1.3 * np.ptp(surface)
    labels = [ax.get_ylabel() for ax in left.figure.axes[2:]]
    assert labels == ["mean", "standard deviation"]


def test_surrogate_with_a_choice_is_cells():
    study = mixed()
    left, _ = study.plot_surrogate(["width", "act"])
    cells = left.collections[0].get_array()
    assert cells.shape == (5, 3)
    rest = study.recommended.params
    mean, _ = study.predict([{**rest, "width": 128, "act": Act}])
    assert cells[2, 2] == pytest.approx(mean[0])
    assert [tick.get_text() for tick in left.get_xticklabels()] == ["32", "64", "128"]
    assert [tick.get_text() for tick in left.get_yticklabels()] == ["relu", "None", "Act", "1", "True"]


def test_surrogate_chooses_what_matters():
    study = mixed()
    left, _ = study.plot_surrogate()
    assert [left.get_xlabel(), left.get_ylabel()] == list(study.importance)[:2]
    study = nr.Study([(0, 1), (0, 1)], seed=1)
    study.tell_many([[0.1, 0.2]], [1.0])  # too little for importance
    left, _ = study.plot_surrogate()
    assert [left.get_xlabel(), left.get_ylabel()] == ["x0", "x1"]


def test_surrogate_draws_where_it_is_told_to():
    study = mixed()
    _, ax = plt.subplots()
    assert study.plot_surrogate("lr", ax) is ax
    _, pair = plt.subplots(1, 2)
    assert list(study.plot_surrogate(["lr", "layers"], pair)) == list(pair)
    with pytest.raises(nr.InvalidArgument, match="two parameters take two Axes"):
        study.plot_surrogate(["lr", "layers"], ax)
    with pytest.raises(nr.InvalidArgument, match="one parameter takes one Axes"):
        study.plot_surrogate("lr", pair)


def test_surrogate_refuses_what_it_cannot_draw():
    study = mixed()
    with pytest.raises(nr.InvalidArgument, match="one or two parameters, not 3: lr, layers, act"):
        study.plot_surrogate(["lr", "layers", "act"])
    with pytest.raises(nr.InvalidArgument, match="each once"):
        study.plot_surrogate(["lr", "lr"])
    with pytest.raises(nr.InvalidArgument, match="no parameter rl"):
        study.plot_surrogate(["rl"])


def test_a_space_of_one_point_can_be_drawn():
    study = nr.Study({"a": nr.Int(3, 3), "b": nr.Categorical(["only"])})
    study.tell(study.ask(1)[0], 1.0)
    study.plot_history()
    study.plot_slice()
    study.plot_surrogate("a")
    left, _ = study.plot_surrogate()
    assert left.collections[0].get_array().shape == (1, 1)


# Pools


def test_a_pool_is_drawn_by_its_rows():
    study = of_pool()
    left, _ = study.plot_surrogate(["mass", "charge"])
    rows = left.collections[0]
    assert len(rows.get_offsets()) == 1500  # every second of 3,000
    features = [list(study.pool.params(row).values()) for row in range(0, 3000, 2)]
    assert rows.get_offsets().tolist() == [[mass, charge] for mass, charge, _ in features]
    assert list(rows.get_array()) == list(study.predict(features)[0])
    assert points(left, 1).tolist() == [[t.params["mass"], t.params["charge"]] for t in study.trials]

    ax = study.plot_surrogate("mass")
    assert list(ax.containers[0].lines[0].get_ydata()) == list(study.predict(features)[0])
    assert [ax.get_xlabel() for ax in study.plot_slice()] == ["mass", "charge", "size"]
    assert study.plot_history().get_ylabel() == "value (maximize)"


# Without anything to draw, or to draw with


@pytest.mark.parametrize("draw", [nr.Study.plot_history, nr.Study.plot_slice, nr.Study.plot_surrogate])
def test_before_the_first_value_there_is_nothing_to_draw(draw):
    study = nr.Study(SPACE)
    with pytest.raises(nr.InvalidArgument, match="before the first value is told"):
        draw(study)
    study.fail(study.ask(1)[0])
    with pytest.raises(nr.InvalidArgument, match="before the first value is told"):
        draw(study)
    assert not plt.get_fignums()  # no empty figure is left behind


@pytest.mark.parametrize("draw", [nr.Study.plot_history, nr.Study.plot_slice, nr.Study.plot_surrogate])
def test_without_matplotlib_the_error_says_what_to_install(draw, monkeypatch):
    study = mixed(6)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        draw(study)


def test_matplotlib_is_not_imported_before_it_is_needed():
    import subprocess

    code = "import noregret, noregret.plots, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
