import LiveKitProtocol
import MediaCore
import Testing

@testable import MediaBridge

/// Whose fault an error was, and what was behind it.
@Suite struct LiveKitErrorTests {
  private func failure(url: String) async -> LiveKitError? {
    let room = Room(roomOptions: RoomOptions(audioPlayback: .off))
    do throws(LiveKitError) { try await room.connect(url: url, token: "token") } catch { return error }
    await room.disconnect()
    return nil
  }

  @Test func aServerThatIsNotThereIsTheServersFault() async throws {
    let error = try #require(await failure(url: "ws://127.0.0.1:1"))
    #expect(error.code == .network && error.fault == .server)
    #expect(error.underlying.map { "\($0)" } == error.message)
  }

  @Test func anAddressThatIsNoneIsTheCallersFault() async throws {
    let error = try #require(await failure(url: "nonsense"))
    #expect(error.code == .invalidParameter && error.fault == .caller)
  }

  @Test func aConnectionThatDoesNotComeBackKeepsTheCause() throws {
    struct Cause: Error {}
    let refused = LiveKitError(.unauthorized, "the token has expired", fault: .server, underlying: Cause())
    var state = SessionState(SessionState.Options())
    let time = MediaTime(nanoseconds: 0)
    _ = state.handle(.connect(server: "server"), at: time)
    _ = state.handle(.opened, at: time)
    _ = state.handle(.response(.join(Livekit_JoinResponse())), at: time)
    _ = state.handle(.transport(.connected), at: time)
    _ = state.handle(.signalEnded(SessionFailure(LiveKitError(.disconnected, "lost"), remedy: .quick)), at: time)
    let last = state.handle(.openFailed(SessionFailure(refused, remedy: nil)), at: time).last
    guard case .room(.ended(let error?)) = last else {
      Issue.record("\(String(describing: last)) instead of the end")
      return
    }
    #expect(error.code == .unauthorized && error.message.hasSuffix("the token has expired"))
    #expect(error.fault == .server && error.underlying is Cause)
  }

  /// What comes in a later version falls to `default`.
  @Test func aCodeThatIsNotKnownIsOneToo() {
    let error = LiveKitError(LiveKitError.Code(rawValue: "someNewCode"), "something new")
    #expect(error.fault == .caller && "\(error.code)" == "someNewCode")
    switch error.code {
    case .network, .tls: Issue.record("another code")
    default: break
    }
  }

  @Test func whatWasBehindItMakesNoOtherError() {
    let one = LiveKitError(.output, "the disk is full", underlying: CancellationError())
    #expect(one == LiveKitError(.output, "the disk is full") && one.fault == .destination)
    #expect(one != LiveKitError(.output, "the disk is full", fault: .machine))
  }
}
