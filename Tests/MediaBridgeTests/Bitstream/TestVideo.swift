import BridgeTesting
import Foundation
import GStreamerKit
import MediaCore
import Testing

@testable import Bitstream

/// One access unit with what a multiplexer or decoder needs to know about it.
struct Unit: Sendable {
  var bytes: [UInt8]
  var caps: Caps
  var isDelta: Bool
  /// Whether it was made by us.
  var isRepeat = false
  var isLastShown = true

  func media(at time: MediaTime) -> MediaBuffer {
    bytes.withUnsafeBytes {
      MediaBuffer(copying: $0, caps: caps, pts: time, dts: time, duration: .milliseconds(40), isDelta: isDelta)
    }
  }
}

extension Unit {
  /// The sets of `codec_data`, which has one of each here: the first length stands at 6.
  func parameterSets() throws -> (H264SequenceParameters, H264PictureParameters) {
    let record = try #require(caps.bytes("codec_data"))
    return try record.withUnsafeBytes { record in
      let length = Int(record[6]) << 8 | Int(record[7])
      let sequence = H264Payload.read(UnsafeRawBufferPointer(rebasing: record[8..<(8 + length)]))
      let picture = H264Payload.read(UnsafeRawBufferPointer(rebasing: record[(8 + length + 3)...]))
      return (try H264SequenceParameters(sequence), try H264PictureParameters(picture))
    }
  }
}

/// A decoded frame: when it is to be shown, and a digest of all of its samples.
struct DecodedFrame: Sendable, Equatable {
  var number: Int
  var digest: Int
}

enum Video {
  static let step = 40_000_000

  /// Frames in a test stream.
  static let count = 30
  private static let streams = Locked<[String: Task<[Unit], any Error>]>([:])

  /// Access units of a moving frame, encoded once for all tests.
  static func units(_ test: StreamCase) async throws -> [Unit] {
    let stream = streams.withLock { streams in
      if let known = streams[test.testDescription] { return known }
      let new = Task { try await encode(test) }
      streams[test.testDescription] = new
      return new
    }
    return try await stream.value
  }

  private static func encode(_ test: StreamCase) async throws -> [Unit] {
    switch test.encoder {
    case .gstreamer(let elements):
      // Detail that moves, and a part that stays, so that encoders find something to skip.
      let frames = """
        videotestsrc num-buffers=\(count) kx2=20 ky2=20 kt=3 pattern=zone-plate ! videobox left=-80 ! videoscale
        ! video/x-raw,format=I420,width=\(test.width),height=\(test.height),framerate=25/1
        """
      return try await collect("\(frames) ! \(elements)")
    case .ffmpeg(let options, let passes):
      let folder = try TemporaryFolder()
      let source = "testsrc2=size=\(test.width)x\(test.height):rate=25,trim=end_frame=\(count)"
      for pass in 1...passes {
        let twice = passes > 1 ? ["-pass", "\(pass)", "-passlogfile", "\(folder.path)/log"] : []
        var arguments = ["-v", "error", "-y", "-f", "lavfi", "-i", source]
        arguments += options.split(separator: " ").map(String.init)
        arguments += twice + ["\(folder.path)/units.webm"]
        let encoded = try run("ffmpeg", arguments)
        try #require(encoded.status == 0, "ffmpeg: \(encoded.errors)")
      }
      return try await collect("filesrc location=\(folder.path)/units.webm ! matroskademux")
    }
  }

  private static func collect(_ text: String) async throws -> [Unit] {
    let pipeline = try Pipeline(description: "\(text) ! appsink name=out sync=false", name: "encode")
    let units = Collector<Unit>()
    try pipeline.appSink(
      named: "out",
      onBuffer: { media in
        units.add(Unit(bytes: media.withUnsafeBytes { Array($0) }, caps: media.caps, isDelta: media.isDelta))
      })
    try await play(pipeline) {}
    return units.values
  }

  /// Decodes units, each at its place in a row of 25 a second.
  static func decode(_ units: [Unit], by decoder: String) async throws -> [DecodedFrame] {
    let text = "appsrc name=in max-bytes=0 ! \(decoder) ! video/x-raw ! appsink name=out sync=false"
    let pipeline = try Pipeline(description: text, name: "decode")
    let frames = Collector<DecodedFrame>()
    try pipeline.appSink(
      named: "out",
      onBuffer: { media in
        let number = (media.pts?.nanoseconds).map { Int($0) / step } ?? -1
        frames.add(DecodedFrame(number: number, digest: digest(media)))
      })
    let source = try pipeline.appSource(named: "in")
    try await play(pipeline) {
      for (index, unit) in units.enumerated() {
        let result = source.push(unit.media(at: MediaTime(nanoseconds: Int64(index * step))))
        #expect(result == .queued)
      }
      source.endOfStream()
    }
    return frames.values
  }

  /// Starts, feeds and runs to the end; an error or warning on the way fails the test.
  private static func play(_ pipeline: Pipeline, feed: () -> Void) async throws {
    let complaints = Collector<String>()
    pipeline.onMessage { message in
      switch message {
      case .error(let error), .warning(let error): complaints.add("\(error)")
      default: break
      }
    }
    try pipeline.start()
    feed()
    try await pipeline.endOfStream(timeLimit: .seconds(60))
    #expect(await pipeline.stop())
    #expect(complaints.values.isEmpty)
  }

  /// Of a black frame of the size and range of a test's.
  static func blackDigest(_ test: StreamCase) throws -> Int {
    digest(
      try #require(.blackFrame(width: test.width, height: test.height, isFullRange: test.hasFullRange)))
  }

  private static func digest(_ media: MediaBuffer) -> Int {
    guard let frame = VideoFrameBuffer(media) else { return 0 }
    var hasher = Hasher()
    hasher.combine(frame.width)
    hasher.combine(frame.height)
    let isRead: Void? = frame.withPlanes { planes in
      for index in 0..<planes.count {
        guard let plane = planes[index] else { continue }
        let rowSize = plane.width * plane.pixelStride
        // All at once where nothing stands between the rows.
        let pieces = plane.stride == rowSize ? 1 : plane.height
        for piece in 0..<pieces {
          let part = plane.bytes[(piece * plane.stride)...].prefix(rowSize * plane.height / pieces)
          hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: part))
        }
      }
    }
    return isRead == nil ? 0 : hasher.finalize()
  }
}

extension RepeatFrameMaker {
  mutating func follow(_ unit: Unit) {
    if let record = unit.caps.bytes("codec_data") { record.withUnsafeBytes { configure($0) } }
    unit.bytes.withUnsafeBytes { follow($0) }
  }
}

extension [Unit] {
  /// The stream with `counts[index]` repeat frames behind the unit of that index.
  func repeating(_ codec: VideoCodec, counts: (Int) -> Int) throws -> [Unit] {
    var maker = try #require(RepeatFrameMaker(codec: codec))
    return try enumerated().flatMap { index, unit in
      maker.follow(unit)
      let count = counts(index)
      guard count > 0 else { return [unit] }
      let repeated = try #require(maker.repeatFrame(), "no repeat frame behind unit \(index)")
      let more = Unit(
        bytes: repeated.bytes, caps: unit.caps, isDelta: true, isRepeat: true, isLastShown: repeated.isLastShown)
      return [unit] + [Unit](repeating: more, count: count)
    }
  }
}
