import LiveKitProtocol
import Logging

// What comes on the data channels. Called in the order in which it came; nothing here waits.
extension Room {
  func receive(_ packet: Livekit_DataPacket, from sender: String, _ logger: Logger) {
    let origin = packet.origin(sender)
    switch packet.value {
    case .user(let user): tell(.dataReceived(remoteParticipants[sender], user.payload, topic: user.topic))
    case .streamHeader(let header): open(header, from: sender, origin: origin, logger)
    case .streamChunk(let chunk): take(chunk, from: origin, logger)
    case .streamTrailer(let trailer): end(trailer, from: origin, logger)
    case .transcription(let transcription):
      if !receive(transcription, from: sender, origin: origin) {
        warnOnce("a transcription has more segments than are told of one", of: sender, origin: origin, logger)
      }
    case .chatMessage(let message): receive(message, from: sender)
    case .rpcRequest(let request): answer(request, nil, from: sender, origin: origin, logger)
    case .rpcAck(let ack): messages.rpc.confirmed(ack, by: sender)
    case .rpcResponse(let response): messages.rpc.answered(response, by: sender)
    case .encryptedPacket:
      warnOnce("messages are encrypted, which cannot be read here", of: sender, origin: origin, logger)
    case nil: break
    }
  }

  private func answer(
    _ request: Livekit_RpcRequest, _ stream: TextStreamReader?, from sender: String, origin: String, _ logger: Logger
  ) {
    let verdict = messages.rpc.answer(request, payload: stream, from: sender, by: localParticipant, logger)
    guard verdict != .answered else { return }
    warnOnce("more calls are made than are answered at a time", of: sender, origin: origin, logger)
  }

  private func warnOnce(_ reason: String, of sender: String, origin: String, _ logger: Logger) {
    guard messages.isNews(reason, of: origin) else { return }
    logger.warning("messages are left out", metadata: ["from": "\(sender)", "reason": "\(reason)"])
  }

  // MARK: Streams

  /// A sender that sees only those who understand it puts a short content into the beginning, and compresses what
  /// becomes shorter by that. Whoever is hidden is not seen, and gets the same.
  private func open(_ header: Livekit_DataStream.Header, from sender: String, origin: String, _ logger: Logger) {
    if case .UNRECOGNIZED = header.compression {
      return logger.warning(
        "a stream is compressed in a way that is not known here",
        metadata: ["topic": "\(header.topic)", "from": "\(sender)"])
    }
    messages.closeUntold(of: origin)
    messages.texts.withLock { $0.received.open(header, from: sender, origin: origin) }
    messages.streams.open(header, from: sender, origin: origin, logger, to: callReader(header, origin, logger))
    if header.compression == .deflateRaw, messages.isTold(header.streamID, from: origin) {
      messages.compressed.withLock { $0.open(header.streamID, from: origin) }
    }
    guard header.hasInlineContent else { return warnOfLosses(logger) }
    var (chunk, trailer) = (Livekit_DataStream.Chunk(), Livekit_DataStream.Trailer())
    (chunk.streamID, chunk.content, trailer.streamID) = (header.streamID, header.inlineContent, header.streamID)
    take(chunk, from: origin, logger)
    end(trailer, from: origin, logger)
  }

  /// What reads a call of a method, or an answer; nil for other streams.
  private func callReader(
    _ header: Livekit_DataStream.Header, _ origin: String, _ logger: Logger
  ) -> TextStreamHandler? {
    guard let topic = RpcStream.Topic(rawValue: header.topic) else { return nil }
    return { stream, sender in
      switch topic {
      case .request: self.answer(.init(stream.info), stream, from: sender, origin: origin, logger)
      case .response: self.messages.rpc.answered(by: stream, from: sender)
      }
    }
  }

  private func take(_ chunk: Livekit_DataStream.Chunk, from origin: String, _ logger: Logger) {
    messages.streams.take(chunk, from: origin)
    if messages.compressed.withLock({ $0.add(chunk, from: origin) }) {
      inflate(chunk.streamID, from: origin)
    } else {
      tell(chunk, from: origin)
    }
    warnOfLosses(logger)
  }

  private func tell(_ chunk: Livekit_DataStream.Chunk, from origin: String) {
    receive(messages.texts.withLock { $0.received.take(chunk, from: origin) })
  }

  /// Tells what has come of a text, as far as that is told.
  private func inflate(_ id: String, from origin: String) {
    while messages.isTold(id, from: origin) {
      switch messages.compressed.withLock({ $0.next(of: id, from: origin) }) {
      case .chunk(let chunk): tell(chunk, from: origin)
      case .fault(let fault): fail(id, from: origin, fault)
      case .nothing: return
      }
    }
    messages.compressed.withLock { $0.close(id, from: origin) }
  }

  private func fail(_ id: String, from origin: String, _ fault: StreamFault) {
    messages.texts.withLock { $0.received.fail(id, from: origin, fault) }
  }

  private func end(_ trailer: Livekit_DataStream.Trailer, from origin: String, _ logger: Logger) {
    if let fault = messages.compressed.withLock({ $0.end(trailer, from: origin) }) {
      fail(trailer.streamID, from: origin, fault)
    }
    messages.streams.end(trailer, from: origin)
    receive(messages.texts.withLock { $0.received.end(trailer, from: origin) })
    warnOfLosses(logger)
  }

  private func warnOfLosses(_ logger: Logger) {
    for loss in messages.texts.withLock({ $0.received.takeLosses() }) {
      warnOnce("a text is not told, or not all of it: \(loss.reason)", of: loss.sender, origin: loss.origin, logger)
    }
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
