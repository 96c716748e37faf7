"""What goes wrong is said in one line that helps, with an exit status that is not 0."""

import subprocess

import pytest
from programs import KEYS, ROOT, mediabridge


def run(*arguments, timeout=40):
    return subprocess.run(
        [*map(str, mediabridge(*arguments))], cwd=ROOT, capture_output=True, text=True, timeout=timeout, check=False
    )


def assert_one_line(done, *words):
    lines = [line for line in done.stderr.splitlines() if line.strip()]
    assert done.returncode != 0, f"it ended with 0: {done.stdout} {done.stderr}"
    assert len(lines) == 1, f"{len(lines)} lines:\n{done.stderr}"
    for word in words:
        assert word.lower() in lines[0].lower(), f"'{word}' is not in: {lines[0]}"


def record(url, file, *options, keys=KEYS):
    return run("record", "--url", url, *keys, "--room", "r", "--duration", "1s", "--wait", "3s", *options, file)


@pytest.mark.parametrize("url", ["ws://127.0.0.1:9", "ws://no-such-host.invalid:7880"])
def test_server_that_is_not_there(url, tmp_path):
    file = tmp_path / "x.mp4"
    assert_one_line(record(url, file), url.split("//")[1].split(":")[0])
    assert not file.exists()


@pytest.mark.parametrize("url", ["nonsense", "ftp://127.0.0.1", "ws://", "ws://127.0.0.1:99999"])
def test_address_that_is_none(url, tmp_path):
    assert_one_line(record(url, tmp_path / "x.mp4"), url.removeprefix("ws://"))


def test_wrong_secret(local_server, tmp_path):
    keys = ("--api-key", "devkey", "--api-secret", "wrong")
    assert_one_line(record(local_server.url, tmp_path / "x.mp4", keys=keys), "token")


def test_unknown_key(local_server, tmp_path):
    keys = ("--api-key", "nobody", "--api-secret", "secret")
    assert_one_line(record(local_server.url, tmp_path / "x.mp4", keys=keys), "key")


def test_broken_token(local_server, tmp_path):
    done = run("record", "--url", local_server.url, "--token", "a.b.c", "--duration", "1s", tmp_path / "x.mp4")
    assert_one_line(done, "token")


def test_participant_that_does_not_come(local_server, tmp_path):
    file = tmp_path / "x.mp4"
    assert_one_line(record(local_server.url, file, "--participant", "nobody"), "nobody")
    assert not file.exists()


@pytest.mark.parametrize("name", ["no/such/folder/x.mp4", "x.avi", "x"])
def test_file_that_cannot_be(name, local_server, tmp_path):
    assert_one_line(record(local_server.url, tmp_path / name), name.rsplit("/", 1)[0] if "/" in name else name)


def test_file_in_a_read_only_place(local_server):
    """Even root cannot write there, so that only opening the file tells."""
    local_server.own_publisher("r", "alice", "vp8")
    assert_one_line(record(local_server.url, "/proc/x.mp4"), "/proc/x.mp4")


def test_full_disk(local_server, tmp_path):
    """/dev/full refuses every byte; through a link it has a name that ends in a known format."""
    file = tmp_path / "full.mkv"
    file.symlink_to("/dev/full")
    local_server.own_publisher("r", "alice", "vp8")
    done = run("record", "--url", local_server.url, *KEYS, "--room", "r", "--duration", "3s", "--wait", "10s", file)
    assert_one_line(done, "full.mkv")


def test_unknown_template():
    assert_one_line(run("pipelines", "show", "no-such-pipeline"), "no-such-pipeline")


def test_port_that_is_taken(local_server):
    assert_one_line(run("dev-server", "--port", local_server.url.rsplit(":", 1)[1]), "listen")


@pytest.mark.parametrize("duration", ["tomorrow", "-3s", ""])
def test_duration_that_is_none(duration, tmp_path):
    done = run("record", "--url", "ws://127.0.0.1:9", *KEYS, "--room", "r", f"--duration={duration}", tmp_path / "x.mp4")
    assert done.returncode != 0 and "duration" in done.stderr


def test_every_shipped_pipeline_can_be_built():
    done = run("pipelines", "check")
    assert done.returncode == 0, done.stderr
    assert "output/mp4" in done.stdout


def test_a_broken_pipeline_names_its_file_and_line(tmp_path):
    (tmp_path / "output").mkdir()
    (tmp_path / "output/mkv.pipeline").write_text("# broken\nappsrc name=video\n! nosuchelement ! fakesink\n")
    done = run("pipelines", "check", "--pipelines", tmp_path)
    assert done.returncode != 0
    assert "mkv.pipeline:3" in done.stderr and "nosuchelement" in done.stderr, done.stderr
