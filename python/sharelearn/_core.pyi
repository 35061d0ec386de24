from collections.abc import Sequence
from typing import Any, Annotated, overload

import numpy
from numpy.typing import NDArray


class Data:
    """Rows to learn from or to predict, with their labels."""

    def __init__(self) -> None: ...

    def take_dense(self, x: Annotated[NDArray[Any], dict(device='cpu', writable=False)], threads: int = 0) -> None:
        """
        Uses float32 columns where they are (Fortran order); converts other arrays once.
        """

    def take_stream(self, capsule: object, threads: int = 0) -> None:
        """Values and names of the columns of an Arrow stream, batch by batch."""

    def is_finite(self, allow_nan: bool, columns: Sequence[int] | None, threads: int = 0) -> bool:
        """Whether the values, or those of some columns, are finite."""

    def fill_zero(self, threads: int = 0) -> None:
        """Missing values become zero."""

    def take_sparse(self, rows: int, indptr: Annotated[NDArray[numpy.int64], dict(shape=(None,), order='C', device='cpu', writable=False)], indices: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)], values: Annotated[NDArray[numpy.float32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """Compressed sparse columns, rows ascending."""

    def set_labels(self, names: Sequence[str], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def set_tasks(self, names: Sequence[str], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def set_values(self, values: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    def set_weights(self, weights: Annotated[NDArray[numpy.float64], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None: ...

    @property
    def column_names(self) -> list[str]: ...

    @column_names.setter
    def column_names(self, arg: Sequence[str], /) -> None: ...

    @property
    def label_name(self) -> str: ...

    @label_name.setter
    def label_name(self, arg: str, /) -> None: ...

    @property
    def image_width(self) -> int: ...

    @image_width.setter
    def image_width(self, arg: int, /) -> None: ...

    @property
    def source(self) -> str: ...

    @source.setter
    def source(self, arg: str, /) -> None: ...

    @property
    def shape(self) -> tuple[Any, ...]: ...

    @property
    def is_borrowed(self) -> bool: ...

    def add_text(self, name: str, place: int, texts: Sequence[str], ids: Annotated[NDArray[numpy.int32], dict(shape=(None,), order='C', device='cpu', writable=False)]) -> None:
        """
        A column of text that `place` columns of numbers precede; an id below 0 is a missing value.
        """

    def expand_categories(self, known: Sequence[tuple[str, int, Sequence[str]]] | None = None) -> None:
        """
        Columns of text become one column of zeros and ones per level: of the rows, or of `known`.
        """

    @property
    def has_text(self) -> bool: ...

    @property
    def table_names(self) -> list[str]:
        """Names of all columns, of text and of numbers."""

    @property
    def categories(self) -> list[tuple[str, int, list[str]]]:
        """Name, first column and levels of each category."""

    def shared(self) -> Data:
        """
        Another data set of the same values, with labels and weights of its own.
        """

    @property
    def labels(self) -> Any:
        """Names of the labels and the number of each row's, or None."""

    @property
    def weights(self) -> Any:
        """Weights of the rows, or None."""

def open_cache(path: str, threads: int = 0) -> Data: ...

class BatchWriter:
    """Writes a cache from batches of rows."""

    def __init__(self, path: str, rows: int | None = None, threads: int = 0) -> None: ...

    def add(self, batch: Data) -> None: ...

    def finish(self) -> None:
        """Completes the file; without it, none appears."""

def canonical_label(text: str) -> str:
    """The form in which labels are compared: "+1" and "1.0" are "1"."""

class Model:
    """A learned model, as a .shl file holds it."""

    @overload
    def scores(self, data: Data, threads: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """One score per row and output."""

    @overload
    def scores(self, x: Annotated[NDArray[Any], dict(device='cpu', writable=False)], threads: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

    @overload
    def proba(self, data: Data, threads: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]:
        """One probability per row and output."""

    @overload
    def proba(self, x: Annotated[NDArray[Any], dict(device='cpu', writable=False)], threads: int = 0) -> Annotated[NDArray[numpy.float64], dict(shape=(None, None))]: ...

    @overload
    def predict(self, data: Data, threads: int = 0) -> Any:
        """Numbers of classes (see `outputs`), signs of tasks, or values."""

    @overload
    def predict(self, x: Annotated[NDArray[Any], dict(device='cpu', writable=False)], threads: int = 0) -> Any: ...

    def evaluate(self, data: Data, threads: int = 0) -> Any:
        """What `sharelearn evaluate` reports."""

    def report_page(self, data: Data | None, fit: object, title: str, threads: int = 0) -> str:
        """One HTML page about the model, as `sharelearn report` writes it."""

    def with_early_stop(self, data: Data, disagreement: float = 0.001, confidence: float = 0.95, seed: int = 1, threads: int = 0) -> Model:
        """
        This model with thresholds at which a prediction may stop, from rows not trained on.
        """

    @overload
    def early_scores(self, data: Data, threads: int = 0) -> tuple[Any, ...]:
        """
        Scores of rows that stop where their answer is safe, and features computed per row.
        """

    @overload
    def early_scores(self, x: Annotated[NDArray[Any], dict(device='cpu', writable=False)], threads: int = 0) -> tuple[Any, ...]: ...

    def at_stage(self, stage: int) -> Model:
        """A model that predicts as this one does at a stage of its path."""

    @property
    def stages(self) -> list[Any]:
        """
        One pair per stage: number of features, and lambda or the number of features asked for.
        """

    @property
    def stage(self) -> int: ...

    @property
    def coefficients(self) -> Any:
        """
        Weights (outputs x columns) and intercepts for raw columns, or None if features are not columns.
        """

    @property
    def common_score(self) -> float:
        """Mean of the intercepts of classes, which no prediction depends on."""

    @property
    def features(self) -> list[Any]:
        """Features in use, in order of choice."""

    @property
    def inputs(self) -> list[int]:
        """Columns of the data that a prediction reads, ascending."""

    def export(self, path: str, to: str, features: int | None = None) -> None:
        """What `sharelearn export` writes."""

    def save(self, path: str) -> None: ...

    @staticmethod
    def load(path: str) -> Model: ...

    def to_bytes(self) -> bytes:
        """The content of the model's file."""

    @staticmethod
    def from_bytes(content: bytes) -> Model: ...

    def __reduce__(self) -> tuple[Any, ...]: ...

    def to_json(self, all_stages: bool = False) -> Any:
        """Everything that another program needs to predict."""

    def describe(self) -> str: ...

    def __repr__(self) -> str: ...

    @property
    def kind(self) -> str: ...

    @property
    def outputs_are(self) -> str: ...

    @property
    def outputs(self) -> list[str]:
        """Names of classes or tasks."""

    @property
    def gives_probabilities(self) -> bool: ...

    @property
    def columns(self) -> int: ...

    @property
    def column_names(self) -> list[str]: ...

    @property
    def features_used(self) -> int: ...

    @property
    def metadata(self) -> Any: ...

def methods() -> list[Any]:
    """Every method with its table of options, as a list of dicts."""

def fit(method: str, options: dict[str, Any], train: Data, test: Data | None = None, threads: int = 0, progress: object | None = None, after_round: object | None = None) -> tuple[Any, ...]:
    """Learns a model: (model, report, exception or None)."""

def continue_shareboost(start: Model, options: dict[str, Any], train: Data, threads: int = 0, progress: object | None = None, after_round: object | None = None) -> tuple[Any, ...]:
    """
    Goes on from a model of the same data to more features: (model, report, exception or None).
    """

def fit_online_cascade(options: dict[str, Any], train: Data, threads: int = 0, progress: object | None = None) -> tuple[Any, ...]: ...

def transfer(known: Model, train: Data, options: dict[str, Any], threads: int = 0) -> tuple[Any, ...]: ...

class OnlineSharing:
    """Learns shared hypotheses online; classes may appear at any time."""

    @staticmethod
    def begin(options: dict[str, Any]) -> OnlineSharing: ...

    @staticmethod
    def resume(model: Model, options: dict[str, Any]) -> OnlineSharing: ...

    def learn(self, rows: Data) -> list[Any]:
        """Learns the rows in order; returns the predictions made before each."""

    def learn_line(self, line: str) -> Any:
        """
        One line `label index:value ...`; returns the class predicted before learning.
        """

    def model(self) -> Model: ...

    def finish(self) -> tuple[Any, ...]:
        """(model, report, None)"""

    @property
    def classes(self) -> list[str]: ...

    @property
    def examples(self) -> int: ...

    @property
    def mistakes(self) -> int: ...

class OnlineCascade:
    """Learns a cascade online."""

    @staticmethod
    def begin(options: dict[str, Any], outputs: Sequence[str], columns: int) -> OnlineCascade: ...

    @staticmethod
    def resume(model: Model, options: dict[str, Any]) -> OnlineCascade: ...

    def learn(self, rows: Data) -> None: ...

    def model(self) -> Model: ...

    def report(self) -> Any: ...

__version__: str
