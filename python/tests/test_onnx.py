"""Exported ONNX graphs predict as sharelearn does: every stored model and every pool, on 10,000 rows each."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sharelearn as sl

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

STORED = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "models" / "v0.1"
ROWS, TOLERANCE = 10_000, 1e-5
LINEAR = [path.name[: -len(".model.gz")] for path in sorted(STORED.glob("*.model.gz")) if "sharing" not in path.name]


def exported(model, folder):
    """The session of the exported graph, which is checked to be valid ONNX without operators of other domains."""
    file = folder / "model.onnx"
    sl.export(model, file, to="onnx")
    graph = onnx.load(file)
    onnx.checker.check_model(graph, full_check=True)
    assert [(opset.domain, opset.version) for opset in graph.opset_import] == [("", 18)]
    assert all(node.domain == "" for node in graph.graph.node)
    try:
        return onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented as lack:
        pytest.skip(f"onnxruntime {onnxruntime.__version__} cannot compute this graph: {lack}")


def run(session, rows, block=1000):
    """Outputs by name."""
    names = [output.name for output in session.get_outputs()]
    parts = [session.run(None, {"x": rows[i : i + block]}) for i in range(0, len(rows), block)]
    return {name: np.concatenate([part[n] for part in parts]) for n, name in enumerate(names)}


def random_rows(model, seed=1):
    """Rows over the range that the model's columns had in training, or over grey values."""
    chance, whole = np.random.default_rng(seed), model.to_json()
    shape = (ROWS, model.columns)
    if whole["scaling"]["factor"]:
        factor = np.array(whole["scaling"]["factor"])
        spread = np.divide(1, factor, out=np.zeros_like(factor), where=factor != 0)
        rows = chance.normal(whole["scaling"]["offset"], 0.7 * spread, shape)
    else:
        rows = chance.uniform(0, 16, shape) * (chance.random(shape) < 0.7)
    if whole["means"]:
        rows[chance.random(shape) < 0.1] = np.nan
    return np.asfortranarray(rows, dtype=np.float32)


def check(model, session, rows):
    found = run(session, np.ascontiguousarray(rows))
    expected = model.scores(rows)
    scores = found["value" if model.outputs_are == "value" else "scores"]
    # Relative to each single score, even where its terms cancel.
    allowed = TOLERANCE * np.abs(expected) + 1e-7
    assert (np.abs(scores - expected) <= allowed).all()
    if model.outputs_are == "value":
        return
    if model.outputs_are == "tasks":
        sure = np.abs(expected) > allowed
        assert (found["positive"] == (expected > 0))[sure].all()
    else:
        top = np.sort(expected, axis=1)
        sure = top[:, -1] - top[:, -2] > 2 * allowed.max(axis=1)
        labels = np.array(model.outputs)[model.predict(rows)]
        assert (found["label"].astype(str) == labels)[sure].all()
    assert ("probabilities" in found) == model.gives_probabilities
    if model.gives_probabilities:
        assert np.abs(found["probabilities"] - model.proba(rows)).max() < 2e-5


@pytest.mark.parametrize("name", LINEAR)
def test_stored_model(name, tmp_path):
    model = sl.Model.from_bytes(gzip.decompress((STORED / f"{name}.model.gz").read_bytes()))
    if "deskew" in name:
        with pytest.raises(ValueError, match="slant"):
            sl.export(model, tmp_path / "model.onnx", to="onnx")
        assert not list(tmp_path.iterdir())
        return
    check(model, exported(model, tmp_path), random_rows(model))


POOLS = [
    {"pool": "columns"},
    {"pool": "columns", "scale": "none"},
    {"pool": "stumps", "n_features": 60},
    {"pool": "products", "with_columns": True, "n_features": 30},
    {"pool": "kernel", "support": 50},
    {"pool": "pieces", "centres": 8, "radii": 3},
    {"pool": "pieces", "centres": 8, "radii": 3, "pca": 5},
    {"pool": "patches", "templates": "3:10,4:10"},
]


@pytest.mark.parametrize("options", POOLS, ids=str)
def test_pool(options, digits, tmp_path):
    X, y = digits
    X = X.reshape(-1, 8, 8) if options["pool"] == "patches" else X
    fitted = sl.ShareBoostClassifier(**({"n_features": 15, "ridge": 1e-3} | options)).fit(X, y)
    session = exported(fitted, tmp_path)
    assert "margin_softmax" == fitted.model_.to_json()["link"]
    assert session.get_outputs()[0].type == "tensor(int64)"  # labels that are integers
    chance = np.random.default_rng(3)
    rows = X.reshape(len(X), -1)[chance.integers(0, len(X), ROWS)] + chance.integers(-1, 2, (ROWS, 64))
    check(fitted.model_, session, np.asfortranarray(rows, dtype=np.float32))


