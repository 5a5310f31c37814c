"""How a command ends that is told to: by Ctrl-C, or by a signal that other programs send. Finished work is stored, and a line says so."""

import signal
import threading
from types import FrameType
from typing import Final

_ENDING: Final = (signal.SIGTERM, signal.SIGHUP)
_SIGNALLED: Final = 128
"""A shell's exit code for a program that a signal has ended is this and the signal's number."""


class _Told(KeyboardInterrupt):
    """Not KeyboardInterrupt itself: where that has passed through code of a text, as libraries run it, Python ends by SIGINT.

    So does `python -m cotrace`, whatever its exit code is.
    """


_came: list[signal.Signals] = []


def listen() -> None:
    """From now on signals that would end the process at once let it end as Ctrl-C does; those that are ignored stay so."""
    if threading.current_thread() is not threading.main_thread():
        return  # Python tells of signals in the main thread only; another program's threads are its own matter
    for number in _ENDING:
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _end)


def was_signalled() -> bool:
    """Whether such a signal has come."""
    return bool(_came)


def code() -> int:
    """The exit code of a command that was told to end."""
    return _SIGNALLED + (_came[0] if _came else signal.SIGINT)


def words(error: BaseException | None) -> str:
    """What to say then: why it ended, how far it was (notes of the exception), and how to go on."""
    how = f"ended by {_came[0].name}" if _came else "interrupted"
    notes: list[str] = getattr(error, "__notes__", [])
    far = f" ({'; '.join(notes)})" if notes else ""
    return f"{how}{far}; finished work is stored, start the same command again to continue"


def _end(number: int, frame: FrameType | None) -> None:
    for ending in _ENDING:
        signal.signal(ending, signal.SIG_IGN)  # once is enough: what is under way is being brought into safety
    _came.append(signal.Signals(number))
    as_interrupt = signal.getsignal(signal.SIGINT)
    if not callable(as_interrupt) or as_interrupt is signal.default_int_handler:
        raise _Told
    as_interrupt(signal.SIGINT, frame)
