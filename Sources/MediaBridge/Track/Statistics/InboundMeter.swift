import MediaCore
import RTP

/// Makes the statistics of a stream from what is counted of it at one moment and the one before.
struct InboundMeter: Sendable {
  /// What is known of a stream at one moment.
  struct Sample: Sendable {
    var time: MediaTime
    /// The same moment in milliseconds since 1970.
    var timestamp: Double
    var reception: ReceptionStatistics
    var decoder: DecoderMeter.Figures
    var roundTrip: Duration?
  }

  /// Another one when the track has gone over to a new session.
  var trackSid: String
  let isVideo: Bool
  private var last: Sample?

  init(trackSid: String, isVideo: Bool) {
    self.trackSid = trackSid
    self.isVideo = isVideo
  }

  /// Whether the last report is at least so long ago.
  func isDue(at time: MediaTime, after age: Duration) -> Bool { last.map { time - $0.time >= age } ?? true }

  mutating func report(_ sample: Sample) -> InboundRtpStreamStatistics {
    defer { last = sample }
    let reception = sample.reception
    var inbound = InboundRtpStreamStatistics(
      id: "inbound-rtp-\(trackSid)", timestamp: sample.timestamp, kind: isVideo ? "video" : "audio",
      trackIdentifier: trackSid)
    inbound.describe(reception)
    inbound.count(reception.rtp)
    inbound.roundTripTime = sample.roundTrip?.seconds
    inbound.bps = Bitrate.average(
      bytes: reception.rtp.bytesReceived - (last?.reception.rtp.bytesReceived ?? reception.rtp.bytesReceived),
      seconds: seconds(to: sample))
    if isVideo { frames(sample, &inbound) } else { audio(sample, &inbound) }
    return inbound
  }

  private func seconds(to sample: Sample) -> Double { last.map { (sample.time - $0.time).seconds } ?? 0 }

  private func frames(_ sample: Sample, _ inbound: inout InboundRtpStreamStatistics) {
    let decoder = sample.decoder
    inbound.pliCount = UInt(sample.reception.rtp.keyframeRequests)
    inbound.framesReceived = UInt(sample.reception.framesReceived)
    inbound.framesDecoded = UInt(decoder.framesDecoded)
    inbound.framesDropped = UInt(sample.reception.framesDropped)
    inbound.frameWidth = decoder.size.map { UInt($0.width) }
    inbound.frameHeight = decoder.size.map { UInt($0.height) }
    let elapsed = seconds(to: sample)
    if let last, decoder.framesDecoded > 0, elapsed > 0 {
      inbound.framesPerSecond = Double(decoder.framesDecoded - last.decoder.framesDecoded) / elapsed
    }
    inbound.freezeCount = UInt(decoder.freezes.freezeCount)
    inbound.totalFreezesDuration = decoder.freezes.totalFreezes.seconds
    inbound.pauseCount = UInt(decoder.freezes.pauseCount)
    inbound.totalPausesDuration = decoder.freezes.totalPauses.seconds
  }

  private func audio(_ sample: Sample, _ inbound: inout InboundRtpStreamStatistics) {
    let audio = sample.decoder.audio
    inbound.audioLevel = audio.level(since: last?.decoder.audio ?? AudioEnergy())
    inbound.totalAudioEnergy = audio.total
    inbound.totalSamplesDuration = audio.duration
    inbound.totalSamplesReceived = UInt64(audio.sampleCount)
  }
}

extension InboundRtpStreamStatistics {
  fileprivate mutating func describe(_ reception: ReceptionStatistics) {
    ssrc = reception.ssrc.map { UInt($0.rawValue) }
    rtxSsrc = reception.rtxSSRC.map { UInt($0.rawValue) }
    mid = reception.mid
    guard let type = reception.payloadType else { return }
    payloadType = UInt(type.rawValue)
    mimeType = "\(kind)/\(reception.codec)"
    codecId = "codec-\(type.rawValue)-\(kind)/\(reception.codec)"
  }

  fileprivate mutating func count(_ rtp: RTPReceiver.Statistics) {
    packetsReceived = UInt64(rtp.packetsReceived)
    packetsLost = Int64(rtp.packetsLost)
    packetsDiscarded = UInt64(rtp.packetsDiscarded)
    bytesReceived = UInt64(rtp.bytesReceived)
    jitter = rtp.jitter
    retransmittedPacketsReceived = UInt64(rtp.retransmissionsReceived)
    retransmittedBytesReceived = UInt64(rtp.retransmittedBytes)
    nackCount = UInt(rtp.nackRequests)
  }
}
