import GStreamerKit
import RTP
import Testing

@testable import MediaBridge

/// A way to encode and the decoders that have to agree on what comes of it.
struct HeldCase: Sendable, CustomTestStringConvertible {
  var codec: VideoCodec
  var name: String
  var encoder: String
  var decoders: [String]
  var width = 320
  var height = 240
  /// Whether every picture shown is kept as a reference, so that all held pictures are exact.
  var isExact = true

  var testDescription: String { "\(name) \(width)x\(height)" }

  func sized(_ width: Int, _ height: Int) -> HeldCase {
    var other = self
    other.width = width
    other.height = height
    return other
  }
}

extension HeldCase {
  /// As libwebrtc sets it up for a camera.
  static let vp8 = HeldCase(
    codec: .vp8, name: "VP8 realtime",
    encoder: """
      vp8enc deadline=1 cpu-used=6 error-resilient=default lag-in-frames=0 end-usage=cbr target-bitrate=400000
      keyframe-max-dist=3000 static-threshold=1 resize-allowed=false
      """, decoders: ["vp8dec", "avdec_vp8"])
  static let vp8AltRef = HeldCase(
    codec: .vp8, name: "VP8 hidden alternate references",
    encoder: "vp8enc deadline=1000000 cpu-used=4 auto-alt-ref=true lag-in-frames=8 target-bitrate=300000",
    decoders: ["vp8dec", "avdec_vp8"])
  /// Three layers; the uppermost is no reference, the one between is kept as golden.
  static let vp8Layers = HeldCase(
    codec: .vp8, name: "VP8 temporal layers",
    encoder: """
      vp8enc deadline=1 cpu-used=6 error-resilient=default lag-in-frames=0 end-usage=cbr target-bitrate=400000
      keyframe-max-dist=3000 temporal-scalability-number-layers=3 temporal-scalability-periodicity=4
      temporal-scalability-layer-id=<0,2,1,2> temporal-scalability-rate-decimator=<4,2,1>
      temporal-scalability-target-bitrate=<200000,300000,400000>
      temporal-scalability-layer-flags="<\(base),\(top),\(middle),\(top)>"
      """, decoders: ["vp8dec", "avdec_vp8"], isExact: false)
  private static let base = "no-ref-golden+no-upd-golden+no-ref-alt+no-upd-alt"
  private static let middle = "no-ref-golden+no-upd-last+no-ref-alt+no-upd-alt"
  private static let top = "no-upd-last+no-upd-golden+no-ref-alt+no-upd-alt+no-upd-entropy"

  static let vp9 = HeldCase(
    codec: .vp9, name: "VP9 realtime",
    encoder: """
      vp9enc deadline=1 cpu-used=8 error-resilient=default lag-in-frames=0 end-usage=cbr target-bitrate=400000
      keyframe-max-dist=3000 aq-mode=cyclic-refresh ! vp9parse ! video/x-vp9,alignment=super-frame
      """, decoders: ["vp9dec", "avdec_vp9"])
  static let vp9Adaptive = HeldCase(
    codec: .vp9, name: "VP9 with carried probabilities",
    encoder: """
      vp9enc deadline=1 cpu-used=5 lag-in-frames=0 target-bitrate=400000 keyframe-max-dist=3000
      ! vp9parse ! video/x-vp9,alignment=super-frame
      """, decoders: ["vp9dec", "avdec_vp9"])
  static let vp9SuperFrames = HeldCase(
    codec: .vp9, name: "VP9 super-frames",
    encoder: """
      vp9enc deadline=1000000 cpu-used=5 auto-alt-ref=true lag-in-frames=12 target-bitrate=300000
      ! vp9parse ! video/x-vp9,alignment=super-frame
      """, decoders: ["vp9dec", "avdec_vp9"])
  static let vp9Profile1 = HeldCase(
    codec: .vp9, name: "VP9 profile 1",
    encoder: """
      videoconvert ! video/x-raw,format=Y444 ! vp9enc deadline=1 cpu-used=8 lag-in-frames=0 target-bitrate=400000
      ! vp9parse ! video/x-vp9,alignment=super-frame
      """, decoders: ["vp9dec", "avdec_vp9"])

