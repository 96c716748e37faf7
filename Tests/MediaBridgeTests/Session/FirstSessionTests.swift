import LiveKitProtocol
import MediaCore
import PeerTransport
import SignalTransport
import Testing

@testable import MediaBridge

/// A session whose signalling is lost before its media is connected for the first time, and what a server is told of a
/// loss.
@Suite struct FirstSessionTests {
  private static let cut = SessionFailure(SignalError.closed("no reason given"))

  private static func joined(_ connect: ConnectOptions = ConnectOptions()) -> Course {
    var course = Course(connect)
    course.handle(.connect(server: "server"))
    course.join(["alice"], isConnected: false)
    return course
  }

  /// LiveKit's server cuts it where media does not connect, so that the client comes back for another way.
  @Test func itIsResumedUntold() {
    var course = Self.joined()
    let lost = course.handle(.signalEnded(Self.cut))
    #expect(lost.openings.map(\.mode) == [.quick] && lost.openings.map(\.reason) == [.signalDisconnected])
    let resumed = course.resume()
    let stands = course.handle(.transport(.connected))
    #expect((lost + resumed).course.isEmpty && stands.course == ["connected"])
    #expect(!course.state.isRecovering && course.state.roster.identities == ["alice"])
  }

  /// It has closed the participant meanwhile.
  @Test func aSessionThatIsUnknownByThenIsJoinedAnew() {
    var course = Self.joined()
    course.handle(.signalEnded(Self.cut))
    course.handle(.opened)
    var leave = Livekit_LeaveRequest()
    (leave.canReconnect, leave.reason) = (true, .stateMismatch)
    let left = course.handle(.response(.leave(leave)))
    #expect(left.openings.map(\.mode) == [.full] && left.course.isEmpty)
    course.join(["alice"], isConnected: false)
    let stands = course.handle(.transport(.connected))
    #expect(stands.course == ["connected"] && course.state.roster.identities == ["alice"])
    // What is lost from now on is told.
    let lost = course.handle(.signalEnded(Self.cut))
    #expect(lost.course == ["reconnecting quick"])
  }

  @Test func itHasTheTimeOfTheFirstAttempt() {
    var course = Self.joined(ConnectOptions(timeout: .seconds(15)))
    _ = course.advance(by: .seconds(10))
    course.handle(.signalEnded(Self.cut))
    _ = course.resume()
    let early = course.advance(by: .seconds(5))
    #expect(early.course.isEmpty && !course.state.isEnded)
    let late = course.advance(by: .seconds(1))
    #expect(late.course == ["ended"])
  }

  /// Also while the connection is being opened, and between two attempts.
  @Test(arguments: [true, false]) func itDoesNotGoOnForEver(isOpening: Bool) {
    var course = Self.joined()
    course.handle(.signalEnded(Self.cut))
    if !isOpening { course.handle(.openFailed(Self.cut)) }
    for _ in 0..<16 where !course.state.isEnded {
      _ = course.advance(by: .seconds(1))
      if !isOpening { course.handle(.openFailed(Self.cut)) }
    }
    #expect(course.state.isEnded)
  }

  @Test func whatIsRefusedBeforeTheJoinIsNotTriedAgain() {
    var course = Course()
    course.handle(.connect(server: "server"))
    course.handle(.opened)
    course.handle(.signalEnded(Self.cut))
    #expect(course.state.isEnded)
    var unwilling = Self.joined(ConnectOptions(reconnectAttempts: 0))
    unwilling.handle(.signalEnded(Self.cut))
    #expect(unwilling.state.isEnded)
  }

  // MARK: What was lost

  private static let silence = PeerState.disconnected(.consentLost(pair: ""))

  /// By it LiveKit's server goes over to TCP, and from there to TURN.
  @Test(arguments: [
    (SessionEvent.transport(silence), ReconnectReason.subscriberFailed),
    (.secondaryTransport(silence), .subscriberFailed), (.signalEnded(cut), .signalDisconnected),
  ]) func theServerIsToldWhatWasLost(_ loss: SessionEvent, _ reason: ReconnectReason) {
    var course = Course.standing()
    let openings = course.handle(loss).openings
    #expect(openings.map(\.mode) == [.quick] && openings.map(\.reason) == [reason])
    // An attempt that fails does not make it another loss.
    course.handle(.openFailed(Self.cut))
    let again = course.advance(by: .seconds(1)).openings
    #expect(again.map(\.reason) == [reason])
  }

  /// Where we may only send, the connection on which we do is the primary one.
  @Test func thePublishersLossIsToldAsThat() {
    var course = Course()
    course.handle(.connect(server: "server"))
    course.handle(.opened)
    course.handle(.response(.join(Livekit_JoinResponse())))
    course.handle(.transport(.connected))
    let openings = course.handle(.transport(Self.silence)).openings
    #expect(openings.map(\.reason) == [.publisherFailed])
  }
}
