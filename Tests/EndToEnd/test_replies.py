"""What the commands of `frames --exec` and `pcm --exec` print is heard in the room, by the LiveKit Python SDK."""

import json

import pytest
from livekit import api
from raw import Reader, of


@pytest.fixture
def room(server):
    server.foreign_publisher("--keep-size")
    return server


def ended(reader):
    """What it tells, where standard output carries no media."""
    told = [json.loads(line) for line in reader.process.stdout]
    assert reader.finish() == 0, (reader.said, told)
    return told


def heard(room, command, count=None, carrier="frames"):
    """What a subscriber hears of a command, and what is told; `count` messages, or all that were sent."""
    subscriber = room.subscriber("--duration", 120)
    subscriber.wait_for("connected")
    told = ended(Reader(room, carrier, "--reply", "data", "--exec", command, "--duration", "2s"))
    sent = of("replies", told)[0]["sent"]
    return [subscriber.wait_for("message")["message"] for _ in range(sent if count is None else count)], told


def test_lines_of_a_command_are_messages_in_the_room(room):
    command = r"""echo '{"text": "h\u00e9 there", "topic": "captions"}'; echo '{"event": "motion"}'; cat > /dev/null
      printf '{"text": "the last one"}'"""
    said, told = heard(room, command)
    assert [text for _, _, text in said] == ["hé there", '{"event": "motion"}', "the last one"]
    assert [topic or None for _, topic, _ in said] == ["captions", None, None]
    assert {sender for sender, _, _ in said} == {None}, "nobody sees who says it"
    assert of("replies", told)[0] == {"event": "replies", "sent": 3, "refused": 0, "dropped": 0}


def test_what_pcm_runs_is_heard_and_who_it_is_for(room):
    command = """echo '{"text": "for nobody", "to": ["nobody"]}'; echo '{"text": "for you", "to": ["watcher"]}'
      cat > /dev/null"""
    said, told = heard(room, command, count=1, carrier="pcm")
    assert [text for _, _, text in said] == ["for you"]
    assert of("replies", told)[0]["sent"] == 2


def test_lines_that_are_no_messages_are_said_once_and_counted(room):
    command = r"""for n in 1 2 3; do printf 'loading model \033[2J\n'; done; head -c 70000 /dev/zero | tr '\0' x; echo
      echo '{"text": 1}'; echo '{"text": "good"}'; cat > /dev/null"""
    said, told = heard(room, command)
    assert [text for _, _, text in said] == ["good"]
    refused = of("reply_refused", told)
    assert [event["line"] for event in refused] == ["loading model \033[2J"] and "no JSON object" in refused[0]["reason"]
    assert of("replies", told)[0] == {"event": "replies", "sent": 1, "refused": 5, "dropped": 0}


def test_a_command_that_floods_is_limited(room):
    command = """yes '{"text": "again"}' & cat > /dev/null; kill $!"""
    said, told = heard(room, command)
    counts = of("replies", told)[0]
    assert 100 <= counts["sent"] < 400 and counts["dropped"] > 1000 and counts["refused"] == 0
    assert len(said) == counts["sent"] and len(of("reply_dropped", told)) == 1
    assert of("finished", told)[0]["written"] > 30, "frames go on"


def test_a_token_that_allows_no_messages_is_a_failure(room):
    grants = api.VideoGrants(room_join=True, room="test", can_publish_data=False)
    token = api.AccessToken("devkey", "secret").with_identity("reader").with_grants(grants).to_jwt()
    command = """echo '{"text": "hello"}'; cat > /dev/null"""
    options = ("--token", token, "--reply", "data", "--exec", command, "--duration", "1s")
    reader = Reader(room, "frames", *options)
    reader.process.stdout.read()
    assert reader.finish() == 1
    assert "a message was not sent: the token does not allow to send data" in reader.said
