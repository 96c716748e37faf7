import MediaBridge

/// The rooms of a process: jobs that are in the same one share its session, and the last that leaves ends it. A session
/// keeps the rights that it has: whoever comes later and has messages to send has another one beside it.
actor RunRooms {
  private struct Shared {
    let definition: RunRoom
    let room: Room
    var users = 1
    var joining: Task<Void, any Error>?
    /// Whether it could not be joined.
    var hasFailed = false

    var isUsable: Bool { !hasFailed && room.disconnectError == nil }
  }
  private var all: [Shared] = []
  private var hasGivenUp = false

  /// The room of that definition, which may not be joined yet; `leave` gives it back. One that was lost is made anew.
  /// - Parameter sendsMessages: whether who enters it has some to send.
  func enter(_ definition: RunRoom, sendsMessages: Bool) -> Room {
    let needsRight = sendsMessages && definition.sendsMessages
    let index = all.firstIndex { shared in
      shared.definition.serves(definition) && (shared.definition.sendsMessages || !needsRight) && shared.isUsable
    }
    if let index {
      all[index].users += 1
      return all[index].room
    }
    let room = Room(roomOptions: definition.options)
    all.append(Shared(definition: definition, room: room))
    return room
  }

  /// Returns when the room is joined, by whoever came first.
  func join(_ room: Room) async throws {
    guard !hasGivenUp else { throw LiveKitError.stoppedEarly }
    guard let index = all.firstIndex(where: { $0.room === room }) else { return }
    let (access, sendsMessages) = (all[index].definition.access, all[index].definition.sendsMessages)
    let joining =
      all[index].joining
      ?? Task {
        try await room.connectToReceive(
          url: access.serverURL(), token: try access.accessToken(sendsMessages: sendsMessages),
          connectOptions: access.connectOptions)
      }
    all[index].joining = joining
    do { try await joining.value } catch {
      if let index = all.firstIndex(where: { $0.room === room }) { all[index].hasFailed = true }
      throw error
    }
  }

  /// Returns when the last of its jobs has left it, for that one.
  func leave(_ room: Room) async {
    guard let index = all.firstIndex(where: { $0.room === room }) else { return }
    all[index].users -= 1
    guard all[index].users == 0 else { return }
    all.remove(at: index)
    await room.disconnect()
  }

  /// Joins none any more.
  func giveUp() {
    hasGivenUp = true
    for shared in all { shared.joining?.cancel() }
  }
}

extension RunRoom {
  /// Whether who is in it may stay where the file has the other one.
  func serves(_ other: RunRoom) -> Bool { isSame(as: other) && !givesWay(to: other) }

  /// Whether the same room is joined anew, for the right to send messages alone.
  func isJoinedAnew(as other: RunRoom) -> Bool { isSame(as: other) && givesWay(to: other) }

  func isSame(as other: RunRoom) -> Bool { name == other.name && given == other.given }

  /// The session that has the right would have the server send out the one of the same identity.
  private func givesWay(to other: RunRoom) -> Bool {
    other.sendsMessages && !sendsMessages && access.identity != nil
  }
}
