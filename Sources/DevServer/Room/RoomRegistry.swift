import LiveKitProtocol
import MediaCore
import PeerTransport

/// All rooms of the server. Lives on its loop.
final class RoomRegistry {
  private let loop: TransportLoop
  var configuration: DevServerConfiguration
  private var rooms: [String: DevRoom] = [:]
  private var participants: [ObjectIdentifier: DevParticipant] = [:]
  private var closing: [Int: Task<Void, Never>] = [:]
  private var closings = 0
  /// Who comes now would be left when the loop ends.
  private var isOver = false

  init(loop: TransportLoop, configuration: DevServerConfiguration) {
    self.loop = loop
    self.configuration = configuration
  }

  func join(_ request: JoinRequest, _ socket: ClientSocket) {
    guard !isOver else { return socket.close() }
    if let sid = request.resumedSid { return resume(sid, request, socket) }
    let room = rooms[request.room] ?? DevRoom(name: request.room)
    let participant = DevParticipant(
      request: request, socket: socket, room: room, loop: loop, configuration: configuration)
    participants[ObjectIdentifier(socket)] = participant
    if let older = room.participant(identity: participant.identity) { replace(older) }
    rooms[request.room] = room
    room.add(participant)
  }

  /// One who joins under the identity of another takes their place, as a client that begins anew does.
  private func replace(_ older: DevParticipant) { sendAway(older, .duplicateIdentity) }

  func remove(identity: String) {
    for participant in participants.values where participant.identity == identity {
      sendAway(participant, .participantRemoved)
    }
  }

  func token(of identity: String) -> AccessToken? {
    participants.values.first { $0.identity == identity }?.freshToken
  }

  func move(_ identity: String, to name: String, token: String) {
    guard let participant = participants.values.first(where: { $0.identity == identity }),
      participant.isActive, participant.room.name != name
    else { return }
    leaveRoom(participant)
    let room = rooms[name] ?? DevRoom(name: name)
    if let older = room.participant(identity: identity) { replace(older) }
    rooms[name] = room
    participant.move(to: room, token: token)
  }

  private func leaveRoom(_ participant: DevParticipant) {
    participant.room.remove(participant)
    if participant.room.isEmpty { rooms[participant.room.name] = nil }
  }

  func delete(room name: String) {
    for participant in rooms[name]?.participants ?? [] { sendAway(participant, .roomDeleted) }
  }

  private func sendAway(_ participant: DevParticipant, _ reason: Livekit_DisconnectReason) {
    participant.sendLeave(reason)
    remove(participant.socket)
  }

  /// The session of a client goes on over another socket, unless nobody knows it any more.
  private func resume(_ sid: String, _ request: JoinRequest, _ socket: ClientSocket) {
    let participant = rooms[request.room]?.participant(identity: request.token.identity)
    guard let participant, participant.sid == sid, participant.canResume else {
      var response = Livekit_SignalResponse()
      response.leave.reason = .stateMismatch
      response.leave.action = .reconnect
      // For clients below 13, which know no action.
      response.leave.canReconnect = request.protocolVersion < 13
      socket.send(response)
      return socket.close()
    }
    participants[ObjectIdentifier(participant.socket)] = nil
    participants[ObjectIdentifier(socket)] = participant
    participant.resume(over: socket)
  }

  func receive(_ request: Livekit_SignalRequest, from socket: ClientSocket) {
    guard let participant = participants[ObjectIdentifier(socket)] else { return }
    participant.handle(request)
    if participant.hasLeft { remove(socket) }
  }

  func tell(_ response: Livekit_SignalResponse, to identity: String) {
    for participant in participants.values where participant.identity == identity { participant.send(response) }
  }

  /// Without a word: the client may come back.
  func socketClosed(_ socket: ClientSocket) {
    guard participants[ObjectIdentifier(socket)] != nil else { return }
    let registry = LoopBound(self, on: loop)
    // Whoever has come back is known by another socket then.
    loop.after(configuration.resumeWindow) { registry.value.remove(socket) }
  }

  /// Cuts the signalling connection of a participant, as a network does.
  func cutSignal(of identity: String) {
    for participant in participants.values where participant.identity == identity { participant.socket.cut() }
  }

  private func remove(_ socket: ClientSocket) {
    guard let participant = participants.removeValue(forKey: ObjectIdentifier(socket)) else { return }
    // Its transports close later, and what still comes on them is nobody's.
    participant.hasLeft = true
    leaveRoom(participant)
    close(LoopBound(participant, on: loop))
  }

  private func close(_ participant: LoopBound<DevParticipant>) {
    let registry = LoopBound(self, on: loop)
    let number = closings
    closings += 1
    closing[number] = Task { [loop] in
      await participant.closeParticipant()
      loop.post { registry.value.closing[number] = nil }
    }
  }

  /// Those who left and are being closed.
  func closesUnderWay() -> [Task<Void, Never>] { Array(closing.values) }

  /// Tells everyone to leave and hands them over to be closed.
  func shutDown() -> [EndedParticipant] {
    let all = Array(participants.values)
    participants = [:]
    rooms = [:]
    isOver = true
    return all.map { participant in
      participant.sendLeave(.serverShutdown)
      return EndedParticipant(participant: LoopBound(participant, on: loop))
    }
  }
}

/// A participant whose transports are still to be closed.
struct EndedParticipant: Sendable {
  let participant: LoopBound<DevParticipant>
  func close() async { await participant.closeParticipant() }
}

extension LoopBound<DevParticipant> {
  func closeParticipant() async {
    let transports = await loop.call { self.value.end() }
    for transport in transports { await transport.close() }
  }
}
