import MediaCore
import MediaPipelines
import RTP

/// Counts the frames that arrived, and those that the decoder for renderers was given and did not hand out.
struct DecodingCounter {
  /// The timeline moves a little between the moments at which it tells the time of one frame.
  private static let clockTolerance = Duration.milliseconds(5)

  private let trackSid: String
  private let clock: ParticipantClock
  /// Of what the decoder makes.
  let meter = DecoderMeter()
  private(set) var frames = FrameDropCounter()
  /// The timestamps of the frames with which a decoder begins; nil for audio.
  private var group: KeptGroup<UInt32>?
  /// Of the newest keyframe: a packet of an older frame that comes late does not end it.
  private var keyframe: UInt32?

  init(trackSid: String, isVideo: Bool, clock: ParticipantClock) {
    self.trackSid = trackSid
    self.clock = clock
    group = isVideo ? KeptGroup(.sinceKeyframe) : nil
  }

  /// Frames whose end has come.
  var arrived: Int { frames.arrived }

  /// Frames that the decoder passed over.
  var dropped: Int {
    let figures = meter.figures
    return frames.dropped(decoded: figures.framesDecoded, isPending(behind: figures.newest))
  }

  /// Takes the next packet.
  mutating func note(_ packet: RTPPacket, beginsAnew: Bool, at time: MediaTime) {
    if beginsAnew { keyframe = packet.timestamp }
    guard packet.endsFrame else { return }
    frames.note(packet.timestamp)
    group?.add(packet.timestamp, isKeyframe: packet.timestamp == keyframe, at: time)
  }

  /// The decoder begins.
  /// - Parameter waiting: the frames with which it does; nil for the kept group.
  mutating func begin(with waiting: [UInt32]?) { frames.begin(with: waiting ?? group?.frames(at: .now) ?? []) }

  /// The decoder ends.
  mutating func end() {
    let isPending = isPending(behind: meter.newestTime)
    frames.end(isPending)
  }

  /// Whether the frame of a timestamp is newer than the one of a time.
  private func isPending(behind newest: MediaTime?) -> (UInt32) -> Bool {
    { [clock, trackSid] timestamp in
      guard let newest, let time = clock.time(trackSid, of: timestamp) else { return true }
      return time > newest + Self.clockTolerance
    }
  }
}
