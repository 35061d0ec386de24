"""Classifiers that also learn row by row."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import column_or_1d

from . import _core
from ._base import require_model
from ._classifiers import Classifier
from ._data import require_classes, set_classes, texts_of


class Online(Classifier):
    """A classifier that also learns row by row. The learner itself is not pickled: it goes on from the model."""

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        if "_learner" in state:
            state = dict(state, model_=self._learner.model())
            del state["_learner"]
        return state

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        twin = type(self).__new__(type(self))
        twin.__setstate__(copy.deepcopy(self.__getstate__(), memo))
        return twin

    def _forget(self) -> None:
        for name in ("_learner", "model_", "classes_", "_place", "report_"):
            self.__dict__.pop(name, None)

    def _merge_classes(self, y: Any, data: _core.Data) -> None:
        """Labels the rows; classes that are new join the known ones."""
        known: Any = getattr(self, "classes_", None)
        place = dict(getattr(self, "_place", {}))
        new, new_place = set_classes(data, y)
        if known is None:
            self.classes_, self._place = new, new_place
            return
        label_of = {text: known[at] for text, at in place.items()} | {text: new[at] for text, at in new_place.items()}
        self.classes_ = np.unique(np.concatenate([known, new]))
        at = {label: i for i, label in enumerate(self.classes_.tolist())}
        self._place = {text: at[label.item() if hasattr(label, "item") else label] for text, label in label_of.items()}

    def _learned(self) -> None:
        self.model_ = self._learner.model()
        self._settle()


def _learns_online(self: Any) -> bool:
    if not self.online:
        raise AttributeError("partial_fit needs online=True")
    return True


class CascadeBase(Online):
    """The cascade, batch or online."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, tasks: Any = None) -> Any:
        """Learns from rows X with labels y, or with one task per row (``tasks``) that has the yes/no label y."""
        if str(self.loss).endswith(("-squared", "-insensitive")):
            raise ValueError(f"loss={self.loss!r} learns numbers, {type(self).__name__} classes or yes/no tasks")
        if self.warm_start and self.online and tasks is None and hasattr(self, "model_"):
            return self.partial_fit(X, y)
        self._forget()
        if tasks is None:
            return super().fit(X, y, sample_weight)
        data, y = self._rows(X, y)
        self.classes_, place = np.unique(column_or_1d(tasks), return_inverse=True)
        set_classes(data, y)
        texts = texts_of(self.classes_)
        data.set_tasks(texts, place.astype(np.int32).ravel())
        self._tasks, self._place = True, {text: i for i, text in enumerate(texts)}
        self._weigh(data, y, sample_weight)
        self._learn(data)
        return self

    @available_if(_learns_online)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        """Goes on learning, one row after the other. The first call names all classes, unless y has them all."""
        first = not hasattr(self, "model_")
        if first:
            data, _ = self._labelled(X, y)
            if classes is not None and not self._tasks:
                self.classes_ = np.unique(classes)
                self._place = {text: i for i, text in enumerate(texts_of(self.classes_))}
            options = self._given(self._online_defaults)
            self._learner = _core.OnlineCascade.begin(options, list(self._place), data.shape[1])
        else:
            kept = self.classes_, self._place
            data, _ = self._labelled(X, y, reset=False)
            self.classes_, self._place = kept
            if not hasattr(self, "_learner"):
                self._learner = _core.OnlineCascade.resume(self.model_, {})
        self._learner.learn(data)
        self.report_ = self._learner.report()
        self._learned()
        return self

    def transfer(self, X: Any, y: Any, **options: Any) -> Any:
        """A new classifier of other classes or tasks, learned with the knowledge of this one."""
        require_model(self)
        new = type(self)(**self.get_params(deep=False))
        data, _ = new._labelled(X, y)
        new._take(*_core.transfer(self.model_, data, options, self._threads()))
        return new


class SharingBase(Online):
    """Online sharing: no weights, classes in any order, at any time."""

    online = True

    def fit(self, X: Any, y: Any) -> Any:  # type: ignore[override]
        """Learns from the rows once, in their order."""
        if self.warm_start and hasattr(self, "model_"):
            return self.partial_fit(X, y)
        self._forget()
        return self._learn_rows(X, y, True)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Any:
        """Goes on learning. The rows may have classes never seen before; ``classes`` need not be given."""
        return self._learn_rows(X, y, not hasattr(self, "n_features_in_"))

    def _learn_rows(self, X: Any, y: Any, reset: bool) -> Any:
        data, y = self._rows(X, y, reset=reset)
        require_classes(y)
        y = column_or_1d(y)
        self._tasks = False
        self._merge_classes(y, data)
        self._start()
        predicted = np.array(self._learner.learn(data))
        names = self._learner.classes
        self.predicted_ = np.array([None if p < 0 else self.classes_[self._place[names[p]]] for p in predicted])
        _, self.report_, _ = self._learner.finish()
        self._learned()
        return self

    def _start(self) -> None:
        if hasattr(self, "_learner"):
            return
        options = self._given(self._defaults)
        if hasattr(self, "model_"):
            self._learner = _core.OnlineSharing.resume(self.model_, options)
        else:
            self._learner = _core.OnlineSharing.begin(options)

    def learn_lines(self, lines: Iterable[str]) -> Iterator[str | None]:
        """Learns svmlight lines of an iterator one at a time; yields the class predicted before each is learned.

        Classes are text here. A line without a label is only predicted.
        """
        self._tasks = False
        self._start()
        for line in lines:
            predicted = self._learner.learn_line(line)
            names = sorted(self._learner.classes)
            self.classes_ = np.array(names)
            self._place = {name: i for i, name in enumerate(names)}
            yield predicted
        self._learned()
