import LiveKitProtocol
import MediaCore

// Messages, in the order in which each sender's came.
extension RoomSession {
  /// What is no message is passed over.
  func receive(_ message: [UInt8]) {
    guard let packet = try? Livekit_DataPacket(serializedBytes: message) else { return }
    let sender = room.identity(of: packet)
    let origin = packet.origin(sender)
    switch early.take(packet, from: origin, isAnnounced: isAnnounced(sender, origin), at: .now) {
    case .ready: room.receive(packet, from: sender, logger)
    case .waits(isFirst: false): break
    case .waits(isFirst: true):
      Task {
        try? await Task.sleep(for: EarlyMessages.patience)
        releaseMessages(of: origin, isAnnounced: false)
      }
    case .full: releaseMessages(of: origin, isAnnounced: false)
    }
  }

  /// - Returns: what takes messages in this session alone, once it stands.
  func carrier(until limit: MediaTime) async throws(LiveKitError) -> MessageCarrier {
    handle(.publisherNeeded(forTrack: false))
    try await untilStanding(limit)
    return MessageCarrier(transport: publisher(), timeout: state.options.connect.timeout)
  }

  /// Returns once the server has acknowledged the messages that were sent, also where its task is cancelled.
  /// - Returns: false where it has not within 2 s, or nothing comes to it now.
  func flush() async -> Bool {
    await Task { await link.publisher?.flush() ?? true }.value
  }

  /// - Throws: that what it gave to a caller takes nothing more.
  func check(_ carrier: MessageCarrier) throws(LiveKitError) {
    guard !state.isEnded, link.publisher === carrier.transport else { throw Self.notConnected }
  }

  /// The server itself, and who is hidden, have no identity here and are never announced.
  private func isAnnounced(_ sender: String, _ origin: String) -> Bool {
    let others = room.remoteParticipants
    return sender.isEmpty || others[sender] != nil || sender == room.localParticipant.identity
      || others.values.contains { $0.sid == origin }
  }

  /// - Parameter sender: the identity of who was announced, or an origin.
  func releaseMessages(of sender: String, isAnnounced: Bool) {
    // What waits is known by the stay, where the server names it.
    let origins = [sender, room.remoteParticipants[sender]?.sid].compactMap { $0 }
    // Those of the stay before end with it.
    if isAnnounced { for origin in origins where early.mayGoOn(origin) { room.messages.cutStreams(from: origin) } }
    for packet in origins.flatMap({ early.release($0, isAnnounced: isAnnounced) }) {
      room.receive(packet, from: room.identity(of: packet), logger)
    }
  }

  /// What they have sent before they left may come behind that, as it goes another way; nobody answers them any more.
  func cutMessages(of participant: RemoteParticipant, _ identity: String) {
    let now = MediaTime.now
    for origin in [identity, participant.sid] { early.noteLeft(origin, at: now) }
    room.messages.rpc.cut(from: identity)
    Task {
      try? await Task.sleep(for: EarlyMessages.lateness)
      for origin in early.takeGone(at: now + EarlyMessages.lateness) { room.messages.cutStreams(from: origin) }
    }
  }

  /// No more of them comes in this session.
  func cutMessages() {
    for origin in early.origins { releaseMessages(of: origin, isAnnounced: false) }
    early = EarlyMessages()
    room.messages.cut()
  }
}
