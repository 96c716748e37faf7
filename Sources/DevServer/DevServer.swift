public import LiveKitProtocol
import Logging
import MediaCore
import NIOCore
import NIOPosix
import PeerTransport

/// A LiveKit-compatible room server within this process, for development, tests and the demo. It forwards media
/// between the participants of its rooms; it has no scale, no persistence and no admin API.
public final class DevServer: Sendable {
  private let configuration: DevServerConfiguration
  private let loop = TransportLoop(name: "dev-server")
  private let rooms: LoopBound<RoomRegistry>
  private let listeners = Locked<[any Channel]>([])
  private let isStopped = Locked(false)

  /// Nothing is bound before `start()`.
  public init(configuration: DevServerConfiguration = DevServerConfiguration()) {
    self.configuration = configuration
    rooms = LoopBound(RoomRegistry(loop: loop, configuration: configuration), on: loop)
  }

  /// Binds and serves.
  /// - Returns: the port, also when the configuration left it open.
  /// - Throws: what the system says when the address cannot be bound.
  public func start() async throws -> Int {
    let addresses = try MediaAddresses.listened(at: configuration.host).map {
      try SocketAddress.makeAddressResolvingHost($0, port: configuration.port)
    }
    let media = addresses.flatMap { MediaAddresses.of($0.ipAddress ?? configuration.host) }
    // Before anybody can join.
    loop.post { [rooms] in rooms.value.configuration.mediaAddresses = media }
    let http = HTTPFrontend(configuration: configuration, loop: loop, rooms: rooms)
    return try await SharedPort.bind(
      addresses.count, to: configuration.port,
      open: { index, port in
        var address = addresses[index]
        address.port = port
        let channel = try await http.bind(to: address)
        listeners.withLock { $0.append(channel) }
        return channel.localAddress?.port ?? port
      }, closeAll: { await closeListeners() })
  }

  private func closeListeners() async {
    let channels = listeners.withLock { channels in
      defer { channels = [] }
      return channels
    }
    for channel in channels { try? await channel.close() }
  }

  /// Sends a client what a LiveKit server tells of its own accord, such as the quality of a connection: for tests of what
  /// a client makes of it.
  public func tell(_ response: Livekit_SignalResponse, to identity: String) {
    loop.post { [rooms] in rooms.value.tell(response, to: identity) }
  }

  /// Sends a participant away, as whoever runs a room may.
  public func removeParticipant(_ identity: String) {
    loop.post { [rooms] in rooms.value.remove(identity: identity) }
  }

  /// Ends a room: everyone in it is sent away.
  public func deleteRoom(_ name: String) { loop.post { [rooms] in rooms.value.delete(room: name) } }

  /// Moves a participant to another room, which need not be there yet, as LiveKit Cloud does (`MoveParticipant`): its
  /// connections and what it publishes stay.
  public func moveParticipant(_ identity: String, to room: String) async throws {
    guard var token = await loop.call({ [rooms] in rooms.value.token(of: identity) }) else { return }
    token.video.room = room
    let text = try token.signed(secret: configuration.apiSecret)
    loop.post { [rooms] in rooms.value.move(identity, to: room, token: text) }
  }

  /// Cuts the signalling connection of a client: for tests of what it makes of it.
  public func cutSignal(of identity: String) { loop.post { [rooms] in rooms.value.cutSignal(of: identity) } }

  /// Sends every participant away, closes all transports and sockets, and ends the server's thread. A second call does
  /// nothing.
  public func stop() async {
    let wasStopped = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return isStopped
    }
    guard !wasStopped else { return }
    await closeListeners()
    let participants = await loop.call { [rooms] in rooms.value.shutDown() }
    for participant in participants { await participant.close() }
    for closing in await loop.call({ [rooms] in rooms.value.closesUnderWay() }) { await closing.value }
    await loop.stop()
  }
}
