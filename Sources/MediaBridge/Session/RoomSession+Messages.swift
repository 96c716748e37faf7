import LiveKitProtocol

// Messages, in the order in which each sender's came.
extension RoomSession {
  /// What is no message is passed over.
  func receive(_ message: [UInt8]) {
    guard let packet = try? Livekit_DataPacket(serializedBytes: message) else { return }
    let sender = room.identity(of: packet)
    switch early.take(packet, from: sender, isAnnounced: room.remoteParticipants[sender] != nil, at: .now) {
    case .ready: room.receive(packet, from: sender, logger)
    case .late:
      room.receive(packet, from: sender, logger)
      room.messages.cut(from: sender)
    case .waits(isFirst: false): break
    case .waits(isFirst: true):
      Task {
        try? await Task.sleep(for: EarlyMessages.patience)
        releaseMessages(of: sender, isAnnounced: false)
      }
    case .full: releaseMessages(of: sender, isAnnounced: false)
    }
  }

  func releaseMessages(of sender: String, isAnnounced: Bool) {
    for packet in early.release(sender, isAnnounced: isAnnounced) { room.receive(packet, from: sender, logger) }
  }

  /// No more of them comes in this session.
  func cutMessages() {
    for sender in early.senders { releaseMessages(of: sender, isAnnounced: false) }
    early = EarlyMessages()
    room.messages.cut()
  }
}
