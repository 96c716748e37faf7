"""Every mistake is one line that says what to do."""

import pathlib

import pytest
from conftest import ACCESS, BINARY

WRONG = {
    "no server": (("--url", "ws://127.0.0.1:9", *ACCESS[2:]), "out.mkv", "nothing answers"),
    "no address": (("--url", "nonsense", *ACCESS[2:]), "out.mkv", "not a server address"),
    "wrong secret": ((*ACCESS[:4], "--api-secret", "wrong", *ACCESS[6:]), "out.mkv", "refused the token"),
    "no folder": (ACCESS, "missing/out.mkv", "does not exist"),
    "unknown format": (ACCESS, "out.avi", ".mp4, .mkv, .webm"),
}
WRONG["nobody there"] = ((*ACCESS, "--participant", "nobody", "--wait", "0.5"), "out.mkv", "in vain")


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_one_line(bench, tmp_path, name):
    arguments, file, expected = WRONG[name]
    result = bench.run(BINARY, "record", *arguments, tmp_path / file)
    assert result.returncode != 0
    assert expected in result.stderr, result.stderr
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr


def test_every_shipped_pipeline_can_be_built(bench):
    result = bench.run(BINARY, "pipelines", "check")
    assert result.returncode == 0, result.stderr
    assert "output/mp4" in result.stdout


def test_a_broken_pipeline_names_its_file_and_line(bench, tmp_path):
    folder = pathlib.Path(tmp_path) / "output"
    folder.mkdir()
    (folder / "mkv.pipeline").write_text("# broken\nappsrc name=video\n! nosuchelement ! fakesink\n")
    result = bench.run(BINARY, "pipelines", "check", "--pipelines", tmp_path)
    assert result.returncode != 0
    assert "mkv.pipeline:3" in result.stderr and "nosuchelement" in result.stderr, result.stderr
