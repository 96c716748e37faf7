import BridgeTesting
import Foundation
import MediaBridge
import Testing

/// What a room is asked for before its server has said what the token allows.
@Suite struct ConnectingTests {
  private func codes(of participant: LocalParticipant) async -> [LiveKitError.Code?] {
    let requests: [@Sendable () async throws -> Void] = [
      { try await participant.publish(data: Data("a".utf8)) },
      { try await participant.set(name: "Alice") },
      { _ = try await participant.setMicrophone(enabled: true) },
      { _ = try await participant.performRpc(destinationIdentity: "bob", method: "m", payload: "") },
    ]
    var codes: [LiveKitError.Code?] = []
    for request in requests {
      do {
        try await request()
        codes.append(nil)
      } catch { codes.append((error as? LiveKitError)?.code) }
    }
    return codes
  }

  @Test func itIsNotTakenForWhatIsNotAllowed() async throws {
    let refused: [LiveKitError.Code?] = Array(repeating: .invalidState, count: 4)
    let (server, room) = (try SilentServer(), Room(connectOptions: ConnectOptions(timeout: .seconds(5))))
    #expect(await codes(of: room.localParticipant) == refused, "not connected")
    let token = try SyntheticRoom.token("alice")
    let connecting = Task { try await room.connect(url: "ws://127.0.0.1:\(server.port)", token: token) }
    try await eventually("the connection") { server.wasAsked }
    #expect(await codes(of: room.localParticipant) == refused, "connecting")
    #expect(server.wasAsked && room.connectionState == .connecting)
    await room.disconnect()
    await #expect(throws: LiveKitError.self) { try await connecting.value }
  }
}

/// Takes connections, and says nothing.
private final class SilentServer: Sendable {
  let port: UInt16
  private let descriptor: Int32

  init() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var (address, size) = (sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    let isThere = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) == 0 && listen(listener, 8) == 0 && getsockname(listener, address, &size) == 0
      }
    }
    (descriptor, port) = (listener, UInt16(bigEndian: address.sin_port))
    guard isThere else { throw TimedOut(description: "no socket") }
  }

  /// Whether somebody has connected.
  var wasAsked: Bool {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, 0) == 1
  }

  deinit { close(descriptor) }
}
