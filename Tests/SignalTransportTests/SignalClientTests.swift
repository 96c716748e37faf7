import BridgeTesting
import Foundation
import MediaCore
import Testing

@testable import SignalTransport

@Suite struct SignalClientTests {
  /// The system tries again after 1, 3, 7 and 15 s: a network that is back in between would not be noticed.
  @Test func aLaterConnectionIsNotWaitedForAsLongAsTheFirst() async throws {
    try await ScriptedServer.with(.webSocket { $0.join() }) { server async throws in
      let query = SignalQuery(autoSubscribe: true)
      let client = SignalClient(
        url: try SignalURL("ws://127.0.0.1:\(server.port)"), token: "a.b.c", timeout: .seconds(60))
      try await client.open(query)
      await client.close()
      await server.stop()
      let deaf = try await eventually("the port") { try? DeafPort(server.port) }
      let begun = MediaTime.now
      let error = await #expect(throws: SignalError.self) { try await client.open(query) }
      #expect(error == .timedOut("127.0.0.1:\(server.port)"))
      #expect(MediaTime.now - begun < .seconds(30))
      withExtendedLifetime(deaf) {}
    }
  }
}

/// A port that answers nobody: as many wait there to be taken as it lets wait.
private final class DeafPort: Sendable {
  private let descriptors: [Int32]

  init(_ port: Int) throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let waiting = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    descriptors = [listener, waiting]
    var (address, isReused) = (sockaddr_in(), Int32(1))
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = in_port_t(port).bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &isReused, socklen_t(MemoryLayout<Int32>.size))
    let isFull = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, size) == 0 && listen(listener, 0) == 0 && connect(waiting, address, size) == 0
      }
    }
    guard isFull else { throw TimedOut(description: "no socket") }
  }

  deinit { for descriptor in descriptors { close(descriptor) } }
}
