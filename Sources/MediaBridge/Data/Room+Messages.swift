import LiveKitProtocol
import Logging

// What comes on the data channels. Called in the order in which it came; nothing here waits.
extension Room {
  func receive(_ packet: Livekit_DataPacket, from sender: String, _ logger: Logger) {
    let origin = packet.origin(sender)
    switch packet.value {
    case .user(let user): tell(.dataReceived(remoteParticipants[sender], user.payload, topic: user.topic))
    case .streamHeader(let header): open(header, from: sender, origin: origin, logger)
    case .streamChunk(let chunk): take(chunk, from: origin)
    case .streamTrailer(let trailer): end(trailer, from: origin)
    case .transcription(let transcription): receive(transcription, from: sender)
    case .chatMessage(let message): receive(message, from: sender)
    case .rpcRequest(let request): messages.rpc.answer(request, from: sender, by: localParticipant, logger)
    case .rpcAck(let ack): messages.rpc.confirmed(ack, by: sender)
    case .rpcResponse(let response): messages.rpc.answered(response, by: sender)
    default: break
    }
  }

  // MARK: Streams

  /// A sender that sees only those who understand it puts a short content into the beginning, or compresses a long one.
  /// Whoever is hidden is not seen, and gets the same.
  private func open(_ header: Livekit_DataStream.Header, from sender: String, origin: String, _ logger: Logger) {
    guard header.compression == .none else {
      return logger.warning(
        "a stream is compressed, which cannot be read here",
        metadata: ["topic": "\(header.topic)", "from": "\(sender)"])
    }
    messages.texts.withLock { $0.received.open(header, from: sender, origin: origin) }
    messages.streams.open(header, from: sender, origin: origin, logger)
    guard header.hasInlineContent else { return }
    var (chunk, trailer) = (Livekit_DataStream.Chunk(), Livekit_DataStream.Trailer())
    (chunk.streamID, chunk.content, trailer.streamID) = (header.streamID, header.inlineContent, header.streamID)
    take(chunk, from: origin)
    end(trailer, from: origin)
  }

  private func take(_ chunk: Livekit_DataStream.Chunk, from origin: String) {
    messages.streams.take(chunk, from: origin)
    receive(messages.texts.withLock { $0.received.take(chunk, from: origin) })
  }

  private func end(_ trailer: Livekit_DataStream.Trailer, from origin: String) {
    messages.streams.end(trailer, from: origin)
    receive(messages.texts.withLock { $0.received.end(trailer, from: origin) })
  }

  /// Who sent a packet; servers before LiveKit 1.5 say it by the participant's SID. Empty for the server.
  func identity(of packet: Livekit_DataPacket) -> String {
    if !packet.participantIdentity.isEmpty { return packet.participantIdentity }
    if !packet.user.participantIdentity.isEmpty { return packet.user.participantIdentity }
    let sid = packet.participantSid.isEmpty ? packet.user.participantSid : packet.participantSid
    guard !sid.isEmpty else { return "" }
    return remoteParticipants.first { $0.value.sid == sid }?.key ?? ""
  }
}

extension Livekit_DataPacket {
  /// Who really sends it: the SID of the stay. An agent may begin a text in the name of somebody else, and goes on in
  /// its own. Older servers name the identity alone.
  func origin(_ sender: String) -> String { participantSid.isEmpty ? sender : participantSid }
}
