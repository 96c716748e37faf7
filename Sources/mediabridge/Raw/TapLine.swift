import Egress
import GStreamerKit
import MediaBridge

/// The audio of one track in the format that is asked for, each piece with its time.
struct TapLine {
  private let converter: AudioConverter
  private var time: StreamTime
  /// What its sender said of the newest of it.
  private(set) var origin: SenderTime?

  /// Nil where that format cannot be made.
  /// - Parameter clockRate: of the track's timestamps, where they are known.
  init?(_ request: PCMStream.Request, clockRate: Int?) {
    let format = AudioBuffer.Format(
      sampleFormat: .f32, sampleRate: request.rate, channelCount: request.channels)
    guard let converter = AudioConverter(to: format) else { return nil }
    self.converter = converter
    time = StreamTime(rate: clockRate ?? 48_000)
  }

  mutating func convert(_ buffer: AudioPCMBuffer, _ origin: FrameOrigin?) -> [AudioConverter.Piece] {
    let moment = time.time(of: origin?.rtpTimestamp, estimate: buffer.time)
    if let origin { self.origin = SenderTime(moment, origin) }
    return converter.convert(buffer.buffer, at: moment)
  }
}
