import BridgeTesting
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

  /// As whoever publishes a track does.
  @Test func whoIsCancelledWaitsForNoConnection() async {
    let transport = PublisherTransport(MediaWays(), loggers: Loggers())
    let waiting = Task { () async -> LiveKitError? in
      do throws(LiveKitError) {
        try await transport.untilReady(orCancelled: RoomSession.givenUp)
        return nil
      } catch {
        return error
      }
    }
    waiting.cancel()
    #expect(await waiting.value?.code == .cancelled)
    await transport.close()
  }

  /// However long that takes, and what is waited for then is the connection as before.
  @Test func theyWaitWhileTheSessionIsBroughtBack() async throws {
    let transport = PublisherTransport(MediaWays(), loggers: Loggers())
    transport.note(isInterrupted: true)
    let errors = Collector<LiveKitError?>()
    let sending = Task { errors.add(await error(of: transport, .reliable, within: .milliseconds(10))) }
    try await Task.sleep(for: .milliseconds(200))
    #expect(errors.count == 0)
    transport.note(isInterrupted: false)
    await sending.value
    #expect(errors.values.map { $0?.code } == [.timedOut])
    await transport.close()
  }

  // MARK: Negotiation

  private func events(
    of transport: PublisherTransport, until isLast: @escaping @Sendable (PublisherTransport.Event) -> Bool
  ) -> Task<[PublisherTransport.Event], Never> {
    Task {
      var events: [PublisherTransport.Event] = []
      for await event in transport.events {
        events.append(event)
        if isLast(event) { break }
      }
      return events
    }
  }

  /// LiveKit's server forgets with the offer of a restart what it knows of our candidates.
  @Test func candidatesOfARestartFollowItsOffer() async throws {
    var ways = MediaWays()
    ways.isServerOnLoopback = true
    let transport = PublisherTransport(ways, loggers: Loggers())
    let told = Locked<[String]>([])
    let reading = events(of: transport) { event in
      if case .candidate(let candidate) = event { told.withLock { $0.append(candidate) } }
      return false
    }
    let offer = try #require(await transport.offer(restartsICE: true))
    try await Task.sleep(for: .milliseconds(200))
    #expect(told.withLock { $0 } == [])
    await transport.offerIsSent(offer.id - 1)
    #expect(told.withLock { $0 } == [])
    await transport.offerIsSent(offer.id)
    try await eventually("candidates") { told.withLock { !$0.isEmpty } }
    await transport.close()
    _ = await reading.value
  }

  @Test func anAnswerThatCannotBeUsedIsTheEndOfIt() async throws {
    let transport = PublisherTransport(MediaWays(), loggers: Loggers())
    let offer = try #require(await transport.offer())
    var answer = Livekit_SessionDescription()
    (answer.type, answer.sdp, answer.id) = ("answer", "v=0", offer.id)
    let reading = events(of: transport) { if case .state(.failed) = $0 { true } else { false } }
    #expect(await !transport.accept(answer))
    guard case .state(.failed(.unusableAnswer)) = await reading.value.last else {
      Issue.record("nobody is told")
      return
    }
    #expect(await error(of: transport, .reliable, within: .seconds(600))?.code == .iceFailed)
    await transport.close()
  }
}