def test_stumps_decide_alike_at_their_thresholds(digits, tmp_path):
    X, y = digits
    chance = np.random.default_rng(0)
    X = X * chance.uniform(0.01, 100, 64) + chance.normal(0, 1000, 64)  # far from zero, where floats are coarse
    model = sl.ShareBoostClassifier(pool="stumps", n_features=40, ridge=1e-3).fit(X, y).model_
    whole, rows = model.to_json(), []
    for feature in whole["features"]:
        column, threshold = feature["formula"]["of"]["columns"][0], feature["formula"]["threshold"]
        raw = np.float32(threshold / whole["scaling"]["factor"][column] + whole["scaling"]["offset"][column])
        for step in range(-4, 5):
            row = X[0].astype(np.float32)
            row[column] = np.int32(raw.view(np.int32) + step).view(np.float32)
            rows.append(row)
    check(model, exported(model, tmp_path), np.asfortranarray(rows))


def test_columns_far_from_zero_keep_their_digits(digits, tmp_path):
    X, y = digits
    X = X + 1e6
    fitted = sl.ShareBoostClassifier(n_features=15, ridge=1e-3).fit(X, y)
    check(fitted.model_, exported(fitted, tmp_path), np.asfortranarray(X, dtype=np.float32))


def test_names_missing_values_and_temperature(digits, tmp_path):
    X, y = digits
    X = np.where(np.random.default_rng(2).random(X.shape) < 0.1, np.nan, X)
    names = np.array(["zero", "één", "two\n", '"3"', "4", "5", "6", "7", "8", "9"])
    fitted = sl.ShareBoostClassifier(n_features=10, missing="mean").fit(X, names[y])
    check(fitted.model_, exported(fitted, tmp_path), np.asfortranarray(X, dtype=np.float32))
    hinge = sl.CascadeClassifier(loss="multiclass-hinge").fit(np.nan_to_num(X), y)
    check(hinge.model_, exported(hinge, tmp_path), np.asfortranarray(np.nan_to_num(X), dtype=np.float32))


def test_a_path_from_a_bias_alone(digits, tmp_path):
    X, y = digits
    model = sl.GradBoostClassifier(path=4).fit(X, y).model_
    assert model.stages[0][0] == 0
    for stage in range(len(model.stages)):
        part = model.at_stage(stage)
        check(part, exported(part, tmp_path), np.asfortranarray(X, dtype=np.float32))


def test_refusals(tmp_path, program):
    fitted = sl.SharingClassifier().fit(np.eye(4), [0, 1, 2, 3])
    with pytest.raises(ValueError, match="export"):
        sl.export(fitted, tmp_path / "model.onnx", to="onnx")
    with pytest.raises(ValueError, match="c, js, python or onnx"):
        sl.export(sl.ShareBoostClassifier().fit(np.eye(4), [0, 1, 0, 1]), tmp_path / "model.onnx", to="trees")


def test_written_check_and_early_models(tmp_path, program, digits):
    X, y = digits
    data, model = tmp_path / "digits.csv", tmp_path / "digits.shl"
    np.savetxt(data, np.column_stack([X, y]), fmt="%g", delimiter=",")

    def command(*words):
        return subprocess.run([program, *map(str, words)], capture_output=True, text=True)

    assert command("fit", "shareboost", data, "--features", 15, "-o", model, "--quiet").returncode == 0
    out = tmp_path / "digits.onnx"
    done = command("export", model, "--to", "onnx", "-o", out, "--check", data)
    assert done.returncode == 0 and "digits_check.py" in done.stdout
    checked = subprocess.run([sys.executable, tmp_path / "digits_check.py"], capture_output=True, text=True)
    assert checked.returncode == 0 and "100 rows" in checked.stdout
    assert json.loads({p.key: p.value for p in onnx.load(out).metadata_props}["outputs"]) == list("0123456789")

    out.unlink()
    early = tmp_path / "early.shl"
    assert command("early", model, data, "-o", early, "--disagreement", 0.2, "--confidence", 0.5).returncode == 0
    done = command("export", early, "--to", "onnx", "-o", out)
    assert done.returncode == 2 and "--features" in done.stderr and not out.exists()
    assert command("export", early, "--to", "onnx", "-o", out, "--features", 15).returncode == 0
