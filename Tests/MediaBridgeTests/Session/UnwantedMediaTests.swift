import LiveKitProtocol
import Testing

@testable import MediaBridge

/// What a server that subscribes by itself sends although nobody wants it, or nobody can read it.
@Suite struct UnwantedMediaTests {
  private func isSubscribed(_ course: Course) -> Bool? { course.state.roster.tracks["TR_alice"]?.isSubscribed }

  /// It subscribes once the media is connected, whatever it was told after the join.
  /// - Parameter hasGone: whether it had stopped sending before the session was lost.
  @Test(arguments: [true, false]) func whatIsSubscribedAnewIsRefusedAnew(hasGone: Bool) {
    var course = Course.standing()
    course.handle(.want(sid: "TR_alice", false))
    if hasGone { course.handle(.media([:])) }
    course.lose(.full)
    course.join(["alice"])
    let media = Course.Media()
    let sent = SessionEvent.media(["TR_alice": ObjectIdentifier(media)])
    let told = course.handle(sent).subscriptions
    #expect(told.map(\.trackSids) == [["TR_alice"]] && told.allSatisfy { !$0.subscribe })
    let again = course.handle(sent).subscriptions
    #expect(again.isEmpty && isSubscribed(course) == false)
    // It goes, and comes again.
    course.handle(.media([:]))
    let anew = course.handle(sent).subscriptions
    #expect(anew.count == 1)
  }

  /// It is there already, so that no offer comes with it.
  @Test(arguments: [true, false]) func whatIsSentAlreadyIsTakenOnceItIsWanted(byOutput: Bool) {
    var course = Course.standing()
    course.handle(.want(sid: "TR_alice", false))
    course.lose(.full)
    course.join(["alice"])
    let media = Course.Media()
    let sent = SessionEvent.media(["TR_alice": ObjectIdentifier(media)])
    course.handle(sent)
    let wish = byOutput ? SessionEvent.hold(sid: "TR_alice", .everything) : .want(sid: "TR_alice", true)
    let actions = course.handle(wish)
    #expect(actions.contains { if case .connection(.matchTracks) = $0 { true } else { false } })
    course.handle(sent)
    #expect(isSubscribed(course) == true)
  }

  /// The offer without it comes a moment later.
  @Test func whatIsUnsubscribedIsRefusedOnce() {
    var course = Course.standing()
    course.handle(.want(sid: "TR_alice", false))
    let before = course.handle(.media(["TR_alice": ObjectIdentifier(course.media)])).subscriptions
    let after = course.handle(.media([:])).subscriptions
    #expect(before.isEmpty && after.isEmpty && isSubscribed(course) == false)
  }

  @Test func whatIsEncryptedIsRefusedWheneverItComes() {
    var course = Course.standing()
    let told = course.update([Course.info(of: "alice", encryption: .gcm)]).subscriptions
    #expect(told.count == 1 && told.allSatisfy { !$0.subscribe })
    let before = course.handle(.media(["TR_alice": ObjectIdentifier(course.media)])).subscriptions
    #expect(before.isEmpty && isSubscribed(course) == false)
    let media = Course.Media()
    let after = course.handle(.media(["TR_alice": ObjectIdentifier(media)])).subscriptions
    #expect(after.count == 1)
  }
}
