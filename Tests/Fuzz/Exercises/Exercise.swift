/// One input through everything that reads inputs of its kind. Errors are what inputs may cause; a trap, a broken
/// promise (`precondition`) or a sanitizer's report is a finding. The same input always does the same.
public enum Exercise: String, CaseIterable, Sendable {
  /// Access units through what makes repeat frames and black ones of them.
  case bitstream
  /// RTP packets through receiver, feedback, rewriter and sender.
  case rtp
  case rtcp
  /// Descriptions, and answers to them.
  case sdp
  /// Answers to what a publisher offers.
  case answers
  /// Messages of participants: the streams that they open, continue and end.
  case data
  /// Messages of the server through the state of the signalling connection.
  case signal
  /// Pipeline templates and values for them.
  case templates

  /// - Returns: how far it came: what it handed on, 0 for an input that was refused at once. Tests use it to see that
  ///   their inputs are not all refused.
  @discardableResult
  public func run(_ input: [UInt8]) -> Int {
    switch self {
    case .bitstream: bitstream(Steps(input))
    case .rtp: rtp(Steps(input))
    case .rtcp: rtcp(Steps(input))
    case .sdp: sdp(String(decoding: input, as: UTF8.self))
    case .answers: answers(String(decoding: input, as: UTF8.self))
    case .data: data(Steps(input))
    case .signal: signal(Steps(input))
    case .templates: templates(input)
    }
  }
}
