import GStreamerKit

/// What stands in for audio that does not come: 20 ms of exact silence of 48 kHz stereo.
struct AudioStandIn: Sendable {
  /// The format of the audio that it stands in for, too.
  let caps: Caps
  let block: MediaBuffer

  private static let rawSilence = [UInt8](repeating: 0, count: 960 * 2 * 2)
  private static let raw = Caps("audio/x-raw,format=S16LE,rate=48000,channels=2,layout=interleaved")
  private static let opus = Caps("audio/x-opus,channel-mapping-family=0,rate=48000,channels=2")

  /// - Parameter isRaw: PCM, and not Opus.
  init?(isRaw: Bool) {
    guard let caps = isRaw ? Self.raw : Self.opus else { return nil }
    self.caps = caps
    block = (isRaw ? Self.rawSilence : SilenceFiller.opusSilence).withUnsafeBytes {
      MediaBuffer(copying: $0, caps: caps, pts: nil, duration: SilenceFiller.step)
    }
  }
}
