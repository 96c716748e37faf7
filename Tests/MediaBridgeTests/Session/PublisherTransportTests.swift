import LiveKitProtocol
import MediaCore
import Testing

@testable import MediaBridge

/// Messages that wait for a connection which does not come about.
@Suite struct PublisherTransportTests {
  private func error(
    of transport: PublisherTransport, _ kind: Livekit_DataPacket.Kind, within limit: Duration
  ) async -> LiveKitError? {
    var packet = Livekit_DataPacket(.user(Livekit_UserPacket()), to: [])
    packet.kind = kind
    do throws(LiveKitError) {
      try await transport.send(packet, limit: .now + limit)
      return nil
    } catch {
      return error
    }
  }

  @Test(arguments: [Livekit_DataPacket.Kind.reliable, .lossy])
  func theyWaitNoLongerThanTheyMay(_ kind: Livekit_DataPacket.Kind) async {
    let transport = PublisherTransport(MediaWays(), loggers: Loggers())
    async let patient = error(of: transport, kind, within: .seconds(600))
    #expect(await error(of: transport, kind, within: .milliseconds(1))?.code == .timedOut)
    await transport.close()
    #expect(await patient?.code == .disconnected)
  }

  @Test func theyEndWithTheirTask() async {
    let transport = PublisherTransport(MediaWays(), loggers: Loggers())
    let sending = Task { await error(of: transport, .reliable, within: .seconds(600)) }
    sending.cancel()
    #expect(await sending.value?.code == .cancelled)
    await transport.close()
  }
}
