"""Files are written whole or not at all."""

import pytest

from bootleader._core.files import replacing, writable_folder
from tests.helpers import posix_only


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_is_replaced_when_the_block_ends(tmp_path):
    path = tmp_path / "plot.png"
    path.write_text("old")
    with replacing(path) as unfinished:
        unfinished.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(tmp_path) == ["plot.png"]


def test_a_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "plot.png"
    path.write_text("old")

    def write_to_a_full_disk():
        with replacing(path) as unfinished:
            unfinished.write_text("ne")
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        write_to_a_full_disk()
    assert path.read_text() == "old"
    assert names(tmp_path) == ["plot.png"]


@posix_only
def test_a_link_is_kept_and_its_target_replaced(tmp_path):
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with replacing(tmp_path / "link") as unfinished:
        unfinished.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@posix_only
def test_a_device_is_written_directly():
    with replacing("/dev/null") as target:
        assert str(target) == "/dev/null"
        target.write_text("x")


def test_a_folder_is_made_and_left_empty(tmp_path):
    folder = writable_folder(tmp_path / "a" / "b")
    assert names(folder) == []


def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="cannot write to the folder"):
        writable_folder(tmp_path / "file")


@posix_only
def test_a_folder_that_cannot_be_made_is_refused():
    with pytest.raises(ValueError, match="cannot write to the folder"):
        writable_folder("/dev/null/none")


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    absent = r"the folder .*missing does not exist; make it"
    with pytest.raises(FileNotFoundError, match=absent), replacing(tmp_path / "missing" / "x.png"):
        pass
