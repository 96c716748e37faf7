import SDP

/// What a server sends at the end of a track, and while a microphone is muted: frames of one macroblock, or silence.
enum BlankMedia {
  /// How often they come, and so how many of them fill a time.
  struct Cadence {
    /// Frames a second.
    let rate: UInt32
    /// For the fifth of a second that LiveKit sends at the end of a track.
    var ending: Int { Int(rate) / 5 }
    /// For the second that it sends of silence when a track is muted.
    var muting: Int { Int(rate) }

    static let video = Cadence(rate: 30)
    /// Silence comes in frames of 20 ms.
    static let audio = Cadence(rate: 50)
  }

  static func payload(of codec: Codec) -> [UInt8]? {
    switch codec.name.uppercased() {
    case "VP8": [0x10] + vp8
    case "H264": [0x18] + h264.flatMap { [0, UInt8($0.count)] + $0 }
    case "OPUS": silence
    case "RED": (codec.redundantPayloadTypes.first?.rawValue).map { [$0] + silence }
    default: nil
    }
  }

  private static let silence: [UInt8] = [0xf8, 0xff, 0xfe]

  /// A black keyframe of 8x8.
  private static let vp8: [UInt8] = [
    0x10, 0x02, 0x00, 0x9d, 0x01, 0x2a, 0x08, 0x00, 0x08, 0x00, 0x00, 0x47, 0x08, 0x85, 0x85, 0x88, 0x99, 0x84, 0x88,
    0x02, 0x02, 0x00, 0x0c, 0x0d, 0x60, 0x00, 0xfe, 0xff, 0xab, 0x50, 0x80,
  ]

  /// Parameter sets and a black keyframe of 2x2.
  private static let h264: [[UInt8]] = [
    [
      0x67, 0x42, 0xc0, 0x0a, 0xd9, 0x1f, 0x88, 0x88, 0xc0, 0x44, 0x00, 0x00, 0x03, 0x00, 0x04, 0x00, 0x00, 0x03, 0x00,
      0xc8, 0x3c, 0x48, 0x99, 0x20,
    ],
    [0x68, 0xcb, 0x83, 0xcb, 0x20],
    [0x65, 0x88, 0x84, 0x0a, 0xf2, 0x62, 0x80, 0x00, 0xa7, 0xbe],
  ]
}
