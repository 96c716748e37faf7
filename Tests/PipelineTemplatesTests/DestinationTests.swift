import Testing

@testable import PipelineTemplates

@Suite struct DestinationTests {
  @Test(
    arguments: [
      ("a.mp4", nil, "a.mp4", "mp4"), ("A.MKV", nil, "A.MKV", "mkv"), ("ogg=a.opus", "ogg", "a.opus", "ogg"),
      ("./a=b.mp4", nil, "./a=b.mp4", "mp4"), ("/tmp/x=1/a.mp4", nil, "/tmp/x=1/a.mp4", "mp4"), ("a", nil, "a", nil),
      ("ts=udp://127.0.0.1:5000", "ts", "udp://127.0.0.1:5000", "ts"), ("udp://h:1/x.mp4", nil, "udp://h:1/x.mp4", nil),
      ("rtmp://h/app/key?a=b", nil, "rtmp://h/app/key?a=b", nil), ("ts=", "ts", "", "ts"), ("..=a", nil, "..=a", nil),
      ("voice.opus", nil, "voice.opus", "ogg"),
    ] as [(String, String?, String, String?)])
  func isReadAsItIsWritten(_ argument: String, _ output: String?, _ location: String, _ text: String?) {
    let destination = Destination(argument: argument)
    #expect(destination == Destination(location: location, output: output))
    #expect(destination.template == text)
  }

  @Test func anAddressSaysHostAndPort() {
    let address = Destination(location: "srt://[::1]:7000?streamid=secret")
    #expect(!address.isFile && address.values["host"] == "::1" && address.values["port"] == "7000")
    #expect(!address.shown.contains("secret") && address.shown.contains("7000"))
    #expect(Destination(location: "a.mp4").values == ["location": "a.mp4"])
    #expect(Destination(location: "rtmp://user:pass@h/app/key").shown == "rtmp://h")
  }
}
