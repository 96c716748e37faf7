import GStreamerKit
package import MediaBridge
import MediaCore
import MediaPipelines
import RTP

/// Encoded frames that are made once and sent over and over, by as many participants as one likes: what it costs to
/// publish them is sending alone. For benchmarks, hence not public.
package final class CaptureClip: Sendable {
  /// A size in which the clip is sent, and the bitrate that its encoder is asked for.
  package struct Layer: Sendable {
    package var dimensions: Dimensions
    package var bitrate: Int

    package init(dimensions: Dimensions, bitrate: Int) {
      self.dimensions = dimensions
      self.bitrate = bitrate
    }
  }

  let kind: Track.Kind
  /// From the smallest to the largest; none of audio.
  package let layers: [Layer]
  /// Frames a second, or packets of audio.
  package let rate: Int
  struct Frame: Sendable {
    /// Of its packets.
    var payloads: [[UInt8]] = []
    /// When it is shown: as the how many-th of the clip.
    var place = 0
  }
  /// Of each layer, in the order in which they are sent; a keyframe begins each second. Audio has one row, and a packet in
  /// each frame.
  let frames: [[Frame]]

  private init(_ kind: Track.Kind, layers: [Layer], rate: Int, frames: [[Frame]]) {
    self.kind = kind
    self.layers = layers
    self.rate = rate
    self.frames = frames
  }

  /// Encodes the first `seconds` of what a capture template makes.
  package static func record(
    template: String, layers: [Layer], rate: Int, seconds: Int, values: [String: String], pipelineFolder: String?
  ) async throws -> CaptureClip {
    let factory = PipelineFactory(folder: pipelineFolder)
    var frames: [[Frame]] = []
    for layer in layers {
      let own = [
        "width": "\(layer.dimensions.width)", "height": "\(layer.dimensions.height)", "framerate": "\(rate)/1",
        "gop": "\(rate)", "bitrate": "\(layer.bitrate / 1000)",
      ]
      let made = try factory.make(.capture, template, values: values.merging(own) { _, own in own })
      frames.append(try await video(rate * seconds, of: made))
    }
    return CaptureClip(.video, layers: layers, rate: rate, frames: frames)
  }

  /// The same of audio: of a template that makes packets of Opus, 20 ms in each.
  package static func record(
    audioTemplate template: String, seconds: Int, values: [String: String], pipelineFolder: String?
  ) async throws -> CaptureClip {
    let rate = 50
    let made = try PipelineFactory(folder: pipelineFolder).make(.capture, template, values: values)
    return CaptureClip(.audio, layers: [], rate: rate, frames: [try await audio(rate * seconds, of: made)])
  }

  private static func video(_ count: Int, of made: TemplatePipeline) async throws -> [Frame] {
    let gathered = Locked<[[RTPPacket]]>([[]])
    try await run(made, sink: "video") { media in
      guard let packet = media.withUnsafeBytes({ try? RTPPacket(parsing: PacketBuffer(copying: $0)) }) else {
        return false
      }
      return gathered.withLock { frames in
        guard frames.count <= count else { return true }
        frames[frames.count - 1].append(packet)
        if packet.marker { frames.append([]) }
        return frames.count > count
      }
    }
    return placed(gathered.withLock { Array($0.prefix(count)) })
  }

  private static func audio(_ count: Int, of made: TemplatePipeline) async throws -> [Frame] {
    let gathered = Locked<[Frame]>([])
    try await run(made, sink: "encoded-audio") { media in
      let payload = media.withUnsafeBytes { Array($0) }
      return gathered.withLock { frames in
        frames.append(Frame(payloads: [payload], place: frames.count))
        return frames.count >= count
      }
    }
    return gathered.withLock { Array($0.prefix(count)) }
  }

  /// Runs a pipeline until `take` has had enough of what its sink brings.
  private static func run(
    _ made: TemplatePipeline, sink: String, take: @escaping @Sendable (MediaBuffer) -> Bool
  ) async throws {
    let done = Outcome<Void, LiveKitError>()
    try made.sink(sink) { media in if take(media) { done.settle(.success(())) } }
    made.pipeline.onMessage { message in
      switch message {
      case .error(let error): done.settle(.failure(LiveKitError(error, in: made.template)))
      case .endOfStream: done.settle(.failure(LiveKitError(.pipeline, "\(made.template.file) makes too few frames")))
      default: break
      }
    }
    try made.start()
    let result: Result<Void, LiveKitError>
    do throws(LiveKitError) { result = .success(try await done.value()) } catch { result = .failure(error) }
    await made.pipeline.stop()
    try result.get()
  }

  /// B-frames are shown before frames that are sent before them.
  private static func placed(_ frames: [[RTPPacket]]) -> [Frame] {
    let first = frames[0][0].timestamp
    let times = frames.map { Int32(bitPattern: $0[0].timestamp &- first) }
    var placed = frames.map { packets in Frame(payloads: packets.map { packet in packet.withPayload { Array($0) } }) }
    let order = times.indices.sorted { times[$0] < times[$1] }
    for (place, index) in order.enumerated() { placed[index].place = place }
    return placed
  }
}
