import LiveKitProtocol
import MediaCore
import PeerTransport
import SignalTransport
import Testing

@testable import MediaBridge

/// Courses of a session that random lives seldom take.
@Suite struct SessionStateTests {
  /// Whichever connection hears of it first: who was sent away does not come back.
  @Test(arguments: [SessionEvent.secondaryTransport(.failed(.closedByPeer)), .transport(.failed(.closedByPeer))])
  func theServersLastWordIsWaitedFor(_ end: SessionEvent) {
    var removed = Course.standing()
    removed.handle(end)
    _ = removed.advance(by: .seconds(1))
    #expect(!removed.state.isRecovering)
    var leave = Livekit_LeaveRequest()
    (leave.action, leave.reason) = (.disconnect, .participantRemoved)
    removed.handle(.response(.leave(leave)))
    #expect(removed.state.isEnded)
    var lost = Course.standing()
    lost.handle(end)
    _ = lost.advance(by: .seconds(3))
    #expect(lost.state.isRecovering)
  }

  private static let published = SessionEvent.published([Livekit_TrackPublishedResponse()])

  /// With nothing on it, it is made anew when it is needed: at once, since the server has had its time to say why.
  @Test(arguments: [PeerError.closedByPeer, .iceFailed(tried: "")])
  func aPublisherThatNobodyNeedsMayFail(_ error: PeerError) {
    var course = Course.standing()
    course.handle(.publisher(.failed(error)))
    _ = course.advance(by: .seconds(20))
    #expect(!course.state.isRecovering)
    course.handle(.publisherNeeded(forTrack: false))
    _ = course.advance(by: .milliseconds(600))
    #expect(course.state.isRecovering)
  }

  /// Media comes all the while, and would be interrupted for each.
  @Test(arguments: [false, true])
  func messagesForWhichThereIsNoWayCostOneSession(isConnectedMeanwhile: Bool) {
    var course = Course.standing()
    for number in 1...3 {
      _ = course.advance(by: .seconds(15))
      course.handle(.publisher(.failed(.iceFailed(tried: ""))))
      course.handle(.publisherNeeded(forTrack: false))
      #expect(course.state.isRecovering == (number == 1 || isConnectedMeanwhile))
      guard course.state.isRecovering else { continue }
      _ = course.advance(by: .seconds(1))
      course.join(["alice"])
      if isConnectedMeanwhile { course.handle(.publisher(.connected)) }
    }
    course.handle(.publisherNeeded(forTrack: true))
    #expect(course.state.isRecovering != isConnectedMeanwhile, "what is published is worth one")
  }

  @Test func aPublisherThatFailsUnderATrackIsMadeAnew() {
    var course = Course.standing()
    course.handle(.publisher(.failed(.iceFailed(tried: ""))))
    #expect(!course.state.isRecovering)
    course.handle(Self.published)
    #expect(course.state.isRecovering)
  }

  /// Each loss has its own time to find another way.
  @Test func aPublisherIsGivenTimeToRestart() {
    var course = Course.standing()
    course.handle(Self.published)
    course.handle(.publisher(.disconnected(.consentLost(pair: ""))))
    _ = course.advance(by: .seconds(2))
    course.handle(.publisher(.connected))
    _ = course.advance(by: .seconds(6))
    course.handle(.publisher(.disconnected(.consentLost(pair: ""))))
    _ = course.advance(by: .seconds(9))
    #expect(!course.state.isRecovering)
    _ = course.advance(by: .seconds(2))
    #expect(course.state.isRecovering)
  }

  /// Without the signalling connection nobody hears of its restart.
  @Test func aResumeGivesThePublisherTimeAnew() {
    var course = Course.standing()
    course.handle(Self.published)
    course.handle(.publisher(.disconnected(.consentLost(pair: ""))))
    _ = course.advance(by: .seconds(8))
    course.lose(.quick)
    _ = course.advance(by: .seconds(1))
    course.handle(.opened)
    _ = course.advance(by: .seconds(3))
    #expect(course.state.isRecovering)
    course.handle(.response(.reconnect(Livekit_ReconnectResponse())))
    _ = course.advance(by: .seconds(9))
    #expect(!course.state.isRecovering)
    _ = course.advance(by: .seconds(2))
    #expect(course.state.isRecovering)
  }

