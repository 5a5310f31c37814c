"""Functions compiled to machine code by Numba, cached on disk so that it happens once a machine.

Numba itself finds what it has cached by the one file that has the function, and would use old code after a change in a file of
its helpers. So the name under which it caches a function states what the machine code is made from, wherever that is.
"""

import hashlib
from collections.abc import Callable, Iterator
from functools import cache, wraps
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, ParamSpec, TypeVar, cast

import numpy as np
from numba import njit

_Result = TypeVar("_Result")
_Arguments = ParamSpec("_Arguments")
_Function = TypeVar("_Function", bound=Callable[..., object])

_OPTIONS: Final[dict[str, Any]] = {"error_model": "numpy"}
_INSIDE: Final[dict[str, Any]] = _OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Making ways into a function from Python takes a third of the time."""


def compiled(function: Callable[_Arguments, _Result]) -> Callable[_Arguments, _Result]:
    """Have a function compiled when it is called first; where no folder can be written to, in every process anew.

    Compiled functions cannot call it; what they call is `compiled_inside`.
    """

    @cache
    def machine_code() -> Callable[_Arguments, _Result]:  # at the first call: only then all that it calls is there
        made_from = "\n".join(_made_from(cast("FunctionType", function), set()))
        function.__qualname__ = f"{function.__name__}-{hashlib.sha256(made_from.encode()).hexdigest()[:16]}"
        try:
            return cast("Callable[_Arguments, _Result]", njit(cache=True, **_OPTIONS)(function))
        except RuntimeError:
            return cast("Callable[_Arguments, _Result]", njit(**_OPTIONS)(function))

    @wraps(function)
    def call(*args: _Arguments.args, **kwargs: _Arguments.kwargs) -> _Result:
        return machine_code()(*args, **kwargs)

    return call


def compiled_inside(function: _Function) -> _Function:
    """The same for a function that only compiled ones call: it is compiled as a part of them."""
    return cast("_Function", njit(**_INSIDE)(function))


def _made_from(function: FunctionType, seen: set[FunctionType]) -> Iterator[str]:
    """The function's code, the numbers outside that it names, and the same of each function that it calls."""
    seen.add(function)
    yield repr(function.__defaults__)
    for code in _codes(function.__code__):
        yield repr((code.co_code, code.co_names, [value for value in code.co_consts if not isinstance(value, CodeType)]))
        for name in sorted(function.__globals__.keys() & code.co_names):
            value = function.__globals__[name]
            called = getattr(value, "py_func", None)
            if called is None:
                yield f"{name} {_as_text(value)}"
            elif called not in seen:
                yield from _made_from(called, seen)


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _codes(inner)


def _as_text(value: object) -> str:
    """A value that machine code holds, so that another reads otherwise."""
    if isinstance(value, ModuleType):
        return value.__name__
    if hasattr(value, "__qualname__"):
        return f"{value.__module__}.{value.__qualname__} {getattr(value, '_fields', '')}"
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tobytes()!r}"
    return repr(value)
