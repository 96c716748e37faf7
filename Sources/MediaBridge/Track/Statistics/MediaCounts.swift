import RTP

/// What was counted of a track in sessions that have ended, or in other codecs, so that counts go on from there.
struct MediaCounts: Sendable {
  private var rtp = RTPReceiver.Statistics()
  private var framesReceived = 0
  private var framesDropped = 0
  private var decoder = DecoderMeter.Figures()

  init() {}

  init(reception: ReceptionStatistics?, decoder: DecoderMeter.Figures) {
    rtp = reception?.rtp ?? .init()
    framesReceived = reception?.framesReceived ?? 0
    framesDropped = reception?.framesDropped ?? 0
    self.decoder = decoder
  }

  /// - Parameter new: of what came after.
  mutating func add(_ new: MediaCounts) {
    rtp.add(new.rtp)
    framesReceived += new.framesReceived
    framesDropped += new.framesDropped
    decoder = new.decoder.goingOn(from: decoder)
  }

  /// What there is now, and before it.
  func added(to reception: ReceptionStatistics) -> ReceptionStatistics {
    var sum = reception
    sum.rtp.add(rtp)
    sum.framesReceived += framesReceived
    sum.framesDropped += framesDropped
    return sum
  }

  func added(to figures: DecoderMeter.Figures) -> DecoderMeter.Figures { figures.goingOn(from: decoder) }
}

extension RTPReceiver.Statistics {
  /// Jitter is no count.
  fileprivate mutating func add(_ other: Self) {
    packetsReceived += other.packetsReceived
    bytesReceived += other.bytesReceived
    packetsLost += other.packetsLost
    packetsRecovered += other.packetsRecovered
    packetsDuplicated += other.packetsDuplicated
    paddingPackets += other.paddingPackets
    packetsDiscarded += other.packetsDiscarded
    retransmissionsReceived += other.retransmissionsReceived
    retransmittedBytes += other.retransmittedBytes
    nackRequests += other.nackRequests
    nackedPackets += other.nackedPackets
    keyframeRequests += other.keyframeRequests
    keyframesReceived += other.keyframesReceived
  }
}

extension DecoderMeter.Figures {
  fileprivate func goingOn(from earlier: Self) -> Self {
    var sum = self
    sum.framesDecoded += earlier.framesDecoded
    sum.size = size ?? earlier.size
    sum.freezes.add(earlier.freezes)
    sum.audio.add(earlier.audio)
    return sum
  }
}
