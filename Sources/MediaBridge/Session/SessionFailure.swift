import LiveKitProtocol
import SignalTransport

/// Why a session cannot be made or go on, and what may help; nil when nothing will.
struct SessionFailure: Error {
  let error: LiveKitError
  let remedy: ReconnectMode?

  init(_ error: LiveKitError, remedy: ReconnectMode?) { (self.error, self.remedy) = (error, remedy) }

  init(_ error: SignalError) { self.init(LiveKitError(error), remedy: error.remedy) }

  init(_ leave: Livekit_LeaveRequest) { self.init(LiveKitError(leave.reason), remedy: leave.remedy) }
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
}
