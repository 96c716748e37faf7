import Testing

@testable import PipelineTemplates

@Suite struct DestinationTests {
  @Test func aWindowIsNeitherAFileNorLive() {
    let window = Destination(argument: "window=")
    #expect(window.isWindow && !window.isFile && !window.isLive && window.template == "window")
    #expect(window.shown == "window")
    let file = Destination(argument: "window")
    #expect(file.isFile && !file.isWindow && !file.isLive)
    #expect(Destination(argument: "rtmp://host/app/key").isLive)
  }

  @Test(
    arguments: [
      ("a.mp4", nil, "a.mp4", "mp4"), ("A.MKV", nil, "A.MKV", "mkv"), ("ogg=a.opus", "ogg", "a.opus", "ogg"),
      ("./a=b.mp4", nil, "./a=b.mp4", "mp4"), ("/tmp/x=1/a.mp4", nil, "/tmp/x=1/a.mp4", "mp4"), ("a", nil, "a", nil),
      ("ts=udp://127.0.0.1:5000", "ts", "udp://127.0.0.1:5000", "ts"),
      ("udp://h:1/x.mp4", nil, "udp://h:1/x.mp4", "udp"),
      ("rtmp://h/app/key?a=b", nil, "rtmp://h/app/key?a=b", "rtmp"),
      ("RTMPS://h/app/a b", nil, "RTMPS://h/app/a b", "rtmp"), ("mux://key", nil, "mux://key", "rtmp"),
      ("srt://:1?mode=listener", nil, "srt://:1?mode=listener", "srt"), ("ts=", "ts", "", "ts"),
      ("..=a", nil, "..=a", nil),
      ("voice.opus", nil, "voice.opus", "ogg"),
    ] as [(String, String?, String, String?)])
  func isReadAsItIsWritten(_ argument: String, _ output: String?, _ location: String, _ text: String?) {
    let destination = Destination(argument: argument)
    #expect(destination == Destination(location: location, output: output))
    #expect(destination.template == text)
  }

  @Test func whatFilledAPlaceholderIsNoSecret() {
    var destination = Destination(location: "rtmp://h/live/alice?key=secret")
    destination.known = ["alice"]
    #expect(destination.shown == "rtmp://h/live/alice?{...}")
    #expect(destination.redact("alice was refused: alice?key=secret") == "alice was refused: {...}")
    destination.location = "srt://h:1?streamid=alice&passphrase=secret"
    #expect(destination.shown == "srt://h:1?streamid=alice&passphrase={...}")
  }

  @Test func nobodyInARoomChoosesAServer() {
    for open in ["rtmp://{publisher_identity}/a/k", "rtmp://h:{track_id}/a/k", "srt://{room_name}@h:1"] {
      #expect(Destination(location: open).leavesServerOpen)
    }
    for named in ["rtmp://h/{room_name}/{publisher_identity}", "srt://h:1?streamid={track_id}", "{time}.mp4"] {
      #expect(!Destination(location: named).leavesServerOpen)
    }
  }

  @Test func anAddressSaysHostAndPort() {
    let address = Destination(location: "srt://[::1]:7000?streamid=secret")
    #expect(!address.isFile && address.values["host"] == "::1" && address.values["port"] == "7000")
    #expect(Destination(location: "udp://u:p@224.0.0.1:5/x").values["host"] == "224.0.0.1")
    #expect(Destination(location: "srt://:7000").values["host"] == nil)
    #expect(Destination(location: "a.mp4").values == ["location": "a.mp4"])
    let mux = Destination(location: "mux://12345")
    #expect(mux.values["location"] == "rtmps://global-live.mux.com:443/app/12345")
    #expect(mux.shown == "rtmps://global-live.mux.com:443/app/{...}")
    let twitch = Destination(location: "Twitch://live_1234567")
    #expect(twitch.template == "rtmp")
    #expect(twitch.shown == "rtmps://ingest.global-contribute.live-video.net:443/app/{liv...567}")
    #expect(twitch.redact("cannot reach twitch://live_1234567").contains("live_1234567") == false)
  }

  @Test(
    arguments: [
      ("rtmp://h/app/live_1234567", "rtmp://h/app/{liv...567}"), ("rtmp://h:1/a/b/12345678901", "rtmp://h:1/a/b/{...}"),
      ("rtmps://user:pass@h/app/key", "rtmps://h/app/{...}"), ("rtmp://h/app/k?a=b/c", "rtmp://h/app/{...}"),
      ("rtmp://h/app/ab", "rtmp://h/app/{...}"), ("rtmp://h/app/long key live=1", "rtmp://h/app/{lon...e=1}"),
      ("twich://live_1234567", "twich://{...}"), ("foo://h.example/x", "foo://h.example"), ("foo://h:1", "foo://h:1"),
      ("rtmp:/h/app/live_1234567", "rtmp:/{...}"), ("talk:/x.mp4", "talk:/x.mp4"),
      ("rtmp://h/app/{publisher_identity}", "rtmp://h/app/{publisher_identity}"),
      ("rtmp://h/app/{time}?key=secret", "rtmp://h/app/{time}?{...}"),
      ("rtmp://h/app/secret-{time}", "rtmp://h/app/{sec...me}}"), ("rtmp://h", "rtmp://h"),
      ("srt://u:p@h:1", "srt://h:1"),
      ("srt://:7?mode=listener&passphrase=secret", "srt://:7?mode=listener&passphrase={...}"),
      ("srt://h:1?streamid=#!::r=a/b,m=publish&latency=20", "srt://h:1?streamid={...}&latency=20"),
      ("http://h/secret?token=secret", "http://h?token={...}"), ("foo://", "foo://"), ("/a/b://c.mp4", "/a/b://c.mp4"),
    ])
  func whatIsShownHoldsNoSecret(_ location: String, _ shown: String) {
    #expect(Destination(location: location).shown == shown)
  }

  @Test func whatOthersSayOfItHoldsNoSecret() {
    let address = Destination(location: "rtmp://h/app/live_123?a=b")
    #expect(address.redact("no rtmp://h/app/live_123?a=b") == "no rtmp://h/app/{liv...a=b}")
    #expect(Destination(location: "twich://live_1234567").redact("no live_1234567") == "no {...}")
    #expect(Destination(location: "rtmp:/h/app/live_123").secrets == ["h/app/live_123"])
    #expect(address.redact("stream 'live_123' of b") == "stream '{...}' of b")
    #expect(Destination(location: "a.mp4").redact("a.mp4 = a") == "a.mp4 = a")
  }

  @Test func anRTMPAddressNeedsAnApplicationAndAKey() {
    for location in ["rtmp://h", "rtmp://h/", "rtmp://h/app", "rtmp://h/app/", "rtmps://h//key"] {
      #expect(Destination(location: location).mistake?.contains("rtmp://HOST/APP/KEY") == true, "\(location)")
    }
    for location in ["rtmp://h/app/key", "rtmp://h/app/more/key", "srt://h:1", "a.mp4"] {
      #expect(Destination(location: location).mistake == nil, "\(location)")
    }
    for service in ["mux://", "twitch://", "Twitch:///"] {
      let name = service.prefix { $0 != ":" }.lowercased()
      #expect(Destination(location: service).mistake == "'\(name)://' lacks a stream key: write \(name)://KEY")
    }
    #expect(Destination(location: "rtmp:/h/app/key").mistake?.contains("write rtmp://") == true)
    #expect(Destination(location: "talk:/x.mp4").mistake == nil)
    #expect(Destination(argument: "mine=rtmp://h/app").mistake == nil, "a template may know the key itself")
  }
}
