"""What can go wrong. Every exception of noregret is a `NoRegretError`, and also the built-in exception one would expect."""

from __future__ import annotations

__all__ = [
    "AnotherStudy",
    "InvalidAlgorithm",
    "InvalidArgument",
    "InvalidParams",
    "InvalidSpace",
    "ModelError",
    "NoRegretError",
    "NoSuchStudy",
    "NothingLeft",
    "StorageError",
    "UnknownTrial",
]


class NoRegretError(Exception):
    """Something that noregret refuses or cannot do; the message says what would be right."""

    parameter: str | None = None
    """The parameter that it is about, if it is about one."""


class InvalidSpace(NoRegretError, ValueError):
    """A declaration of parameters, constraints or a pool that makes no sense."""


class InvalidParams(NoRegretError, ValueError):
    """A point that is none of the space: a parameter is missing, unknown, of the wrong type or out of range."""


class InvalidAlgorithm(NoRegretError, ValueError):
    """An algorithm that does not exist, or options that it does not take."""


class InvalidArgument(NoRegretError, ValueError):
    """Some other argument that makes no sense."""


class UnknownTrial(NoRegretError, LookupError):
    """A trial number that this study has not given out."""


class NothingLeft(NoRegretError, RuntimeError):
    """A finite space has no more points to try."""


class ModelError(NoRegretError, RuntimeError):
    """No model could be fitted, or nothing could be suggested by it."""


class StorageError(NoRegretError, OSError):
    """A storage that cannot be opened, read or written."""


class NoSuchStudy(StorageError, LookupError):
    """A study that is not in the storage."""


class AnotherStudy(StorageError, ValueError):
    """A study of this name is in the storage, and searches elsewhere."""
