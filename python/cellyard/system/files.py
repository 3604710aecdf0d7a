"""Writes files that are complete or absent, and sets of files that change together.

A file is written next to its place under a temporary name, synced to the disk, and renamed. A set is
prepared in this way, file by file. Writing the list of its files commits the set. Any process that
finds the list completes the renames. So after a crash at any moment, the set is either the old or
the new one.
"""

import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from cellyard.system.errors import UsageError

#: Prefix of the name of a file that is being written.
NEW_PREFIX = ".cellyard-new-"
#: Prefix of the name of a file that tests whether a folder can be written.
TRIAL_PREFIX = ".cellyard-trial-"
#: The list of a committed set whose files are being renamed.
LIST_FILE = ".cellyard-set"
#: Checksums of the files of a set, in the format of ``sha256sum --check``.
SUMS_FILE = "SHA256SUMS"
#: Longest name on any file system, in bytes.
LONGEST_NAME = 255


def write_whole(path: Path, content: str | bytes | Iterable[bytes], *, follow: bool = True) -> None:
    """Write a file in one step, so that others see the old or the complete new one. Raises `OSError`.

    A link is kept and its target written; a pipe or character device stays and receives the
    content. Without ``follow``, the file replaces a link, and nothing else but a regular file.
    """
    pieces = [content] if isinstance(content, (str, bytes)) else content
    if follow and _is_stream(path):
        _with_path_in_errors(path, _write_stream, path, pieces)
        return
    target = Path(os.path.realpath(path)) if follow else path
    new = target.with_name(f"{NEW_PREFIX}{os.getpid()}-{target.name}")
    try:
        check_replaceable(target)
        _write(new, pieces)
        with suppress(OSError):
            new.chmod(stat.S_IMODE(target.stat().st_mode))
        new.replace(target)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    finally:
        with suppress(OSError):
            new.unlink(missing_ok=True)
    _sync_folder(target.parent)


def check_replaceable(path: Path) -> None:
    """Raise `OSError` unless ``path`` is missing, a regular file or a link, all of which a file may replace."""
    if not path.is_symlink():
        check_regular(path)


def read_regular(path: Path) -> str:
    """The text of a file. Raises `OSError`, also for a pipe or device, which need not end."""
    check_regular(path)
    return path.read_text(encoding="utf-8")


def check_regular(path: Path) -> None:
    """Raise `OSError` for anything at ``path`` that is not a regular file."""
    with suppress(FileNotFoundError):
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is a pipe, device or socket, not a file", str(path))


def _is_stream(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode)


def _write_stream(path: Path, pieces: Iterable[str | bytes]) -> None:
    with path.open("wb") as stream:
        for piece in pieces:
            stream.write(piece.encode() if isinstance(piece, str) else piece)


def sealed(document: Mapping[str, Any]) -> str:
    """JSON with a checksum of itself, which `unsealed` checks."""
    return json.dumps({**document, "sha256": _seal(document)}, indent=2) + "\n"


def unsealed(text: str) -> dict[str, Any]:
    """The content of a `sealed` text; raises `ValueError` when it is damaged."""
    document = json.loads(text)
    if not isinstance(document, dict) or document.pop("sha256", None) != _seal(document):
        raise ValueError("its checksum does not match")
    return document


def _seal(document: Mapping[str, Any]) -> str:
    return digest(json.dumps(document, indent=2))