  /// It failed while the session was waiting to be resumed, which was no news then.
  @Test func aPublisherThatFailsBesideAnotherLossIsMadeAnewAfterIt() {
    var course = Course.standing()
    course.handle(Self.published)
    course.lose(.quick)
    course.handle(.publisher(.failed(.iceFailed(tried: ""))))
    _ = course.advance(by: .seconds(1))
    _ = course.resume()
    _ = course.advance(by: .seconds(1))
    #expect(course.state.isRecovering)
  }

  /// What stands before a server that starts may show a certificate of its own for a moment.
  @Test func aCertificateThatIsRefusedLaterIsTriedAgain() {
    let refusal = SessionFailure(SignalError.tls(host: "server", reason: "self-signed"))
    var course = Course.standing()
    course.lose(.quick)
    _ = course.advance(by: .seconds(1))
    course.handle(.openFailed(refusal))
    #expect(course.state.isRecovering && !course.state.isEnded)
    var first = Course()
    first.handle(.connect(server: "server"))
    first.handle(.openFailed(refusal))
    #expect(first.state.isEnded)
  }

  /// Nobody can read it, so it is not to take anything of the link either.
  @Test(arguments: [ReconnectMode.quick, .full]) func whatIsEncryptedIsNotAskedForAnew(_ mode: ReconnectMode) {
    var course = Course.standing()
    let info = Course.info(of: "alice", encryption: .gcm)
    course.update([info])
    course.lose(mode)
    let told: [SessionAction]
    if mode == .quick {
      told = course.resume()
    } else {
      var join = Livekit_JoinResponse()
      join.otherParticipants = [info]
      course.handle(.opened)
      told = course.handle(.response(.join(join)))
    }
    let wishes = told.subscriptions.filter { $0.trackSids.contains("TR_alice") }
    #expect(!wishes.contains { $0.subscribe } && wishes.contains { !$0.subscribe }, "\(wishes)")
  }

  /// The first of two wishes arrived, the second did not, and the track is still there: nothing looks amiss.
  @Test func aWishThatMayHaveBeenLostIsToldAgain() {
    var course = Course.standing()
    course.handle(.want(sid: "TR_alice", false))
    course.handle(.want(sid: "TR_alice", true))
    course.lose(.quick)
    let told = course.resume().subscriptions
    #expect(told.contains { $0.trackSids == ["TR_alice"] && $0.subscribe })
  }

  /// The track is there already, and the connection is not yet told as back.
  @Test func anOutputThatComesWhileItReconnectsGetsAllThereIs() {
    var course = Course.standing()
    course.lose(.full)
    course.join(["alice"], isConnected: false)
    let media = Course.Media()
    course.handle(.media(["TR_alice": ObjectIdentifier(media)]))
    #expect(settings(course.advance(by: SettingsSchedule.grace, .nothing)) == [Self.paused])
    course.handle(.hold(sid: "TR_alice", .everything))
    course.handle(.transport(.connected))
    #expect(settings(course.advance(by: SettingsSchedule.moment, .nothing)) == [TrackSettings()])
  }

  @Test func anOutputThatShowsTracksGetsWhatItShows() {
    var course = Course.standing()
    let media = Course.Media()
    course.handle(.media(["TR_alice": ObjectIdentifier(media)]))
    course.handle(.hold(sid: "TR_alice", .shown))
    let size = Dimensions(width: 426, height: 240)
    #expect(settings(course.advance(by: SettingsSchedule.grace, .size(size))) == [TrackSettings(dimensions: size)])
    course.handle(.hold(sid: "TR_alice", .everything))
    #expect(settings(course.advance(by: SettingsSchedule.grace, .size(size))) == [TrackSettings()])
    course.handle(.release(sid: "TR_alice", .everything))
    #expect(settings(course.advance(by: SettingsSchedule.grace, .size(size))) == [TrackSettings(dimensions: size)])
  }

  private static let paused = TrackSettings(isEnabled: false, quality: .low)

  /// The server has not heard of it, or has forgotten it, and passes over what it knows already.
  @Test func aPauseThatHasNoEffectIsToldAgain() {
    var course = Course.standing()
    #expect(settings(course.advance(by: SettingsSchedule.grace, .nothing)) == [Self.paused])
    let before = course.handle(.stream(sid: "TR_alice", .unabated)).forerunners
    #expect(before.map(\.disabled) == [false] && before.map(\.quality) == [.low])
    #expect(settings(course.advance(by: SettingsSchedule.moment, .nothing)) == [Self.paused])
    #expect(settings(course.advance(by: .seconds(60), .nothing)).isEmpty, "once")
    // All is told once the connection is back.
    course.lose(.quick)
    #expect(course.handle(.stream(sid: "TR_alice", .unabated)).forerunners.isEmpty)
  }

