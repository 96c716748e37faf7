import LiveKitProtocol
import SignalTransport

/// Why a session cannot be made or go on, and what may help; nil when nothing will.
struct SessionFailure: Error {
  let error: LiveKitError
  let remedy: ReconnectMode?
  /// What may help where the session has stood before.
  let laterRemedy: ReconnectMode?
  /// What of the session it was, for a server that goes on with it.
  let reason: ReconnectReason

  init(
    _ error: LiveKitError, remedy: ReconnectMode?, later: ReconnectMode? = nil, reason: ReconnectReason = .unknown
  ) {
    (self.error, self.remedy, laterRemedy, self.reason) = (error, remedy, remedy ?? later, reason)
  }

  init(_ error: SignalError) {
    self.init(LiveKitError(error), remedy: error.remedy, later: error.laterRemedy, reason: .signalDisconnected)
  }

  init(_ leave: Livekit_LeaveRequest) {
    self.init(LiveKitError(leave.reason), remedy: leave.remedy, later: leave.laterRemedy)
  }
}

extension SignalError {
  /// What may help when a connection ends so; nil when nothing will.
  fileprivate var remedy: ReconnectMode? {
    switch self {
    case .invalidURL, .invalidPort, .malformedToken, .tls, .refused(401, _), .refused(403, _): nil
    // A session that is unknown to the server is joined anew.
    case .badMessage: .full
    // While a server starts, what stands before it may answer in its place.
    case .unresolvedHost, .connectionRefused, .timedOut, .refused, .notLiveKit, .closed, .lost: .quick
    }
  }

  /// A certificate was good at the join: one that is not is that of what stands before a server that starts.
  fileprivate var laterRemedy: ReconnectMode? { if case .tls = self { .quick } else { nil } }
}

extension Livekit_LeaveRequest {
  /// What the server asks for; servers before LiveKit 1.6 say only that one may come back. One that shuts down is
  /// expected to start again.
  fileprivate var remedy: ReconnectMode? {
    switch (action, reason) {
    case (.resume, _), (.disconnect, .migration): .quick
    case (.reconnect, _), (.disconnect, .serverShutdown): .full
    default: canReconnect ? .full : nil
    }
  }

  /// Nobody has decided against the participant: its media was away for too long, or the server was not ready for the
  /// join, as it may be while it starts.
  fileprivate var laterRemedy: ReconnectMode? {
    switch reason {
    case .connectionTimeout, .joinFailure: .full
    default: nil
    }
  }
}
