import LiveKitProtocol

/// A call of a method by somebody else.
struct IncomingCall: Sendable {
  let request: Livekit_RpcRequest
  /// The payload; nil where the request has it.
  let stream: TextStreamReader?
  let caller: String
  /// Counts the payload of a stream as long as the call lives.
  let held: UnreadBytes

  var isInKnownVersion: Bool { request.version == (stream == nil ? RpcVersion.packets : RpcVersion.streams) }

  func payload() async throws(RpcError) -> String {
    guard let stream else { return request.payload }
    return try await stream.payload(countedIn: held, else: .requestPayloadTooLarge)
  }

  var ack: Livekit_RpcAck {
    var ack = Livekit_RpcAck()
    ack.requestID = request.id
    return ack
  }

  /// An answer in a packet, as an error always is.
  func response(_ result: Result<String, RpcError>) -> Livekit_RpcResponse {
    var response = Livekit_RpcResponse()
    response.requestID = request.id
    switch result {
    case .success(let payload): response.payload = payload
    case .failure(let error): response.error = error.packet
    }
    return response
  }
}
