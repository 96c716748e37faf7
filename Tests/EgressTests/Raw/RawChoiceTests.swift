import MediaCore
import Testing

@testable import Egress
@testable import MediaBridge

/// Which track of whom `frames` and `pcm` take.
@Suite struct RawChoiceTests {
  private static func track(
    _ sid: String, _ source: Track.Source, isMuted: Bool = false, kind: Track.Kind? = nil
  ) -> TrackPublication {
    TrackPublication(
      info: TrackInfo(
        sid: sid, name: "", kind: kind ?? source.kind, source: source, mimeType: "", mimeTypes: [], isMuted: isMuted,
        dimensions: nil, simulcasted: false, layers: []))
  }
  private let camera = track("TR_cam", .camera)
  private let screen = track("TR_a_screen", .screenShareVideo)
  private let microphone = track("TR_mic", .microphone)
  private let video = RawChoice(kind: .video)

  @Test func theCameraGoesBeforeTheScreenInWhateverOrder() {
    for all in [[screen, camera, microphone], [microphone, camera, screen]] {
      #expect(video.best(of: all)?.sid == "TR_cam")
      #expect(RawChoice(kind: .audio).best(of: all)?.sid == "TR_mic")
    }
    #expect(video.best(of: [microphone]) == nil)
  }

  @Test func whatIsSentGoesBeforeWhatIsMuted() {
    let muted = Self.track("TR_cam", .camera, isMuted: true)
    #expect(video.best(of: [muted, screen])?.sid == "TR_a_screen")
    #expect(video.best(of: [screen, muted])?.sid == "TR_a_screen")
    #expect(video.best(of: [muted, Self.track("TR_a_screen", .screenShareVideo, isMuted: true)])?.sid == "TR_cam")
    #expect(video.best(of: [muted])?.sid == "TR_cam", "it may be shown again")
    #expect(RawChoice(kind: .video, sources: [.camera]).best(of: [muted, screen])?.sid == "TR_cam", "as was asked for")
  }

  @Test func whatCanBeHadGoesBeforeWhatIsRefused() {
    func publication(_ sid: String, _ source: Track.Source, isRefused: Bool) -> RemoteTrackPublication {
      var subscription = Subscription(Self.track(sid, source).info.withLock { $0 }, of: "alice", isWanted: true)
      if isRefused { _ = subscription.refuse(for: LiveKitError(.unsupportedCodec, "in H.265")) }
      return RemoteTrackPublication(subscription, requests: NoRequests())
    }
    let refused = publication("TR_cam", .camera, isRefused: true)
    let screen = publication("TR_screen", .screenShareVideo, isRefused: false)
    #expect(video.best(of: [refused, screen]) === screen && video.best(of: [screen, refused]) === screen)
    #expect(video.best(of: [refused]) === refused, "to say why nothing comes")
  }

  @Test func ofSeveralTheOneIsTakenOfWhomSomethingComes() {
    typealias Candidate = RawChoice.Candidate
    let (refused, muted) = (Candidate(isRefused: true), Candidate(isMuted: true))
    #expect(RawChoice.first(of: []) == nil)
    #expect(RawChoice.first(of: [Candidate(), Candidate()]) == 0)
    #expect(RawChoice.first(of: [refused, muted, Candidate()]) == 2)
    #expect(RawChoice.first(of: [refused, muted]) == 1)
    #expect(RawChoice.first(of: [Candidate(), Candidate(isStaying: true, isMuted: true)]) == 1, "who was taken stays")
    #expect(RawChoice.first(of: [refused, Candidate(isTaken: true, isRefused: true)]) == 1, "nobody is better")
  }

  @Test func ofTwoOfASourceTheOneIsTakenThatWasBefore() {
    let (one, other) = (Self.track("TR_1", .camera), Self.track("TR_2", .camera))
    #expect(video.best(of: [other, one])?.sid == "TR_1" && video.best(of: [one, other])?.sid == "TR_1")
    let unknown = Self.track("TR_0", .unknown, kind: .video)
    #expect(video.best(of: [unknown, screen])?.sid == "TR_a_screen")
  }

  @Test func whatIsNamedIsFollowedToAnotherSID() {
    var named = RawChoice(kind: .video, sids: ["TR_before"])
    named.follow([camera])
    #expect(named.best(of: [camera, screen])?.sid == camera.sid)
    var any = RawChoice(kind: .video)
    any.follow([camera])
    #expect(any.accepts(screen))
  }

  @Test func whatIsNamedIsTaken() {
    #expect(RawChoice(kind: .video, sids: ["TR_a_screen"]).best(of: [camera, screen])?.sid == "TR_a_screen")
    #expect(RawChoice(kind: .video, sids: ["TR_mic"]).best(of: [camera, microphone]) == nil, "which is no video")
    #expect(RawChoice(kind: .video, sources: [.screenShareVideo]).best(of: [camera, screen])?.sid == "TR_a_screen")
  }

  @Test func participantsHaveNamesOrPatterns() {
    #expect(video.accepts(identity: "alice") && video.accepts(identity: nil))
    let alice = RawChoice(kind: .video, participants: ["alice"])
    #expect(alice.accepts(identity: "alice") && !alice.accepts(identity: "alice2") && !alice.accepts(identity: nil))
    let guests = RawChoice(kind: .video, participants: ["guest-*"])
    #expect(guests.accepts(identity: "guest-7") && !guests.accepts(identity: "host"))
  }

  @Test func whatIsWaitedForIsSaid() {
    #expect(video.wish == "video of somebody")
    #expect(RawChoice(kind: .audio, participants: ["bob"]).wish == "the audio of bob")
    #expect(RawChoice(kind: .video, sids: ["TR_2", "TR_1"]).wish == "track TR_1 or TR_2")
    #expect(
      RawChoice(kind: .video, participants: ["bob"], sources: [.screenShareVideo]).wish == "the screen share of bob")
  }
}

/// Of publications that nobody asks for anything.
final class NoRequests: SubscriptionRequests {
  let usesAdaptiveStream = false
  func set(subscribed: Bool, of publication: RemoteTrackPublication) async throws {}
  func change(_ publication: RemoteTrackPublication, _ edit: @Sendable (inout TrackSettings) -> Void) async throws {}
  func hold(_ publication: RemoteTrackPublication, _ need: OutputNeed) async {}
  func release(_ publication: RemoteTrackPublication, _ need: OutputNeed) async {}
}
