/// Why a signalling connection cannot go on, as the protocol sees it.
public enum SignalFailure: Error, Sendable, Equatable {
  /// What came is no message of this protocol.
  case unreadable(String)
  /// A message that has no place here, by the name of its field.
  case unexpected(String)
  /// The server took the connection and never answered the join.
  case noJoin
  /// No pong for so long.
  case noPong(Duration)
  /// The server told this side to leave.
  case left(reason: Livekit_DisconnectReason, action: Livekit_LeaveRequest.Action)
  /// The server ended the connection, with its words.
  case closed(String)
  /// The connection ended without a word.
  case broken(String)
}
