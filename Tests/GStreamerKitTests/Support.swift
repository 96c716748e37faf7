import BridgeTesting
import Foundation
import GStreamerKit
import MediaCore
import PipelineTemplates
import Testing

/// The templates of this checkout.
enum Shipped {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("pipelines").path
  static let store = TemplateStore(
    searchPath: TemplateSearchPath(folders: [.init(path: folder, source: .checkout)]))

  /// - Parameter voices: who has a track of audio of their own, by the numbers of their inputs.
  static func pipeline(
    _ kind: TemplateKind, _ name: String, _ values: [String: String] = [:], voices: [Int] = []
  ) throws -> Pipeline {
    let filled = try store.find(kind, name).fill(values)
    return try pipeline(filled, filled.description(withAudio: voices))
  }

  /// A receive template with only one of its outputs, linked from the start.
  static func receiver(_ name: String, _ output: String, _ values: [String: String] = [:]) throws -> Pipeline {
    let filled = try store.find(.receive, name).fill(values)
    let others = ["encoded", "frames", "pcm"].filter { $0 != output }
    return try pipeline(filled, filled.trunk(withoutBranches: others))
  }

  private static func pipeline(_ filled: FilledTemplate, _ description: String) throws -> Pipeline {
    try Pipeline(description: description, name: "\(filled.kind.rawValue)-\(filled.name)") { offset in
      SourceLocation(file: filled.file, line: filled.line(atOffset: offset))
    }
  }
}

/// Errors that a pipeline reports on its bus.
func errors(of pipeline: Pipeline) -> Collector<PipelineError> {
  let collector = Collector<PipelineError>()
  pipeline.onMessage { message in
    if case .error(let error) = message { collector.add(error) }
  }
  return collector
}

/// Frames that carry their number as sixteen bright or dark squares, over a background that moves.
enum NumberedFrame {
  static let width = 320
  static let height = 240
  static let caps = "video/x-raw,format=I420,width=320,height=240,framerate=25/1"
  private static let square = 20

  private static let ramp = (0..<(160 + width)).map { UInt8(40 + $0 % 160) }

  /// The bright and dark squares, then rows of a ramp that moves with the number.
  private static func row(_ y: Int, of number: Int) -> ArraySlice<UInt8> {
    if y < square { return ArraySlice((0..<width).map { number >> ($0 / square) & 1 == 1 ? 235 : 16 }) }
    let shift = (y + number * 2) % 160
    return ramp[shift..<(shift + width)]
  }

  static func luma(_ number: Int) -> [UInt8] { (0..<height).flatMap { row($0, of: number) } }

  static func media(_ number: Int) throws -> MediaBuffer {
    let bytes = luma(number) + [UInt8](repeating: 128, count: width * height / 2)
    let time = MediaTime(nanoseconds: Int64(number) * 40_000_000)
    let caps = try #require(Caps(caps))
    return bytes.withUnsafeBytes { MediaBuffer(copying: $0, caps: caps, pts: time, duration: .milliseconds(40)) }
  }

  struct Reading: Sendable {
    var number: Int
    /// Mean distance of the luma samples from the frame of that number.
    var meanError: Double
  }

  static func read(_ frame: VideoFrameBuffer) -> Reading? {
    frame.withPlanes { planes -> Reading? in
      guard let plane = planes[0], plane.width == width, plane.height == height else { return nil }
      let number = (0..<16).reduce(0) { bits, bit in
        plane.bytes[square / 2 * plane.stride + bit * square + square / 2] > 125 ? bits | 1 << bit : bits
      }
      // Every fourth sample of every fourth row is enough, and quick under the sanitizer.
      var difference = 0
      for y in stride(from: 1, to: height, by: 4) {
        let expected = row(y, of: number)
        for x in stride(from: 1, to: width, by: 4) {
          difference += abs(Int(plane.bytes[y * plane.stride + x]) - Int(expected[expected.startIndex + x]))
        }
      }
      return Reading(number: number, meanError: Double(difference) * 16 / Double(width * height))
    } ?? nil
  }
}

/// One RTP packet of a test stream.
struct TestPacket: Sendable {
  var buffer: PacketBuffer
  var timestamp: UInt32
  var isMarked: Bool

  init(_ media: MediaBuffer) {
    buffer = media.withUnsafeBytes { PacketBuffer(copying: $0) }
    (timestamp, isMarked) = media.withUnsafeBytes { bytes in
      (bytes[4..<8].reduce(0) { $0 << 8 | UInt32($1) }, bytes[1] & 0x80 != 0)
    }
  }
}

enum TestStream {
  static func encoder(_ codec: String) -> String {
    switch codec {
    case "vp8":
      "vp8enc deadline=1 cpu-used=4 target-bitrate=2000000 keyframe-max-dist=30 ! rtpvp8pay picture-id-mode=15-bit"
    case "vp9":
      "vp9enc deadline=1 cpu-used=8 target-bitrate=2000000 keyframe-max-dist=30 ! rtpvp9pay picture-id-mode=15-bit"
    case "av1":
      "av1enc usage-profile=realtime cpu-used=9 target-bitrate=2000 min-quantizer=2 max-quantizer=56 "
        + "keyframe-max-dist=30 ! av1parse ! rtpav1pay"
    default:
      "x264enc speed-preset=ultrafast tune=zerolatency bitrate=2000 key-int-max=30 ! "
        + "video/x-h264,profile=constrained-baseline ! rtph264pay aggregate-mode=zero-latency config-interval=-1"
    }
  }

  /// Numbered frames 0..<count as packets, one array for each frame; 25 a second.
  static func video(_ codec: String, count: Int) async throws -> [[TestPacket]] {
    let text = "appsrc name=in max-bytes=0 caps=\"\(NumberedFrame.caps)\" ! \(encoder(codec)) mtu=1200 pt=96 "
    let packets = try await run(text, (0..<count).map(NumberedFrame.media))
    var frames: [[TestPacket]] = []
    for packet in packets {
      if frames.last?.last?.timestamp == packet.timestamp {
        frames[frames.count - 1].append(packet)
      } else {
        frames.append([packet])
      }
    }
    return frames
  }

  /// A tone of 440 Hz in Opus packets of 20 ms.
  static func audio(count: Int) async throws -> [TestPacket] {
    let text = """
      audiotestsrc num-buffers=\(count) samplesperbuffer=960 volume=0.5 ! audio/x-raw,rate=48000,channels=2 ! opusenc
      ! rtpopuspay pt=111
      """
    return try await run(text, [])
  }

  private static func run(_ text: String, _ input: [MediaBuffer]) async throws -> [TestPacket] {
    let pipeline = try Pipeline(description: text + " ! appsink name=out sync=false", name: "test-stream")
    let packets = Collector<TestPacket>()
    try pipeline.appSink(named: "out", onBuffer: { packets.add(TestPacket($0)) })
    let source = input.isEmpty ? nil : try pipeline.appSource(named: "in")
    try pipeline.start()
    for media in input { source?.push(media) }
    if source == nil {
      try await pipeline.endOfStream(timeLimit: .seconds(30))
    } else {
      try await pipeline.sendEndOfStream(timeLimit: .seconds(30))
    }
    #expect(await pipeline.stop())
    return packets.values
  }
}
