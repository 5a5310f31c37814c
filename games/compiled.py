"""Functions compiled to machine code by Numba, kept on disk so that it happens once a machine."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["compiled", "compiled_inside"]

_Function = TypeVar("_Function", bound=Callable[..., object])


def compiled(function: _Function) -> _Function:
    """Have a function compiled when it is called first; where no folder can be written to, in every process anew."""
    return _compiled(function, inside=False)


def compiled_inside(function: _Function) -> _Function:
    """The same for a function that only compiled ones call: making ways into it from Python takes a third of the time."""
    return _compiled(function, inside=True)


def _compiled(function: _Function, *, inside: bool) -> _Function:
    options: dict[str, Any] = {"error_model": "numpy", "no_cpython_wrapper": inside, "no_cfunc_wrapper": inside}
    try:
        return cast("_Function", njit(cache=True, **options)(function))
    except RuntimeError:
        return cast("_Function", njit(**options)(function))
