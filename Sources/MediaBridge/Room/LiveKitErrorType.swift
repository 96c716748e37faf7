/// The kinds of error that today's SDK tells apart, with its names and numbers. ``LiveKitError/code`` says more.
public enum LiveKitErrorType: Int, Sendable {
  /// None of the others.
  case unknown = 0
  /// See ``LiveKitError/Code/cancelled``.
  case cancelled = 100
  /// See ``LiveKitError/Code/timedOut``.
  case timedOut = 101
  /// See ``LiveKitError/Code/invalidState``.
  case invalidState = 104
  /// See ``LiveKitError/Code/invalidParameter``.
  case invalidParameter = 105
  /// Media could not be connected.
  case webRTC = 201
  /// The server cannot be reached, or its certificate is not trusted.
  case network = 202
  /// The server refused the token or the room.
  case validation = 203
  /// See ``LiveKitError/Code/duplicateIdentity``.
  case duplicateIdentity = 500
  /// See ``LiveKitError/Code/serverShutDown``.
  case serverShutdown = 501
  /// See ``LiveKitError/Code/participantRemoved``.
  case participantRemoved = 502
  /// See ``LiveKitError/Code/roomDeleted`` and ``LiveKitError/Code/roomClosed``.
  case roomDeleted = 503
  /// See ``LiveKitError/Code/permissionDenied``.
  case insufficientPermissions = 506
  /// See ``LiveKitError/Code/unsupportedCodec``.
  case codecNotSupported = 901
  /// See ``LiveKitError/Code/encrypted``.
  case decryptionFailed = 1002
}

extension LiveKitError {
  /// The kind of error, as today's SDK tells it.
  public var type: LiveKitErrorType {
    switch code {
    case .cancelled: .cancelled
    case .timedOut: .timedOut
    case .invalidState: .invalidState
    case .invalidParameter, .template: .invalidParameter
    case .iceFailed: .webRTC
    case .network, .tls, .disconnected: .network
    case .unauthorized, .roomNotFound: .validation
    case .duplicateIdentity: .duplicateIdentity
    case .serverShutDown: .serverShutdown
    case .participantRemoved: .participantRemoved
    case .roomDeleted, .roomClosed: .roomDeleted
    case .permissionDenied: .insufficientPermissions
    case .unsupportedCodec: .codecNotSupported
    case .encrypted: .decryptionFailed
    default: .unknown
    }
  }

  /// What was behind it, under the name of today's SDK.
  public var internalError: (any Error)? { underlying }
}
