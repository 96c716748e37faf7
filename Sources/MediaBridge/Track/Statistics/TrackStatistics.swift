/// What is measured of a track, as of one moment.
public struct TrackStatistics: Hashable, Sendable {
  /// One entry for each stream that arrives: one for a track of another participant.
  public let inboundRtp: [InboundRtpStreamStatistics]?
  /// One entry for each stream that is sent: none for a track of another participant.
  public let outboundRtp: [OutboundRtpStreamStatistics]?

  init(inboundRtp: [InboundRtpStreamStatistics] = [], outboundRtp: [OutboundRtpStreamStatistics] = []) {
    self.inboundRtp = inboundRtp
    self.outboundRtp = outboundRtp
  }
}