  /// A server that pauses it, or its publisher, knows better.
  @Test func whatIsPausedElsewhereIsNotToldAgain() {
    var course = Course.standing()
    #expect(settings(course.advance(by: SettingsSchedule.grace)) == [TrackSettings()])
    var mute = Livekit_MuteTrackRequest()
    (mute.sid, mute.muted) = ("TR_alice", true)
    course.handle(.response(.mute(mute)))
    #expect(course.handle(.stream(sid: "TR_alice", .unabated)).forerunners.isEmpty)
    #expect(settings(course.advance(by: .seconds(60))).isEmpty)
  }

  /// As where a subscription begins anew before the server has forgotten the last one, with what it was told of it.
  @Test func whatBeginsAnewInASessionIsToldAnew() {
    var course = Course.standing(usesAdaptiveStream: false)
    #expect(settings(course.advance(by: SettingsSchedule.moment)).isEmpty, "a server begins so by itself")
    let (media, later) = (Course.Media(), Course.Media())
    course.handle(.media(["TR_alice": ObjectIdentifier(media)]))
    #expect(settings(course.advance(by: SettingsSchedule.moment)) == [TrackSettings()])
    course.lose(.full)
    course.join(["alice"])
    course.handle(.media(["TR_alice": ObjectIdentifier(later)]))
    #expect(settings(course.advance(by: SettingsSchedule.moment)).isEmpty, "another session knows nothing of it")
    withExtendedLifetime((media, later)) {}
  }

  /// As where everybody changes over to the backup codec, of which signalling says nothing.
  @Test func aTrackGoesOnInAnotherCodec() {
    var course = Course.standing()
    let (later, last) = (Course.Media(), Course.Media())
    let changed = SessionEvent.media(["TR_alice": ObjectIdentifier(later)], continuing: [ObjectIdentifier(later)])
    let told = course.handle(changed)
    #expect(words(told) == ["resume", "codecChanged"])
    #expect(course.state.roster.tracks["TR_alice"]?.stream?.media == ObjectIdentifier(later))
    let again = course.handle(changed)
    #expect(words(again) == [])
    // Another stream is another track, as in LiveKit's SDKs.
    let other = course.handle(.media(["TR_alice": ObjectIdentifier(last)]))
    #expect(words(other) == ["end", "begin"])
  }

  /// What kept the frames of one codec from being seen is told anew of the other.
  @Test func anotherCodecIsTriedAnew() {
    var course = Course.standing()
    course.handle(.decoder(sid: "TR_alice", LiveKitError(.unsupportedCodec, "no decoder")))
    let later = Course.Media()
    let told = course.handle(.media(["TR_alice": ObjectIdentifier(later)], continuing: [ObjectIdentifier(later)]))
    #expect(words(told) == ["resume", "enabled codecNotSupported", "codecChanged"])
  }

  /// What happens to tracks, as far as it is asked about here.
  private func words(_ actions: [SessionAction]) -> [String] {
    actions.compactMap { action -> String? in
      guard case .track(_, _, let action) = action else { return nil }
      switch action {
      case .begin: return "begin"
      case .resume: return "resume"
      case .end: return "end"
      case .tell(.codecChanged): return "codecChanged"
      case .tell(.enabled(let reason)): return "enabled \(reason)"
      default: return nil
      }
    }
  }

  private func settings(_ actions: [SessionAction]) -> [TrackSettings] {
    actions.compactMap { action in
      if case .connection(.confirm(_, .settings(let message, _))) = action { message.settings } else { nil }
    }
  }

  /// Nothing of hers is missed any more when the wait would begin again.
  @Test func whoDoesNotComeBackIsGoneAlsoAfterAnotherLoss() {
    var course = Course.standing()
    course.lose(.full)
    course.handle(.want(sid: "TR_alice", false))
    course.join([])
    course.handle(.want(sid: "TR_alice", true))
    course.lose(.quick)
    _ = course.advance(by: .seconds(1))
    _ = course.resume()
    #expect(course.state.roster.members.keys.contains("alice"))
    _ = course.advance(by: SessionState.returnTime)
    #expect(course.state.roster.members.isEmpty && course.state.roster.tracks.isEmpty)
  }
}
