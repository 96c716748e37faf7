import MediaCore

/// Who sends a stream: its sources, once they are known.
struct StreamIdentity: Sendable {
  private(set) var ssrc: SSRC?
  var rtxSSRC: SSRC?

  init(ssrc: SSRC?, rtxSSRC: SSRC?) { (self.ssrc, self.rtxSSRC) = (ssrc, rtxSSRC) }

  /// Whether a media packet is of the stream; where nothing is known yet the first one decides.
  mutating func sends(_ source: SSRC) -> Bool {
    if ssrc == nil { ssrc = source }
    return ssrc == source
  }

  /// Whether a retransmission is of the stream; where nothing is known of its source yet the first one decides.
  mutating func retransmits(_ source: SSRC) -> Bool {
    guard let ssrc, source != ssrc, source == rtxSSRC ?? source else { return false }
    rtxSSRC = source
    return true
  }
}
