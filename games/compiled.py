"""Functions compiled to machine code by Numba, kept on disk so that it happens once a machine."""

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

__all__ = ["compiled"]

_Function = TypeVar("_Function", bound=Callable[..., object])


def compiled(function: _Function) -> _Function:
    """Have a function compiled when it is called first; where no folder can be written to, in every process anew."""
    try:
        return cast("_Function", njit(cache=True, error_model="numpy")(function))
    except RuntimeError:
        return cast("_Function", njit(error_model="numpy")(function))
