import Foundation
import GStreamerKit
import MediaCore
import RTP
import Testing

@testable import MediaBridge

/// One access unit with what a multiplexer or decoder needs to know about it.
struct Unit: Sendable {
  var bytes: [UInt8]
  var caps: Caps
  var isDelta: Bool
  /// Whether it was made by us.
  var isHeld = false
  /// Whether a picture has to come out for it; nil before that is known.
  var isLastShown = true

  func media(at time: MediaTime) -> MediaBuffer {
    bytes.withUnsafeBytes {
      MediaBuffer(copying: $0, caps: caps, pts: time, dts: time, duration: .milliseconds(40), isDelta: isDelta)
    }
  }
}

/// A decoded picture: when it is to be shown, and a digest of all of its samples.
struct Picture: Sendable, Equatable {
  var number: Int
  var digest: Int
}

/// What call-backs on other threads have delivered so far.
final class Collector<Value: Sendable>: Sendable {
  private let storage = Locked<[Value]>([])
  func add(_ value: Value) { storage.withLock { $0.append(value) } }
  var values: [Value] { storage.withLock { $0 } }
}

enum Video {
  static let step = 40_000_000

  /// Access units of a moving picture.
  static func encode(_ encoder: String, width: Int, height: Int, count: Int) async throws -> [Unit] {
    // Detail that moves, and something that stays, so that encoders use more than one reference.
    let picture = "kx2=20 ky2=20 kt=3 pattern=zone-plate"
    let text = """
      videotestsrc num-buffers=\(count) \(picture) ! videobox left=-\(width / 4 & ~1) ! videoscale
      ! video/x-raw,format=I420,width=\(width),height=\(height),framerate=25/1
      ! \(encoder) ! appsink name=out sync=false
      """
    let pipeline = try Pipeline(description: text, name: "encode")
    let units = Collector<Unit>()
    try pipeline.appSink(
      named: "out",
      onBuffer: { media in
        units.add(Unit(bytes: media.withUnsafeBytes { Array($0) }, caps: media.caps, isDelta: media.isDelta))
      })
    try await run(pipeline) {}
    return units.values
  }

  /// Decodes units, each at its place in a row of 25 a second.
  static func decode(_ units: [Unit], by decoder: String) async throws -> [Picture] {
    let text = "appsrc name=in max-bytes=0 ! \(decoder) ! video/x-raw ! appsink name=out sync=false"
    let pipeline = try Pipeline(description: text, name: "decode")
    let pictures = Collector<Picture>()
    try pipeline.appSink(
      named: "out",
      onBuffer: { media in
        let number = (media.pts?.nanoseconds).map { Int($0) / step } ?? -1
        pictures.add(Picture(number: number, digest: digest(media)))
      })
    let source = try pipeline.appSource(named: "in")
    try await run(pipeline) {
      for (index, unit) in units.enumerated() {
        let result = source.push(unit.media(at: MediaTime(nanoseconds: Int64(index * step))))
        #expect(result == .queued)
      }
      source.endOfStream()
    }
    return pictures.values
  }

  /// Starts, feeds and runs to the end; an error or warning on the way fails the test.
  private static func run(_ pipeline: Pipeline, feed: () -> Void) async throws {
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

  private static func digest(_ media: MediaBuffer) -> Int {
    guard let frame = VideoFrameBuffer(media) else { return 0 }
    var hasher = Hasher()
    hasher.combine(frame.width)
    hasher.combine(frame.height)
    let isRead: Void? = frame.withPlanes { planes in
      for index in 0..<planes.count {
        guard let plane = planes[index] else { continue }
        for y in 0..<plane.height {
          let row = plane.bytes[(y * plane.stride)...].prefix(plane.width * plane.pixelStride)
          hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: row))
        }
      }
    }
    return isRead == nil ? 0 : hasher.finalize()
  }
}

extension HeldPictureMaker {
  mutating func follow(_ unit: Unit) {
    if let record = unit.caps.bytes("codec_data") { record.withUnsafeBytes { configure($0) } }
    unit.bytes.withUnsafeBytes { follow($0) }
  }
}

extension [Unit] {
  /// The stream with `counts[index]` held pictures behind the unit of that index.
  func holding(_ codec: VideoCodec, counts: (Int) -> Int) throws -> [Unit] {
    var maker = try #require(HeldPictureMaker(codec: codec))
    return try enumerated().flatMap { index, unit in
      maker.follow(unit)
      let count = counts(index)
      guard count > 0 else { return [unit] }
      let held = try #require(maker.picture(), "no held picture behind unit \(index)")
      let more = Unit(
        bytes: held.bytes, caps: unit.caps, isDelta: true, isHeld: true, isLastShown: held.isLastShown)
      return [unit] + [Unit](repeating: more, count: count)
    }
  }
}

/// A generator whose numbers a seed repeats (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
    return value ^ (value >> 31)
  }
}
