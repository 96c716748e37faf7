import BridgeTesting
import MediaCore
import Testing

@testable import SignalTransport

@Suite struct OpenSocketsTests {
  /// As the look-up of a name is where no server for names can be reached.
  @Test func workThatDoesNotEndIsNotWaitedFor() async throws {
    let (sockets, hang) = (OpenSockets(), AsyncStream<Void>.makeStream())
    let attempt = Task { try await sockets.untilClosed { for await _ in hang.stream {} } }
    sockets.close()
    await #expect(throws: (any Error).self) { try await attempt.value }
    hang.continuation.finish()
  }

  @Test func whatIsMadeBeforeIsReturned() async throws {
    let sockets = OpenSockets()
    #expect(try await sockets.untilClosed { 7 } == 7)
    sockets.close()
    await #expect(throws: (any Error).self) { try await sockets.untilClosed { 7 } }
  }
}
