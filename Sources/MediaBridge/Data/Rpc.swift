import LiveKitProtocol

extension Room {
  /// Has calls of a method answered, in this session and those to come. Each is answered in a task of its own, which is
  /// cancelled where its caller waits no longer or has left, and at the end of the session.
  /// - Throws: ``LiveKitError`` where the method has a handler already.
  public func registerRpcMethod(_ method: String, handler: @escaping RpcHandler) async throws {
    guard messages.rpc.register(method, handler) else {
      throw LiveKitError(.invalidState, "the method \(method) has a handler already; unregister it first")
    }
  }

  /// Calls of the method are not supported from now on; those that are being answered go on.
  public func unregisterRpcMethod(_ method: String) async { messages.rpc.unregister(method) }

  /// Whether the method has a handler.
  public func isRpcMethodRegistered(_ method: String) async -> Bool { messages.rpc.isRegistered(method) }
}

extension LocalParticipant {
  /// Calls a method of another participant, and returns the answer. While the connection is being brought back it waits
  /// for that, no longer than `maxRoundTripLatency`. An answer of more than 16 MB is an error, and so is one with which
  /// more than 32 MB of its sender's calls and answers would be held at a time.
  /// - Parameters:
  ///   - payload: of any length, as the answer, where the recipient's client has version 2 of RPC, as this one has, and
  ///     the server says so; at most 15 kB else.
  ///   - responseTimeout: in seconds: how long the answer may take.
  ///   - maxRoundTripLatency: in seconds: how long it may take until the recipient has confirmed the call.
  /// - Throws: ``RpcError``; ``LiveKitError`` where there is no connection or no permission to send.
  public func performRpc(
    destinationIdentity: String, method: String, payload: String, responseTimeout: Double = 15,
    maxRoundTripLatency: Double = 7
  ) async throws -> String {
    var request = Livekit_RpcRequest()
    (request.method, request.payload) = (method, payload)
    return try await messages.rpc.call(
      request, of: destinationIdentity, confirmedWithin: .limit(maxRoundTripLatency),
      within: .limit(responseTimeout), by: self)
  }
}

extension Duration {
  /// Whatever a program says: a day is the most.
  fileprivate static func limit(_ seconds: Double) -> Duration {
    .seconds(seconds.isFinite ? max(0, min(seconds, 86_400)) : 86_400)
  }
}
