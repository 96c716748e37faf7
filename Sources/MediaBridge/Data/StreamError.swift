import LiveKitProtocol

/// Why a stream of text or bytes is not whole, or cannot be sent or received.
public enum StreamError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The sender has given it up, and says why.
  case abnormalEnd(reason: String)
  /// The text is not UTF-8, or what is compressed is damaged.
  case decodeFailed
  /// There is more than was announced.
  case lengthExceeded
  /// A piece is missing, or there is less than was announced.
  case incomplete
  /// The sender has left, or the connection has ended.
  case terminated
  /// More has come than may wait to be read, in bytes.
  case unreadLimitExceeded(Int)
  /// The writer is closed.
  case unknownStream
  /// There is a handler of that topic already.
  case handlerAlreadyRegistered

  /// For people.
  public var description: String {
    switch self {
    case .abnormalEnd(let reason): "the sender has given the stream up: \(reason)"
    case .decodeFailed: "the stream cannot be decoded: its text is not UTF-8, or it is compressed and damaged"
    case .lengthExceeded: "the stream has more than was announced"
    case .incomplete: "a part of the stream is missing"
    case .terminated: "the stream was cut: its sender has left, or the connection has ended"
    case .unreadLimitExceeded(let limit): "\(limit) bytes wait, of it or of all its sender's; read them as they come"
    case .unknownStream: "the stream is closed; open another one"
    case .handlerAlreadyRegistered: "there is a handler of that topic already; unregister it first"
    }
  }

  init(_ fault: StreamFault) {
    self =
      switch fault {
      case .incomplete: .incomplete
      case .tooLong: .lengthExceeded
      case .damaged: .decodeFailed
      case .stopped(let reason): .abnormalEnd(reason: reason)
      }
  }
}
