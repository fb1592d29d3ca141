"""The novels come whole, and a held-out text is never trained on."""

import lzma

import pytest

from attncourse.data import novels
from attncourse.data.novels import TITLES, load_novels, load_text, split_texts


def test_the_six_novels_are_there_in_order():
    found = load_novels()
    assert tuple(found) == TITLES
    assert found["Pride and Prejudice"].split("\n")[3].startswith("It is a truth")
    assert all(text.isascii() or "£" in text for text in found.values())


def test_the_snapshot_is_small_and_is_checked(tmp_path, monkeypatch):
    assert len(novels.SNAPSHOT.read_bytes()) < 1.1e6
    damaged = tmp_path / "novels.txt.xz"
    damaged.write_bytes(lzma.compress(b"another text"))
    monkeypatch.setattr(novels, "SNAPSHOT", damaged)
    with pytest.raises(ValueError, match=r"damaged.*Install"):
        load_novels()


def test_the_parts_of_each_text_follow_one_another():
    texts = {"a": "".join(f"a{i}\n" for i in range(997)), "b": "b\n" * 1999}
    parts = split_texts(texts, validation=0.1, test=0.2)
    for name, text in texts.items():
        own = [
            "".join(line for line in part.splitlines(True) if line[0] == name)
            for part in (parts.train, parts.validation, parts.test)
        ]
        assert "".join(own) == text
        assert len(own[1]) / len(text) == pytest.approx(0.1, abs=0.01)
        assert len(own[2]) / len(text) == pytest.approx(0.2, abs=0.01)


def test_a_text_of_one_line_cannot_be_split():
    with pytest.raises(ValueError, match="lines enough"):
        split_texts({"a": "one long line " * 100})


def test_a_file_of_the_readers_own(tmp_path):
    path = tmp_path / "own.txt"
    path.write_bytes("naïve\r\nline\r\n".encode())
    assert load_text(path) == {str(path): "naïve\nline\n"}
    path.write_bytes("fine\nna\xefve\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"line 2: byte 0xef is not valid utf-8"):
        load_text(path)
    assert "naïve" in load_text(path, encoding="latin-1")[str(path)]
    with pytest.raises(FileNotFoundError, match="no such file"):
        load_text(tmp_path / "none.txt")
