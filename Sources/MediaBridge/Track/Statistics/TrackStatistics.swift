/// What is measured of a track, as of one moment.
public struct TrackStatistics: Hashable, Sendable {
  /// One entry for each stream that arrives: one for a track of another participant.
  public let inboundRtp: [InboundRtpStreamStatistics]?
  /// One entry for each stream that is sent: none for a track of another participant.
  public let outboundRtp: [OutboundRtpStreamStatistics]?

  /// As `inboundRtp`, under the name of today's SDK; empty without.
  public var inboundRtpStream: [InboundRtpStreamStatistics] { inboundRtp ?? [] }
  /// As `outboundRtp`, under the name of today's SDK; empty without.
  public var outboundRtpStream: [OutboundRtpStreamStatistics] { outboundRtp ?? [] }

  init(inboundRtp: [InboundRtpStreamStatistics] = [], outboundRtp: [OutboundRtpStreamStatistics] = []) {
    self.inboundRtp = inboundRtp
    self.outboundRtp = outboundRtp
  }
}
