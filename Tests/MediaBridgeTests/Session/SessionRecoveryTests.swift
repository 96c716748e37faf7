import LiveKitProtocol
import Testing

@testable import MediaBridge

/// What was lost with a connection, and is learnt when it is back.
@Suite struct SessionRecoveryTests {
  /// A server that was started again says to the last attempt to resume that it does not know the session.
  @Test func whatTheLastAttemptLearnsIsTried() {
    var course = Course.standing(["alice"], ConnectOptions(reconnectAttempts: 1))
    course.lose(.quick)
    course.handle(.opened)
    var leave = Livekit_LeaveRequest()
    (leave.canReconnect, leave.reason) = (true, .stateMismatch)
    let actions = course.handle(.response(.leave(leave)))
    #expect(actions.contains { if case .connection(.open(.full)) = $0 { true } else { false } })
    // It is the last one all the same.
    course.handle(.openFailed(SessionFailure(LiveKitError(.network, "refused"), remedy: .quick)))
    #expect(course.state.isEnded)
  }

  // MARK: Who is there

  private static func resumed() -> Course {
    var course = Course.standing(["alice", "bob"])
    course.lose(.quick)
    _ = course.resume()
    return course
  }

  /// It is known once the whole list has come, in however many updates.
  @Test func whoIsNotNamedAtAResumeHasLeft() {
    var course = Self.resumed()
    course.update([Course.info(of: "carol")])
    course.update([Course.info(of: "bob")])
    #expect(course.state.roster.identities == ["alice", "bob", "carol"])
    course.updateRoom()
    #expect(course.state.roster.identities == ["bob", "carol"])
    #expect(course.state.roster.sids == ["TR_bob", "TR_carol"])
    // From then on departures are told.
    course.update([Course.info(of: "bob")])
    course.updateRoom()
    #expect(course.state.roster.identities == ["bob", "carol"])
  }

  /// The list without ourselves.
  @Test func everybodyMayHaveLeft() {
    var course = Self.resumed()
    course.update([])
    course.updateRoom()
    #expect(course.state.roster.members.isEmpty && course.state.roster.tracks.isEmpty)
  }

  @Test func withoutAListNobodyHasLeft() {
    var course = Self.resumed()
    course.updateRoom()
    #expect(course.state.roster.identities == ["alice", "bob"])
    var early = Self.resumed()
    early.update([Course.info(of: "alice", .disconnected)])
    early.updateRoom()
    #expect(early.state.roster.identities == ["bob"])
  }

  /// That of a connection that is lost, too, was not whole.
  @Test func eachResumeHasAListOfItsOwn() {
    var course = Self.resumed()
    course.update([Course.info(of: "bob")])
    course.lose(.quick)
    // The second attempt of a row waits a little.
    _ = course.advance(by: .seconds(1))
    _ = course.resume()
    course.update([Course.info(of: "alice")])
    course.updateRoom()
    #expect(course.state.roster.identities == ["alice"])
  }

  @Test func whoIsWaitedForMayComeAfterAResume() {
    var course = Course.standing()
    course.lose(.full)
    course.join([])
    course.lose(.quick)
    _ = course.advance(by: .seconds(1))
    _ = course.resume()
    course.update([])
    course.updateRoom()
    #expect(course.state.roster.identities == ["alice"])
    _ = course.advance(by: SessionState.returnTime)
    #expect(course.state.roster.members.isEmpty)
  }

  /// A server goes on with whoever has the identity now.
  @Test func whoIsReplacedDoesNotComeBack() {
    var course = Self.resumed()
    let actions = course.update([Course.info(of: "watcher"), Course.info(of: "alice")])
    let reasons: [LiveKitError.Code] = actions.compactMap { action in
      if case .room(.ended(let error)) = action { error?.code } else { nil }
    }
    #expect(reasons == [.duplicateIdentity] && course.state.isEnded)
    var former = Self.resumed()
    former.update([Course.info(of: "watcher", .disconnected)])
    #expect(!former.state.isEnded)
  }

  // MARK: What is allowed

  /// A server says it once, and then sends the track.
  @Test func aPermissionThatIsGivenBackUnheardIsLearnt() {
    var course = Self.forbidden()
    course.handle(.media([:]))
    course.lose(.quick)
    _ = course.resume()
    #expect(course.state.roster.tracks["TR_alice"]?.objections.isAllowed == false)
    let media = Course.Media()
    let actions = course.handle(.media(["TR_alice": ObjectIdentifier(media)]))
    #expect(actions.contains { if case .track(_, "TR_alice", .tell(.allowed(true))) = $0 { true } else { false } })
    #expect(course.state.roster.tracks["TR_alice"]?.objections.isAllowed == true)
  }

  /// An offer that was made before may still name the track.
  @Test func mediaOnItsWayOutGivesNoPermission() {
    var course = Self.forbidden()
    course.handle(.media([:]))
    let media = Course.Media()
    course.handle(.media(["TR_alice": ObjectIdentifier(media)]))
    #expect(course.state.roster.tracks["TR_alice"]?.objections.isAllowed == false)
  }

  private static func forbidden() -> Course {
    var course = Course.standing()
    var update = Livekit_SubscriptionPermissionUpdate()
    (update.trackSid, update.allowed) = ("TR_alice", false)
    course.handle(.response(.subscriptionPermissionUpdate(update)))
    return course
  }
}