def digest(content: str | bytes) -> str:
    """SHA-256 of a content, in hexadecimal."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


class FileSet(AbstractContextManager["FileSet"]):
    """Files of ``folder`` that replace the previous set, all or none, when the ``with`` block ends without an exception.

    Unmodified files of the previous set that are not in the new one are removed, unless ``kept`` has
    their names: these stay in the set. `SUMS_FILE` has the checksum of each file. Links in the
    folder are replaced and never followed. Raises `OSError`, and replaces nothing if anything but a
    file or a link has the name of a file of the set.
    """

    def __init__(self, folder: Path, *, kept: Collection[str] = ()) -> None:
        self._folder = folder
        self._kept = kept
        self._sums: dict[str, str] = {}
        #: What has happened to the files of the folder, in words.
        self.state = "unchanged"

    @property
    def names(self) -> list[str]:
        """Names of the files that were added."""
        return list(self._sums)

    def add(self, name: str, content: str | bytes | Iterable[str] | Iterable[bytes]) -> None:
        """Write the file ``name``, as a whole or in pieces. It takes its place together with the others."""
        pieces = [content] if isinstance(content, (str, bytes)) else content
        self._sums[name] = _with_path_in_errors(
            self._folder / name, _write, self._folder / f"{NEW_PREFIX}{name}", pieces
        )

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            _remove_temporary(self._folder)
            return
        try:
            earlier = {name: seal for name, seal in sorted(checksums(self._folder).items()) if name not in self._sums}
            gone = {name: seal for name, seal in earlier.items() if name not in self._kept}
            stay = {n: seal for n, seal in earlier.items() if n in self._kept and _is_unchanged(self._folder / n, seal)}
            sums = sorted({**stay, **self._sums}.items())
            self.add(SUMS_FILE, "".join(f"{seal}  {name}\n" for name, seal in sums))
            self.add(LIST_FILE, sealed({"files": self._sums, "gone": gone}))
            for name in self._sums:
                check_replaceable(self._folder / name)
            _sync_folder(self._folder)
            (self._folder / f"{NEW_PREFIX}{LIST_FILE}").replace(self._folder / LIST_FILE)
            self._finish()
        except BaseException as error:
            if self.state == "unchanged" and not (self._folder / LIST_FILE).is_file():
                _remove_temporary(self._folder)
            elif isinstance(error, KeyboardInterrupt):  # the new set counts already
                self._finish()
            raise

    def _finish(self) -> None:
        self.state = "partly replaced until the next command on this folder completes them"
        _sync_folder(self._folder)
        _finish_renames(self._folder)
        self.state = "complete"


def checksums(folder: Path) -> dict[str, str]:
    """The files of the set in ``folder`` with their checksums; empty if no set is."""
    try:
        lines = read_regular(folder / SUMS_FILE).splitlines()
    except (OSError, ValueError):
        return {}
    pairs = [line.partition("  ") for line in lines]
    return {name: seal for seal, _, name in pairs if _is_plain(name)}


def _is_plain(name: object) -> bool:
    """Whether a name is that of a result file directly in the folder. A foreign list may contain any name."""
    if not isinstance(name, str) or not name.isprintable() or len(name.encode()) > LONGEST_NAME:
        return False
    return name != "" and Path(name).name == name and not name.startswith(".")


def _is_unchanged(path: Path, seal: object) -> bool:
    """Whether a regular file has this checksum. Any other file, or a link, is not ours."""
    with suppress(OSError):
        if stat.S_ISREG(path.lstat().st_mode):
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest() == seal
    return False


def finish_renames(folder: Path, *, overwrite: bool = False) -> None:
    """Complete the renames of an interrupted set, and remove temporary files.

    Raises `UsageError` when the list of the set is damaged; with ``overwrite``, discards that set.
    Raises `OSError` if anything but a file or a link has the name of a file of the set.
    """
    try:
        _finish_renames(folder)
    except ValueError:
        if not overwrite:
            raise UsageError(
                f"{folder / LIST_FILE}: is damaged, so it is unknown which files belong together; choose another folder, "
                "or use --overwrite to replace them"
            ) from None
        (folder / LIST_FILE).unlink()
    _remove_temporary(folder)


def _finish_renames(folder: Path) -> None:
    try:
        text = read_regular(folder / LIST_FILE)
    except FileNotFoundError:
        return
    found = unsealed(text)
    files, gone = found.get("files"), found.get("gone")
    if not isinstance(files, dict) or not isinstance(gone, dict) or not all(map(_is_plain, [*files, *gone])):
        raise ValueError("it lists a name that is not a file of the folder")
    for name in files:
        check_replaceable(folder / name)
    for name in files:
        with suppress(FileNotFoundError):  # it is in its place
            _with_path_in_errors(folder / name, os.replace, folder / f"{NEW_PREFIX}{name}", folder / name)
    for name, seal in gone.items():
        if _is_unchanged(folder / name, seal):
            with suppress(OSError):
                (folder / name).unlink()
    _sync_folder(folder)
    (folder / LIST_FILE).unlink()
    _sync_folder(folder)


def _remove_temporary(folder: Path) -> None:
    """Remove temporary files and leftover tests."""
    with suppress(OSError):
        for file in folder.iterdir():
            if file.name.startswith((NEW_PREFIX, TRIAL_PREFIX)):
                with suppress(OSError):
                    file.unlink()


def _write(path: Path, pieces: Iterable[str | bytes]) -> str:
    """Write a file, sync it to the disk, and return its SHA-256."""
    seal = hashlib.sha256()
    path.unlink(missing_ok=True)
    with path.open("xb") as file:  # which a link that somebody put there does not pass
        for piece in pieces:
            raw = piece.encode() if isinstance(piece, str) else piece
            file.write(raw)
            seal.update(raw)
        file.flush()
        sync_to_disk(file.fileno())
    return seal.hexdigest()


def _with_path_in_errors(path: Path, call: Callable[..., Any], *arguments: Any) -> Any:
    """The result of ``call``. Its errors name ``path`` instead of the temporary file."""
    try:
        return call(*arguments)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def sync_to_disk(handle: int) -> None:
    """Sync written data to the disk, if the file system supports that."""
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):
            raise


def _sync_folder(folder: Path) -> None:
    """Sync the names in a folder to the disk, if the system supports that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def missing_folders(path: Path) -> list[Path]:
    """The missing folders on the way to ``path``, innermost first."""
    return [folder for folder in (path, *path.parents) if not folder.exists()]


def remove_empty(folders: Iterable[Path]) -> None:
    """Remove folders, except those that others use by now."""
    for folder in folders:
        with suppress(OSError):
            folder.rmdir()


def writable_folder(path: Path) -> Path:
    """``path`` as a writable folder, created if missing; raises `UsageError` and leaves nothing behind."""
    if path.exists() and not path.is_dir():
        raise UsageError(f"{path}: cannot be written: it is no folder; name a folder, or a new one")
    made = missing_folders(path)
    try:
        path.mkdir(parents=True, exist_ok=True)
        trial = path / f"{TRIAL_PREFIX}{os.getpid()}"
        trial.unlink(missing_ok=True)
        trial.touch(exist_ok=False)
        trial.unlink(missing_ok=True)
    except OSError as error:
        remove_empty(made)
        raise UsageError(f"{path}: cannot be written: {error.strerror or error}") from None
    return path
