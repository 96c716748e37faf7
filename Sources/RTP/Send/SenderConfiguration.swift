public import MediaCore

extension RTPSender {
  /// What is negotiated of a stream, and how it is repaired.
  public struct Configuration: Sendable {
    /// Of the stream.
    public var ssrc: SSRC
    /// Ticks of the RTP timestamp per second.
    public var clockRate: UInt32
    /// How to send again; nil repeats the packet as it was.
    public var retransmission: Retransmission?
    /// When that is done.
    public var repeats: Repeats
    /// Goes out with each report when it is not empty (RFC 3550, 6.5.1).
    public var cname: String
    /// Packets kept for retransmission at the most.
    public var historyLength: Int
    /// No packet is sent again that is older.
    public var historyAge: Duration
    /// Between two sender reports.
    public var reportInterval: Duration

    /// - Parameter historyLength: rounded up to a power of two, at most 16,384.
    public init(
      ssrc: SSRC, clockRate: UInt32, retransmission: Retransmission? = nil, repeats: Repeats = .prompt,
      cname: String = "",
      historyLength: Int = 512, historyAge: Duration = .seconds(2), reportInterval: Duration = .seconds(1)
    ) {
      self.ssrc = ssrc
      self.clockRate = max(clockRate, 1)
      self.retransmission = retransmission
      self.repeats = repeats
      self.cname = cname
      self.historyLength = historyLength
      self.historyAge = historyAge
      self.reportInterval = reportInterval
    }
  }

  /// When a packet that is asked for goes out again.
  public enum Repeats: Sendable {
    /// At once, however often.
    case prompt
    /// As LiveKit's server does (1.13, its `sequencer`): three times at most, and no sooner than two round trips, at most
    /// 100 ms, after it went out; as if a round trip took 70 ms until a report tells it.
    case sparing

    func rule(roundTripTime: Duration?) -> RepeatRule {
      switch self {
      case .prompt:
        // Receivers repeat a request about once per round trip: answering the same one twice would double the load.
        let pause = min(max((roundTripTime ?? .milliseconds(20)) / 2, .milliseconds(5)), .milliseconds(100))
        return RepeatRule(firstPause: .zero, pause: pause, limit: .max)
      case .sparing:
        let pause = min((roundTripTime ?? .milliseconds(70)) * 2, .milliseconds(100))
        return RepeatRule(firstPause: pause, pause: pause, limit: 3)
      }
    }
  }

  struct RepeatRule {
    /// After the packet was sent.
    var firstPause: Duration
    /// After it was sent again.
    var pause: Duration
    /// How often it is sent again.
    var limit: Int
  }

  /// The stream of retransmissions (RFC 4588, session multiplexing by SSRC).
  public struct Retransmission: Sendable {
    /// Of the stream of retransmissions.
    public var ssrc: SSRC
    /// For each payload type of the media the one of its retransmissions.
    public var payloadTypes: [PayloadType: PayloadType]
    /// Of the first retransmission.
    public var firstSequenceNumber: SequenceNumber

    /// - Parameter payloadTypes: a packet of a type that is not in it is sent again as it was.
    public init(
      ssrc: SSRC, payloadTypes: [PayloadType: PayloadType], firstSequenceNumber: SequenceNumber = SequenceNumber(1)
    ) {
      self.ssrc = ssrc
      self.payloadTypes = payloadTypes
      self.firstSequenceNumber = firstSequenceNumber
    }
  }
}
