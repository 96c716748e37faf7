import Testing

@testable import PipelineTemplates

@Suite struct ContractTests {
  private func violation(_ kind: TemplateKind, _ text: String) throws -> String? {
    try Template(kind: kind, name: "t", file: "t", text: text).fill().contractViolation
  }

  @Test(
    arguments: [
      (.receive, "appsrc name=rtp ! appsink name=frames", "appsrc name=rtp ! fakesink"),
      (.process, "appsrc name=frames ! appsink name=processed", "appsrc name=frames ! appsink name=frame"),
      (.mix, "compositor name=videomix ! appsink name=frames", "compositor ! appsink name=frames"),
      (.tile, "appsrc name=video ! videoscale", "appsrc ! videoscale"),
      (.encode, "appsrc name=pcm ! opusenc ! appsink name=encoded", "appsrc name=audio ! appsink name=encoded"),
      (.send, "appsrc name=encoded ! rtpvp8pay ! appsink name=rtp", "appsrc name=encoded ! udpsink"),
      (.output, "appsrc name=audio ! fakesink", "appsrc ! fakesink"),
      (.capture, "videotestsrc ! appsink name=frames", "videotestsrc ! fakesink"),
    ] as [(TemplateKind, String, String)])
  func eachKindHasItsNames(_ kind: TemplateKind, _ right: String, _ wrong: String) throws {
    #expect(try violation(kind, right) == nil)
    #expect(try violation(kind, wrong)?.contains("\(kind.rawValue) pipeline needs") == true)
  }

  @Test func theLineIsThatOfWhatIsNearlyCalledSo() throws {
    let line = { (text: String) in try Template(kind: .output, name: "t", file: "t", text: text).fill().contractLine }
    #expect(try line("# A.\nflvmux name=mux ! fakesink\nappsrc name=vidoe ! mux.") == 3)
    #expect(try line("# A.\nflvmux name=mux ! fakesink\nappsrc ! mux.") == 2)
  }

  @Test(
    arguments: [
      ("vp8enc name=encoder target-bitrate=${bitrate:-2500}000", "target-bitrate", "000"),
      ("x264enc bitrate=5 name=encoder threads=2 bitrate=${bitrate:-2500}", "bitrate", ""),
      ("x264enc bitrate=${bitrate:-2500}", nil, nil),
      ("x264enc name=encoder option-string=\"bitrate=${bitrate:-2500}\"", nil, nil),
      ("x264enc name=encoder option-string=\"${bitrate:-2500}:${bitrate}\"", nil, nil),
    ] as [(String, String?, String?)])
  func theBitrateOfAnEncoderIsFound(_ encoder: String, _ name: String?, _ suffix: String?) throws {
    let text = "appsrc name=frames ! \(encoder) ! appsink name=encoded"
    let filled = try Template(kind: .encode, name: "t", file: "t", text: text).fill(["bitrate": "300"])
    let property = filled.property(of: "encoder", from: "bitrate")
    #expect(property?.name == name && property?.variable?.suffix == suffix)
    #expect(property?.value == suffix.map { "300" + $0 })
  }

  @Test func remarksAndLinesMakeNoOtherPipeline() throws {
    let fill = { (text: String) in try Template(kind: .output, name: "t", file: "t", text: text).fill() }
    let text = "# A.\nappsrc name=video max-bytes=${bytes:-5} ! filesink location=\"a  b\""
    let plain = try fill(text)
    #expect(plain.isSame(as: try fill("# Mine.\n# B.\n" + text.replacing(" ! ", with: "\n  ! "))))
    #expect(!plain.isSame(as: try fill(text.replacing("-5", with: "-6"))))
    #expect(!plain.isSame(as: try fill(text.replacing("a  b", with: "a b"))))
  }

  @Test func aTextSaysWhatItTakes() throws {
    let text =
      "appsrc name=video caps=\"video/x-vp8; video/x-h264, stream-format=avc\" ! fakesink appsrc name=audio ! fakesink"
    let filled = try Template(kind: .output, name: "t", file: "t", text: text).fill()
    #expect(filled.caps(ofElement: "video")?.formats.map(\.spoken) == ["VP8", "H264"])
    #expect(filled.caps(ofElement: "audio")?.isAny == true && filled.caps(ofElement: "subtitles") == nil)
  }
}
