public import MediaCore

/// One payload format of an audio or video section: its rtpmap, fmtp and rtcp-fb lines together (RFC 8866, 6.6 and 6.15).
public struct Codec: Equatable, Sendable {
  /// The number that packets in this format bear.
  public var payloadType: PayloadType
  /// The encoding name as it was written (`opus`, `VP8`, `H264`, `rtx`, `red`); compared without case.
  /// Empty for a dynamic payload type that came without an rtpmap.
  public var name: String
  /// Ticks of the RTP timestamp per second.
  public var clockRate: UInt32
  /// Only for audio with more than one channel or with the count written out.
  public var channels: Int?
  /// The fmtp line after the payload type, as it was written.
  public var fmtp: String?
  /// `nack`, `nack pli`, `ccm fir`, `goog-remb`, `transport-cc`, … as written after the payload type (RFC 4585, 4.2).
  public var feedback: [String]

  /// - Parameter name: the encoding name, as it is to be written.
  public init(
    payloadType: PayloadType, name: String, clockRate: UInt32, channels: Int? = nil, fmtp: String? = nil,
    feedback: [String] = []
  ) {
    self.payloadType = payloadType
    self.name = name
    self.clockRate = clockRate
    self.channels = channels
    self.fmtp = fmtp
    self.feedback = feedback
  }

  /// Compares encoding names, for which case does not matter (RFC 8866, 6.6).
  public func isNamed(_ other: String) -> Bool { name.equalsIgnoringCase(other) }
  /// Whether it repairs another format (RFC 4588).
  public var isRTX: Bool { isNamed("rtx") }
  /// Whether it wraps other formats, with what was sent before (RFC 2198).
  public var isRED: Bool { isNamed("red") }

  /// The fmtp line as ordered names and values; a part without `=` is a name without value.
  public var parameters: [FormatParameter] { FormatParameter.parse(fmtp ?? "") }

  /// The value of the fmtp parameter `name` (compared without case), nil when it is absent or has none.
  public func parameter(_ name: String) -> String? {
    parameters.first { $0.name.equalsIgnoringCase(name) }?.value
  }

  /// The payload type that this RTX format repairs (RFC 4588, 8.6: `apt`).
  public var associatedPayloadType: PayloadType? {
    isRTX ? parameter("apt").flatMap(payloadTypeNumber) : nil
  }

  /// The formats inside a RED packet, the primary one first (RFC 2198, 5: `111/111`).
  public var redundantPayloadTypes: [PayloadType] {
    guard isRED, let fmtp else { return [] }
    return Substring(fmtp).parts(separatedBy: .slash).compactMap { payloadTypeNumber($0.trimmed) }
  }
}

/// `name=value` of an fmtp line, or a part of another shape with `value` nil.
public struct FormatParameter: Hashable, Sendable, CustomStringConvertible {
  /// As it was written; compared without case.
  public var name: String
  /// What stands behind the `=`; nil without one.
  public var value: String?

  /// A parameter to be written as `description` has it.
  public init(name: String, value: String? = nil) {
    self.name = name
    self.value = value
  }

  /// `name=value`, or the name alone.
  public var description: String { value.map { "\(name)=\($0)" } ?? name }

  static func parse(_ text: String) -> [FormatParameter] {
    Substring(text).parts(separatedBy: .semicolon).map(\.trimmed).filter { !$0.isEmpty }.map { part in
      let (name, value) = part.cut(at: .equals)
      return FormatParameter(name: String(name.trimmed), value: value.map { String($0.trimmed) })
    }
  }
}

/// Payload types are 0…127; a larger number is no payload type, rather than one with its top bit dropped.
func payloadTypeNumber(_ text: some StringProtocol) -> PayloadType? {
  guard let number = UInt8(text), number < 128 else { return nil }
  return PayloadType(number)
}
