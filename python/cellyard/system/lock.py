"""A lock on a folder for one process. The system releases it when the process ends, however it ends."""

import os
import sys
from contextlib import suppress
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

#: File that is locked where a folder cannot be, on Windows.
LOCK = ".cellyard-lock"


class FolderLock:
    """A lock on ``folder``; raises `BlockingIOError` when another process holds it.

    File systems without locks are silently accepted. The folder stays open while locked, so that
    its number cannot be reused.
    """

    def __init__(self, folder: Path) -> None:
        self._handle: int | None = _open(folder)
        try:
            _lock(self._handle)
        except BlockingIOError:
            self.release()
            raise
        except OSError:
            pass
        self._locked_stat = folder.stat()

    def is_of(self, folder: Path) -> bool:
        """Whether ``folder`` is still the locked one, and not another in its place."""
        try:
            return os.path.samestat(self._locked_stat, folder.stat())
        except OSError:
            return False

    def release(self) -> None:
        """Release the lock; safe to call repeatedly."""
        if self._handle is not None:
            with suppress(OSError):
                _unlock(self._handle)
            os.close(self._handle)
            self._handle = None


if sys.platform == "win32":

    def _open(folder: Path) -> int:
        return os.open(folder / LOCK, os.O_RDWR | os.O_CREAT)

    def _lock(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:  # so it calls a lock that another process has
            raise BlockingIOError(error.errno, error.strerror) from None

    def _unlock(handle: int) -> None:
        os.lseek(handle, 0, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)

else:

    def _open(folder: Path) -> int:
        return os.open(folder, os.O_RDONLY)

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _unlock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_UN)
