import Testing

@testable import PipelineTemplates

/// What no destination can be, told by its words.
@Suite struct DestinationMistakesTests {
  private func mistake(_ argument: String) -> String? { Destination(argument: argument).mistake }

  @Test(arguments: [
    "rtmp://server:abc/live/key", "rtmps://u:p@server:0/live/key", "udp://h:99999", "srt://[::1]:65536",
    "ts=udp://h:-1",
  ])
  func portsThatDoNotExist(_ address: String) {
    let said = mistake(address)
    #expect(said?.contains("does not exist; ports go from 1 to 65535") == true, "\(said ?? "")")
    #expect(said?.contains("key") != true)
  }

  @Test func modesThatSRTDoesNotHave() {
    #expect(
      mistake("srt://h:1?mode=lstener")
        == "'srt://h:1?mode=lstener': SRT has no mode 'lstener'; did you mean listener? There are caller, listener, "
        + "rendezvous")
    #expect(mistake("srt://h:1?latency=20&mode=push")?.contains("there are caller") == true)
  }

  @Test func passphrasesThatSRTDoesNotTake() {
    #expect(
      mistake("srt://h:1?streamid=a&passphrase=SECRET")
        == "'srt://h:1?streamid={...}&passphrase={...}': the passphrase is too short; SRT takes one of 10 to 79 bytes")
    #expect(mistake("srt://h:1?passphrase=%20%20%20%20")?.contains("too short") == true)
    #expect(mistake("srt://h:1?passphrase=" + String(repeating: "x", count: 80))?.contains("too long") == true)
    #expect(mistake("srt://h:1?passphrase=SECRET&passphrase=a-long-secret") == nil, "the last one counts")
  }

  @Test func aTemplateWithoutALocation() {
    #expect(mistake("mkv=") == "'mkv=' lacks a file: write mkv=FILE")
    #expect(mistake("window=") == nil)
  }

  /// It would be found by the name, and opened as a path.
  @Test(arguments: ["mkv://a.mkv", "MP4://h:1/x", "opus://a.opus", "hls://h.example/live", "hls-fmp4://h:1"])
  func schemesThatAreTemplatesOfFiles(_ address: String) {
    let said = mistake(address) ?? ""
    #expect(said.contains("there are rtmp://, rtmps://, srt://, udp://, mux://, twitch://; write "), "\(said)")
  }

  @Test func aSchemeThatIsAFilesEndingIsAnsweredWithBoth() {
    #expect(
      mistake("opus://KEY")
        == "'opus://{...}': there is no scheme opus://; there are rtmp://, rtmps://, srt://, udp://, mux://, "
        + "twitch://; write ogg=FILE for a file")
    #expect(mistake("window://a")?.hasSuffix("write window= for a window") == true)
  }

  /// The last of several counts, and what is in another value does not.
  @Test func whatAnSRTAddressSays() {
    func value(_ name: String, of location: String) -> String? { Destination(location: location).srtValue(of: name) }
    #expect(value("mode", of: "SRT://:9?mode=caller&mode=listener") == "listener")
    #expect(value("mode", of: "srt://h:9?streamid=mode=listener") == nil)
    #expect(value("passphrase", of: "srt://h:9?passphrase={ten-bytes}") == "{ten-bytes}")
    #expect(value("mode", of: "udp://h:9?mode=listener") == nil && value("mode", of: "srt://h:9?mode=") == nil)
  }

  @Test func addressesThatLackSomething() {
    #expect(mistake("srt://h") == "'srt://h' lacks its port: write srt://HOST:PORT")
    #expect(mistake("rtmp://h:abc/app")?.contains("lacks an application or a stream key") == true, "told first")
  }

  @Test(arguments: [
    "a.mkv", "mkv=./-", "rtmp://h/app/key", "rtmp://user:password@h/app/key?a=b", "rtmp://user:pass:word@h:1935/a/k",
    "rtmp://[::1]/app/key", "rtmps://[fe80::1]:443/app/key", "mux://12345", "twitch://live_1234567",
    "rtmp://h:{track_id}/a/k", "udp://[ff02::1]:5000", "udp://u:p@224.0.0.1:5/x", "srt://h:7000",
    "srt://[::1]:7000?mode=caller", "srt://:7000?mode=listener",
    "srt://h:1?mode=rendezvous&latency=200&pbkeylen=32", "srt://h:1?mode=", "srt://h:1?passphrase=",
    "srt://h:1?streamid=#!::r=a/b,m=publish&latency=20", "srt://h:1?passphrase={room_name}",
    "srt://h:1?passphrase=ten-bytes!", "srt://h:1?passphrase=%C3%A4%C3%B6%C3%BC%C3%A4%C3%B6", "mine=card://hw:0",
    "mine=srt://h:1?mode=push", "mine=mkv://h", "mine://h", "mkv:/x.mkv", "rist://h:1",
  ])
  func whatMayBe(_ argument: String) { #expect(mistake(argument) == nil) }
}
