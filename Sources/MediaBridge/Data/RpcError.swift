import LiveKitProtocol

/// Why a call of a method has failed. One that a method throws reaches its caller as it is.
public struct RpcError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Those of LiveKit's clients are from 1001 to 1999.
  public let code: Int
  /// For people; 256 bytes of it travel.
  public let message: String
  /// Anything; 15 kB of it travel.
  public let data: String

  /// An error of one's own.
  public init(code: Int, message: String, data: String = "") {
    (self.code, self.message, self.data) = (code, message, data)
  }

  /// The message and the code.
  public var description: String { "\(message) (\(code))" + (data.isEmpty ? "" : ": \(data)") }

  /// The errors of LiveKit's clients; the numbers are the protocol's.
  public enum BuiltInError: Int, Sendable {
    /// Nobody there answers to that method.
    case unsupportedMethod = 1400
    /// There is nobody of that identity in the room.
    case recipientNotFound = 1401
    /// The payload has more than 15 kB, where either client has version 1 of RPC, or more than the recipient holds.
    case requestPayloadTooLarge = 1402
    /// The server is too old.
    case unsupportedServer = 1403
    /// The call is in a form that is not known there.
    case unsupportedVersion = 1404
    /// The method has failed.
    case applicationError = 1500
    /// Nobody has confirmed the call in time.
    case connectionTimeout = 1501
    /// The call was confirmed and not answered in time.
    case responseTimeout = 1502
    /// The recipient has left, or the connection has ended.
    case recipientDisconnected = 1503
    /// The answer has more than 15 kB, where the call came by version 1 of RPC, or more than is held here.
    case responsePayloadTooLarge = 1504
    /// The call could not be sent.
    case sendFailed = 1505

    /// The number.
    public var code: Int { rawValue }

    /// For people.
    public var message: String {
      switch self {
      case .unsupportedMethod: "Method not supported at destination"
      case .recipientNotFound: "Recipient not found"
      case .requestPayloadTooLarge: "Request payload too large"
      case .unsupportedServer: "RPC not supported by server"
      case .unsupportedVersion: "Unsupported RPC version"
      case .applicationError: "Application error in method handler"
      case .connectionTimeout: "Connection timeout"
      case .responseTimeout: "Response timeout"
      case .recipientDisconnected: "Recipient disconnected"
      case .responsePayloadTooLarge: "Response payload too large"
      case .sendFailed: "Failed to send"
      }
    }
  }

  static func builtIn(_ error: BuiltInError, data: String = "") -> RpcError {
    RpcError(code: error.code, message: error.message, data: data)
  }

  init(_ error: Livekit_RpcError) {
    self.init(code: Int(error.code), message: error.message, data: error.data)
  }

  /// As it travels.
  var packet: Livekit_RpcError {
    var packet = Livekit_RpcError()
    packet.code = UInt32(clamping: code)
    packet.message = String(decoding: message.utf8.prefix(256), as: UTF8.self)
    packet.data = String(decoding: data.utf8.prefix(RpcExchange.payloadLimit), as: UTF8.self)
    return packet
  }
}

/// A call of a method by somebody else.
public struct RpcInvocationData: Sendable, Hashable {
  /// Its caller's name of the call.
  public let requestId: String
  /// Who calls.
  public let callerIdentity: String
  /// What the caller says.
  public let payload: String
  /// In seconds: how long the answer may take, as the caller says, which waits somewhat longer.
  public let responseTimeout: Double
}

/// Answers a call, in a task of its own. An ``RpcError`` that it throws reaches the caller as it is, other errors as
/// ``RpcError/BuiltInError/applicationError``.
public typealias RpcHandler = @Sendable (RpcInvocationData) async throws -> String
