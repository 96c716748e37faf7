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
    #expect(actions.openings.map(\.mode) == [.full])
    // It is the last one all the same.
    course.handle(.openFailed(SessionFailure(LiveKitError(.network, "refused"), remedy: .quick)))
    #expect(course.state.isEnded)
  }

  /// LiveKit's server says so where it has waited for the media for too long, and where it is not ready for a join yet.
  @Test(arguments: [Livekit_DisconnectReason.connectionTimeout, .joinFailure])
  func whomNobodyHasSentAwayComesBack(_ reason: Livekit_DisconnectReason) {
    var leave = Livekit_LeaveRequest()
    (leave.action, leave.reason) = (.disconnect, reason)
    var course = Course.standing()
    let lost = course.handle(.response(.leave(leave)))
    #expect(lost.openings.map(\.mode) == [.full] && lost.course == ["reconnecting full"])
    // The session that is to follow may meet the same.
    course.handle(.opened)
    course.handle(.response(.leave(leave)))
    let again = course.advance(by: .seconds(1))
    #expect(again.openings.map(\.mode) == [.full])
    // Who has never been there is told at once.
    var first = Course()
    first.handle(.connect(server: "server"))
    first.handle(.opened)
    let refused = first.handle(.response(.leave(leave)))
    #expect(refused.course == ["ended"])
  }

  // MARK: The end

  @Test func howLongItWasTriedIsTold() {
    var course = Course.standing(["alice"], ConnectOptions(reconnectAttempts: 3))
    let refused = SessionFailure(LiveKitError(.network, "nothing answers"), remedy: .quick)
    course.lose(.quick)
    course.handle(.openFailed(refused))
    _ = course.advance(by: .seconds(1))
    course.handle(.openFailed(refused))
    _ = course.advance(by: .seconds(2))
    let told = course.handle(.openFailed(refused))
    #expect(
      told.endings.map(\.message) == [
        "the connection was lost and could not be brought back in 3 s (`reconnectAttempts`, --reconnect-attempts: 3): "
          + "nothing answers"
      ])
  }

  /// More attempts would have met the same.
  @Test func whatNoAttemptCanMendNamesNoOption() {
    var course = Course.standing()
    course.lose(.quick)
    let refusal = SessionFailure(LiveKitError(.network, "the token is refused"), remedy: nil)
    let told = course.handle(.openFailed(refusal))
    #expect(
      told.endings.map(\.message) == ["the connection was lost and could not be brought back: the token is refused"])
  }

  // MARK: Who is there

  private static func resumed(isHidden: Bool = false) -> Course {
    var course = Course.standing(["alice", "bob"])
    var info = Course.ourselves
    info.permission.hidden = isHidden
    course.update([info])
    course.lose(.quick)
    _ = course.resume()
    return course
  }

  /// It is known once the whole list has come, in however many updates.
  @Test func whoIsNotNamedAtAResumeHasLeft() {
    var course = Self.resumed()
    course.list([Course.info(of: "carol")])
    course.update([Course.info(of: "bob")])
    course.updateRoom()
    #expect(course.state.roster.identities == ["alice", "bob", "carol"])
    course.offer(restartsICE: true)
    #expect(course.state.roster.identities == ["bob", "carol"])
    #expect(course.state.roster.sids == ["TR_bob", "TR_carol"])
    // From then on departures are told.
    course.update([Course.info(of: "bob")])
    course.updateRoom()
    course.offer(restartsICE: true)
    #expect(course.state.roster.identities == ["bob", "carol"])
  }

  /// The list is of ourselves alone; to who is hidden LiveKit's server sends none then.
  @Test(arguments: [true, false]) func everybodyMayHaveLeft(isHidden: Bool) {
    var course = Self.resumed(isHidden: isHidden)
    if !isHidden { course.list([]) }
    course.updateRoom()
    course.offer(restartsICE: true)
    #expect(course.state.roster.members.isEmpty && course.state.roster.tracks.isEmpty)
  }

  @Test func withoutAListNobodyHasLeft() {
    var course = Self.resumed()
    course.updateRoom()
    course.offer(restartsICE: true)
    #expect(course.state.roster.identities == ["alice", "bob"])
    var early = Self.resumed()
    early.update([Course.info(of: "alice", .disconnected)])
    early.offer(restartsICE: true)
    #expect(early.state.roster.identities == ["bob"])
  }

  /// A server tells of changes meanwhile, of the room, too. Nothing marks the list of who is hidden.
  @Test(arguments: [true, false]) func whatChangesBeforeTheListIsNotIt(isHidden: Bool) {
    var course = Self.resumed(isHidden: isHidden)
    course.update([Course.info(of: "carol")])
    course.updateRoom()
    #expect(course.state.roster.identities == ["alice", "bob", "carol"])
    // It was made before carol came.
    course.list([Course.info(of: "alice")], isHidden: isHidden)
    course.updateRoom()
    course.offer(restartsICE: true)
    #expect(course.state.roster.identities == ["alice", "carol"])
  }

  /// Somebody may publish just then.
  @Test(arguments: [true, false]) func anOfferAheadOfTheListIsNotItsEnd(isHidden: Bool) {
    var course = Self.resumed(isHidden: isHidden)
    course.offer()
    #expect(course.state.roster.identities == ["alice", "bob"])
    course.list([Course.info(of: "alice")], isHidden: isHidden)
    course.offer(restartsICE: true)
    #expect(course.state.roster.identities == ["alice"])
  }

  /// A server that sends none may tell of us later.
  @Test func aListIsNotWaitedForAfterTheRestart() {
    var course = Self.resumed()
    course.offer(restartsICE: true)
    course.list([])
    course.updateRoom()
    course.offer(restartsICE: true)
    #expect(course.state.roster.identities == ["alice", "bob"])
  }

  /// A server restarts nothing where it sends nothing.
  @Test func whoOnlySendsIsOfferedNothing() {
    var course = Course()
    course.handle(.connect(server: "server"))
    course.join(["alice", "bob"], isSubscriberPrimary: false)
    course.lose(.quick)
    _ = course.resume()
    course.updateRoom()
    course.list([Course.info(of: "bob")])
    #expect(course.state.roster.identities == ["alice", "bob"])
    course.updateRoom()
    #expect(course.state.roster.identities == ["bob"])
  }

  /// That of a connection that is lost, too, was not whole.
  @Test func eachResumeHasAListOfItsOwn() {
    var course = Self.resumed()
    course.list([Course.info(of: "bob")])
    course.lose(.quick)
    // The second attempt of a row waits a little.
    _ = course.advance(by: .seconds(1))
    _ = course.resume()
    course.list([Course.info(of: "alice")])
    course.offer(restartsICE: true)
    #expect(course.state.roster.identities == ["alice"])
  }

  @Test func whoIsWaitedForMayComeAfterAResume() {
    var course = Course.standing()
    course.lose(.full)
    course.join([])
    course.lose(.quick)
    _ = course.advance(by: .seconds(1))
    _ = course.resume()
    course.list([])
    course.offer(restartsICE: true)
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

  // MARK: What overtakes something newer

  private static func info(_ version: UInt32, hasTrack: Bool) -> Livekit_ParticipantInfo {
    var info = Course.info(of: "alice")
    info.version = version
    if !hasTrack { info.tracks = [] }
    return info
  }

  @Test func anOlderUpdateIsPassedOver() {
    var course = Course.standing()
    course.update([Self.info(6, hasTrack: true)])
    course.update([Self.info(5, hasTrack: false)])
    #expect(course.state.roster.sids == ["TR_alice"])
    // The same again, and what is newer, counts.
    course.update([Self.info(6, hasTrack: true)])
    course.update([Self.info(7, hasTrack: false)])
    #expect(course.state.roster.tracks.isEmpty)
  }

  // MARK: Who comes back under the same identity

  private static func left(_ sid: String, joinedAt: Int64) -> Livekit_ParticipantInfo {
    var info = Course.info(of: "alice", .disconnected)
    (info.sid, info.joinedAtMs, info.tracks) = (sid, joinedAt, [])
    return info
  }

  /// LiveKit's server tells neither the end of the earlier stay nor a later one that is over within seconds.
  @Test func aLaterStayThatNobodySawEndsTheEarlierOne() {
    var course = Course.standing()
    var alice = Course.info(of: "alice")
    alice.joinedAtMs = 2000
    course.update([alice])
    // Of an earlier one still, and of one of which only its end is repeated.
    course.update([Self.left("PA_before", joinedAt: 1000), Self.left("PA_unknown", joinedAt: 0)])
    #expect(course.state.roster.identities == ["alice"])
    course.update([Self.left("PA_later", joinedAt: 3000)])
    #expect(course.state.roster.members.isEmpty && course.state.roster.tracks.isEmpty)
  }

  /// Another stay counts anew, and so does another session.
  @Test func anotherStayHasVersionsOfItsOwn() {
    var course = Course.standing()
    course.update([Self.info(6, hasTrack: true)])
    var info = Self.info(1, hasTrack: false)
    info.sid = "PA_again"
    course.update([info])
    #expect(course.state.roster.tracks.isEmpty)
    var lost = Course.standing()
    lost.update([Self.info(6, hasTrack: true)])
    lost.lose(.full)
    lost.join([])
    lost.update([Self.info(1, hasTrack: true)])
    #expect(lost.state.roster.members["alice"]?.isAbsent == false)
  }

  @Test func whatIsSaidOfOurselvesDoesNotGoBackEither() {
    var course = Course.standing()
    var told: [SessionAction] = []
    for version in [UInt32(3), 2, 4] {
      var info = Course.ourselves
      info.version = version
      told += course.update([info])
    }
    let learnt: [UInt32] = told.compactMap { action in
      if case .connection(.learnOurselves(let info)) = action { info.version } else { nil }
    }
    #expect(learnt == [3, 4] && course.state.roster.identities == ["alice"])
  }

  // MARK: What is allowed

  /// LiveKit's server says it once, and may say it before it says that the track is there.
  @Test func whatIsForbiddenBeforeItIsPublishedIsForbidden() {
    var course = Course.standing()
    var update = Livekit_SubscriptionPermissionUpdate()
    (update.trackSid, update.allowed) = ("TR_bob", false)
    course.handle(.response(.subscriptionPermissionUpdate(update)))
    let told = course.update([Course.info(of: "bob")])
    #expect(told.failures.map(\.sid) == ["TR_bob"] && told.failures.map(\.error.code) == [.permissionDenied])
    #expect(course.state.roster.tracks["TR_bob"]?.objections.isAllowed == false)
    update.allowed = true
    course.handle(.response(.subscriptionPermissionUpdate(update)))
    #expect(course.state.roster.tracks["TR_bob"]?.objections.isAllowed == true)
  }

  @Test func whatIsAllowedAgainBeforeItIsPublishedIsAllowed() {
    var course = Course.standing()
    for isAllowed in [false, true] {
      var update = Livekit_SubscriptionPermissionUpdate()
      (update.trackSid, update.allowed) = ("TR_bob", isAllowed)
      course.handle(.response(.subscriptionPermissionUpdate(update)))
    }
    let told = course.update([Course.info(of: "bob")])
    #expect(told.failures.isEmpty && course.state.roster.tracks["TR_bob"]?.objections.isAllowed == true)
  }

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
