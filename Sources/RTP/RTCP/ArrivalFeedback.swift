public import MediaCore

/// Tells a sender when its packets came, where a header extension numbers them over all streams (transport-wide
/// congestion control). Pure.
public struct ArrivalFeedback: Sendable {
  /// The extension that has the number; nil where nothing is to be told.
  public var extensionID: UInt8?
  private var recorder: TransportFeedbackRecorder

  /// - Parameter sender: who tells it.
  public init(sender: SSRC) { recorder = TransportFeedbackRecorder(sender: sender) }

  /// Notes a packet, whatever stream it is of.
  public mutating func note(_ packet: RTPPacket, at time: MediaTime) {
    guard let extensionID,
      let number = packet.withHeaderExtension(
        extensionID,
        { bytes -> UInt16? in
          bytes.count >= 2 ? UInt16(bytes[0]) << 8 | UInt16(bytes[1]) : nil
        }) ?? nil
    else { return }
    recorder.record(SequenceNumber(number), media: packet.ssrc, at: time)
  }

  /// When `poll` has something to send; nil if only a packet can change that.
  public var nextDeadline: MediaTime? { recorder.nextDeadline }

  /// What is to be sent now.
  public mutating func poll(at time: MediaTime) -> [RTCPPacket] { recorder.poll(at: time) }
}
