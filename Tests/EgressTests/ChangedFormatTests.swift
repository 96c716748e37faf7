import BridgeTesting
import Foundation
import GStreamerKit
import MediaBridge
import MediaCore
import MediaPipelines
import PipelineTemplates
import Testing

/// Encoded video that goes on in another size in the same output.
@Suite struct ChangedFormatTests {
  private let folder: TemporaryFolder
  private var path: String { folder.path + "/output" }

  init() throws { folder = try TemporaryFolder() }

  /// Writes two frames of one size, and two of another one.
  private func write(by multiplexer: String) async throws {
    let text = """
      \(multiplexer) name=mux ! filesink location=${location}
      appsrc name=video max-buffers=1000 max-bytes=0 leaky-type=downstream
        caps="video/x-h264,stream-format=avc,alignment=au"
      ! mux.
      """
    let template = try Template(kind: .output, name: "changed", file: "changed", text: text)
    let output = try OutputPipeline(
      template.fill(["location": path]), inputs: ["video": OutputPipeline.Input()], unused: [],
      factory: PipelineFactory(folder: nil), onKeyframeNeeded: { _ in }, onFailure: { Issue.record("\($0)") })
    try output.start()
    for number in UInt8(0)..<4 {
      let caps = try caps(isLarge: number > 1)
      let media = [number].withUnsafeBytes {
        MediaBuffer(copying: $0, caps: caps, pts: nil, isDelta: number % 2 == 1)
      }
      output.push(media, into: "video", at: .milliseconds(40 * Int64(number)))
    }
    try await output.complete()
    await output.stop()
  }

  private func caps(isLarge: Bool) throws -> Caps {
    let size = isLarge ? "codec_data=(buffer)22,width=640,height=360" : "codec_data=(buffer)11,width=320,height=180"
    return try #require(Caps("video/x-h264,stream-format=avc,alignment=au,\(size)"))
  }

  /// Of the video of an FLV file: the type, which is 0 for a sequence header, 1 for a frame and 2 for the end, and the
  /// bytes of each packet.
  private var packets: [[UInt8]] {
    let bytes = FileManager.default.contents(atPath: path).map(Array.init) ?? []
    var (packets, place) = ([[UInt8]](), 13)
    while place + 15 <= bytes.count {
      let size = bytes[place + 1..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      let body = Array(bytes[(place + 11)...].prefix(size))
      if bytes[place] == 9, body.count >= 5 { packets.append([body[1]] + body.dropFirst(5)) }
      place += size + 15
    }
    return packets
  }

  /// Servers may go by sequence headers alone, as nginx does for HLS.
  @Test func flvHasASequenceHeaderOfEach() async throws {
    try await write(by: "flvmux streamable=true")
    #expect(packets == [[0, 0x11], [1, 0], [1, 1], [0, 0x22], [1, 2], [1, 3], [2]])
  }

  /// It would fail if it were told.
  @Test func aMultiplexerOfOneDescriptionGoesOn() async throws {
    try await write(by: "matroskamux")
    #expect(FileManager.default.contents(atPath: path)?.isEmpty == false)
  }
}