  private static let avc = "h264parse config-interval=-1 ! video/x-h264,stream-format=avc,alignment=au"
  static let x264Baseline = HeldCase(
    codec: .h264, name: "x264 constrained baseline",
    encoder: """
      x264enc speed-preset=ultrafast tune=zerolatency bitrate=500 key-int-max=3000
      ! video/x-h264,profile=constrained-baseline ! \(avc)
      """, decoders: ["avdec_h264", "openh264dec"])
  static let x264Main = HeldCase(
    codec: .h264, name: "x264 main, CABAC, weights, several references",
    encoder: """
      x264enc speed-preset=medium bframes=0 bitrate=500 key-int-max=3000 rc-lookahead=5 sync-lookahead=0 threads=1
      option-string="weightp=2:ref=4" ! video/x-h264,profile=main ! \(avc)
      """, decoders: ["avdec_h264"])
  static let x264High = HeldCase(
    codec: .h264, name: "x264 high, CABAC, slices",
    encoder: """
      x264enc speed-preset=fast tune=zerolatency threads=3 bitrate=500 key-int-max=12
      ! video/x-h264,profile=high ! \(avc)
      """, decoders: ["avdec_h264"])
  static let openH264 = HeldCase(
    codec: .h264, name: "OpenH264 as in WebRTC",
    encoder: """
      openh264enc usage-type=camera rate-control=bitrate bitrate=500000 gop-size=3000 complexity=low
      ! \(avc)
      """, decoders: ["avdec_h264", "openh264dec"])

  static let all: [HeldCase] = [
    vp8, vp8.sized(638, 358), vp8.sized(176, 144), vp8AltRef, vp8Layers,
    vp9, vp9.sized(638, 358), vp9Adaptive, vp9SuperFrames, vp9Profile1,
    x264Baseline, x264Baseline.sized(638, 358), x264Main, x264Main.sized(638, 358), x264High,
    openH264, openH264.sized(638, 358),
  ]
}

@Suite struct HeldPictureTests {
  private static let count = 30

  /// Behind a keyframe and behind delta frames: 1, 5 and 40.
  private static func rows(_ index: Int) -> Int { [0: 2, 7: 1, 13: 5, 21: 40][index] ?? 0 }

  @Test(arguments: HeldCase.all) func rowsOfHeldPicturesRepeatThePictureBefore(_ test: HeldCase) async throws {
    try await check(test) { $0 < Self.count ? Self.rows($0) : 0 }
  }

  @Test(arguments: HeldCase.all) func everyUnitCanBeHeld(_ test: HeldCase) async throws {
    try await check(test) { _ in 1 }
  }

  private func check(_ test: HeldCase, counts: (Int) -> Int) async throws {
    let units = try await Video.encode(test.encoder, width: test.width, height: test.height, count: Self.count)
    #expect(units.count >= Self.count)
    let mixed = try units.holding(test.codec, counts: counts)
    let inexact = mixed.count { !$0.isLastShown }
    #expect(test.isExact == (inexact == 0))
    for decoder in test.decoders {
      let plain = try await Video.decode(units, by: decoder)
      #expect(plain.count == Self.count, "\(decoder)")
      #expect(Set(plain.map(\.digest)).count == Self.count, "a picture that does not move proves nothing")
      let expected = expect(plain, mixed)
      let decoded = try await Video.decode(mixed, by: decoder)
      #expect(decoded.map(\.number) == expected.map(\.number), "\(decoder)")
      let wrong = zip(decoded, expected).filter { !$1.digests.contains($0.digest) }.map(\.0.number)
      #expect(wrong.isEmpty, "\(decoder): pictures \(wrong) of \(mixed.count) differ")
    }
  }

  private struct Expectation {
    var number: Int
    var digests: Set<Int>
  }

  /// What has to be shown at each place: the sender's pictures as without the held ones, and for a held one the picture
  /// before, or when it says so an earlier one of the last four.
  private func expect(_ plain: [Picture], _ mixed: [Unit]) -> [Expectation] {
    let shown = Dictionary(uniqueKeysWithValues: plain.map { ($0.number, $0.digest) })
    var earlier: [Int] = []
    var original = -1
    var result: [Expectation] = []
    for (place, unit) in mixed.enumerated() {
      if !unit.isHeld {
        original += 1
        guard let digest = shown[original] else { continue }
        earlier.append(digest)
        result.append(Expectation(number: place, digests: [digest]))
      } else {
        let digests = unit.isLastShown ? earlier.suffix(1) : earlier.dropLast().suffix(3)
        result.append(Expectation(number: place, digests: Set(digests)))
      }
    }
    return result
  }
}
