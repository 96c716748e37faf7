import GStreamerKit
import MediaPipelines
import PipelineTemplates
import RTP

// What a layer is encoded with, and what that asks of the link.
extension OutgoingLayer {
  private static let leastBitrate = 30_000
  private static let usualAudioBitrate = 128_000
  /// More than any audio has, and as often as not a mistake of units.
  private static let mostAudioBitrate = 100_000_000

  static func values(
    of layer: PublishPlan.Layer, in plan: PublishPlan, for size: Dimensions?, cores: Int = Processors.usable
  ) -> [String: String] {
    // The server asks for keyframes when somebody needs one, and an old frame is worth nothing.
    var values = ["gop": "3000", "frame-queue": "2", "threads": "1"]
    if plan.isDiscontinuous { values["dtx"] = "true" }
    // As good as libwebrtc's frames; time that is left is somebody else's.
    if plan.codec == "vp8" { values["cpu-used"] = "-12" }
    if let bitrate = layer.bitrate {
      let kilobits = String(max(1, bitrate / 1000))
      values[size == nil ? "audio-bitrate" : "bitrate"] = kilobits
    }
    if let size, layer.size != nil {
      let fitted = layer.size(of: size)
      (values["width"], values["height"]) = (String(fitted.width), String(fitted.height))
      values["threads"] = String(EncoderThreads.count(for: fitted, cores: cores))
    }
    return values
  }

  /// Audio stays as it is, with or without its redundancy. What has less than half of what it is meant for looks worse than
  /// a smaller layer does, and encoders hardly keep to it; the smallest one is better than nothing.
  static func demand(
    of layer: PublishPlan.Layer, in plan: PublishPlan, _ stream: OutgoingRTP, _ factory: PipelineFactory
  ) throws(PipelineFailure) -> LinkShares.Stream {
    guard let size = layer.size, let rank = stream.rank else {
      let set = factory.overrides["audio-bitrate"].flatMap { Int($0) }
        .map { min(max($0, 1), mostAudioBitrate / 1000) * 1000 }
      // A program may ask for less than nothing.
      let bitrate = min(max(set ?? layer.bitrate ?? usualAudioBitrate, 1000), mostAudioBitrate)
      return LinkShares.Stream(
        ssrc: stream.ssrc, rank: nil, bitrates: bitrate...(plan.isRedundant ? 2 * bitrate : bitrate))
    }
    let filled = try factory.fill(.encode, plan.encodeTemplate, values: values(of: layer, in: plan, for: size))
    guard let most = filled.adjustableBitrate else {
      let bitrate = layer.bitrate ?? leastBitrate
      return LinkShares.Stream(ssrc: stream.ssrc, rank: rank, bitrates: bitrate...bitrate)
    }
    let least = min(most, max(leastBitrate, rank == 0 ? most / 10 : most / 2))
    return LinkShares.Stream(ssrc: stream.ssrc, rank: rank, bitrates: least...most)
  }
}

extension PublishPlan.Layer {
  /// Frames of another shape than those it is cut for are no larger than they are.
  func size(of frame: Dimensions) -> Dimensions {
    size.map { frame.scaled(by: Double($0.longer) / Double(frame.longer)) } ?? frame
  }

  /// - Returns: frames a second, as a fraction: what a program says of frames of its own is all there is to know. Nil where
  ///   they come as they like.
  func rate(of caps: Caps) -> String? {
    guard let own = caps.fraction("framerate"), own.numerator > 0 else { return rate.map { "\($0)/1" } }
    if let most = rate, own.numerator > most * own.denominator { return "\(most)/1" }
    return "\(own.numerator)/\(own.denominator)"
  }
}
