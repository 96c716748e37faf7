import LiveKitProtocol

/// How a call of a method travels: in a packet with its payload (version 1), or as a stream of text with attributes, of
/// any length (version 2). The answer comes the same way; confirmations and errors are packets in both.
enum RpcVersion {
  static let packets: UInt32 = 1
  static let streams: UInt32 = 2
}

/// What is fixed of the streams.
enum RpcStream {
  /// Streams of these topics are no matter of a program's handlers.
  enum Topic: String {
    case request = "lk.rpc_request"
    case response = "lk.rpc_response"
  }

  fileprivate enum Attribute {
    static let id = "lk.rpc_request_id"
    static let method = "lk.rpc_request_method"
    static let timeout = "lk.rpc_request_response_timeout_ms"
    static let version = "lk.rpc_request_version"
  }

  /// Who announces at least this reads them (LiveKit's `client_protocol`).
  fileprivate static let leastClientProtocol = 1

  /// What begins the stream of an answer.
  static func responseHeader(to id: String, length: Int) -> Livekit_DataStream.Header {
    let options = StreamTextOptions(topic: Topic.response.rawValue, attributes: [Attribute.id: id])
    return Livekit_DataStream.Header(options, totalLength: length)
  }
}

extension Participant {
  var readsRpcStreams: Bool { info.withLock { $0.clientProtocol >= RpcStream.leastClientProtocol } }
}

extension TextStreamInfo {
  /// Which call a stream belongs to; empty where its sender does not say.
  var rpcID: String { attributes[RpcStream.Attribute.id] ?? "" }
}

extension Livekit_RpcRequest {
  /// A call whose payload is still to come.
  init(_ info: TextStreamInfo) {
    self.init()
    (id, method) = (info.rpcID, info.attributes[RpcStream.Attribute.method] ?? "")
    responseTimeoutMs = info.attributes[RpcStream.Attribute.timeout].flatMap { UInt32($0) } ?? 0
    version = info.attributes[RpcStream.Attribute.version].flatMap { UInt32($0) } ?? 0
  }

  /// As it goes to who reads no streams.
  func packet(to recipient: String) throws(RpcError) -> Livekit_DataPacket {
    guard payload.utf8.count <= RpcExchange.payloadLimit else { throw .builtIn(.requestPayloadTooLarge) }
    var request = self
    request.version = RpcVersion.packets
    return Livekit_DataPacket(.rpcRequest(request), to: [recipient])
  }

  /// What begins the stream of its payload.
  var streamHeader: Livekit_DataStream.Header {
    let options = StreamTextOptions(
      topic: RpcStream.Topic.request.rawValue,
      attributes: [
        RpcStream.Attribute.id: id, RpcStream.Attribute.method: method,
        RpcStream.Attribute.timeout: String(responseTimeoutMs),
        RpcStream.Attribute.version: String(RpcVersion.streams),
      ])
    return Livekit_DataStream.Header(options, totalLength: payload.utf8.count)
  }
}

extension TextStreamReader {
  /// The whole payload of a call or an answer.
  /// - Parameters:
  ///   - held: counts it: what is compressed may be a thousand times as long as what waits unread.
  ///   - tooLong: the error where it is more than may be held.
  func payload(
    countedIn held: UnreadBytes, else tooLong: RpcError.BuiltInError
  ) async throws(RpcError) -> String {
    var text = ""
    do {
      for try await piece in self {
        guard held.add(piece.utf8.count) == nil else { throw RpcError.builtIn(tooLong) }
        text += piece
      }
    } catch let error as RpcError {
      throw error
    } catch StreamError.terminated {
      throw .builtIn(.recipientDisconnected)
    } catch {
      throw .builtIn(.applicationError, data: "the payload cannot be read: \(error)")
    }
    return text
  }
}
