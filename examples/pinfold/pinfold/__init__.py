"""A small dependency resolver."""

from .constraint import Constraint
from .index import Index, Package
from .lockfile import LockError, dump, load
from .order import CycleError, install_order
from .resolver import ResolutionError, resolve
from .version import Version

__all__ = [
    "Constraint",
    "CycleError",
    "Index",
    "LockError",
    "Package",
    "ResolutionError",
    "Version",
    "dump",
    "install_order",
    "load",
    "resolve",
]
