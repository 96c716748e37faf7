import Testing

@testable import Egress
@testable import MediaBridge

/// Which tracks go into a file, and what is said of the others.
@Suite struct TrackChoiceTests {
  private let camera = track("TR_cam", .camera)
  private let screen = track("TR_a_screen", .screenShareVideo)
  private let microphone = track("TR_mic", .microphone)
  private let screenAudio = track("TR_a_audio", .screenShareAudio)

  private static func track(
    _ sid: String, _ source: Track.Source, _ kind: Track.Kind? = nil, name: String = ""
  ) -> TrackPublication {
    TrackPublication(
      info: TrackInfo(
        sid: sid, name: name, kind: kind ?? source.kind, source: source, mimeType: "", mimeTypes: [], isMuted: false,
        dimensions: nil, simulcasted: false, layers: []))
  }

  private func choice(_ change: (inout RecordingOptions) -> Void = { _ in }) -> TrackChoice {
    var options = RecordingOptions(file: "a.mkv")
    change(&options)
    return TrackChoice(options)
  }

  private func best(_ choice: TrackChoice, of tracks: [TrackPublication]) -> [String] {
    choice.best(of: tracks).map(\.sid)
  }

  @Test func theCameraGoesFirstInWhateverOrder() {
    let all = [screen, screenAudio, camera, microphone]
    for tracks in [all, all.reversed()] { #expect(best(choice(), of: tracks) == ["TR_cam", "TR_mic"]) }
    #expect(best(choice(), of: [screen, screenAudio]) == ["TR_a_screen", "TR_a_audio"])
    let unknown = Self.track("TR_0", .unknown, .video)
    #expect(best(choice(), of: [unknown, screen]) == ["TR_a_screen"])
    #expect(best(choice { $0.kinds = [.audio] }, of: all) == ["TR_mic"])
  }

  @Test func namesChooseAmongTracks() {
    let slides = Self.track("TR_slides", .screenShareVideo, name: "slides-1")
    let front = Self.track("TR_front", .camera, name: "cam-front")
    let all = [camera, slides, front, microphone]
    #expect(best(choice { $0.trackNames = ["cam-*"] }, of: all) == ["TR_front"])
    #expect(best(choice { $0.trackNames = ["cam-*", "slides-?"] }, of: all) == ["TR_front"], "the camera goes first")
    let screens = choice {
      $0.trackNames = ["cam-*", "slides-?"]
      $0.sources = [.screenShareVideo]
    }
    #expect(best(screens, of: all) == ["TR_slides"])
    #expect(screens.reason(against: camera) == "its name '' was not asked for; --track TR_cam records it")
    #expect(choice { $0.trackNames = ["cam-*"] }.wish == "track called cam-*")
  }

  /// A camera may still come, so what has come is not final.
  @Test func whatMayStillBeBetteredIsWaitedFor() {
    #expect(choice().isFinal([camera, microphone]))
    #expect(!choice().isFinal([screen, microphone]))
    #expect(choice { $0.sources = [.screenShareVideo] }.isFinal([screen]))
  }

  @Test func sourcesAndTracksAreTakenAtTheirWord() {
    let all = [screen, screenAudio, camera, microphone]
    let bySource = choice { $0.sources = [.screenShareVideo, .microphone] }
    #expect(best(bySource, of: all) == ["TR_a_screen", "TR_mic"])
    #expect(bySource.kinds(of: []) == [.video, .audio])
    let byTrack = choice { $0.trackSids = ["TR_a_screen"] }
    #expect(best(byTrack, of: all) == ["TR_a_screen"])
    #expect(byTrack.kinds(of: [screen]) == [.video])
    #expect(choice { $0.sources = [.screenShareVideo] }.kinds(of: all) == [.video])
  }

  @Test func aScreenDoesNotTakeThePlaceOfACamera() {
    var choice = choice()
    choice.take(camera)
    #expect(best(choice, of: [screen]) == [])
    #expect(best(choice, of: [Self.track("TR_again", .camera)]) == ["TR_again"])
  }

  @Test func whatIsLeftOutIsToldWithItsRemedy() {
    var choice = choice()
    choice.take(camera)
    #expect(choice.reason(against: screen) == "the file holds the camera; --source screen records it")
    let second = choice.reason(against: Self.track("TR_2", .camera))
    #expect(second == "the file holds another one; --track TR_2 records it")
    let audio = self.choice { $0.kinds = [.audio] }.reason(against: camera)
    #expect(audio == "it was not asked for; --source camera records it")
    let named = self.choice { $0.sources = [.screenShareVideo] }.reason(against: microphone)
    #expect(named == "it was not asked for; --source microphone records it")
  }

  @Test func whatWasAskedForAndNeverCameIsKnown() {
    var choice = choice { $0.sources = [.screenShareVideo, .microphone] }
    choice.take(microphone)
    #expect(choice.missing(of: "alice").map(\.source) == [.screenShareVideo])
    choice.take(screen)
    #expect(choice.missing(of: "alice").isEmpty)
    let tracks = self.choice { $0.trackSids = ["TR_never"] }
    #expect(tracks.missing(of: "alice").map(\.sid) == ["TR_never"])
    #expect(self.choice().missing(of: "alice").isEmpty)
  }

  /// But for one of a group, where each has a file of its own.
  @Test func aNamedTrackIsTheSameUnderItsNextSid() {
    for (follows, sids) in [(true, ["TR_cam", "TR_next"]), (false, ["TR_cam"])] {
      var choice = choice {
        $0.trackSids = ["TR_cam"]
        $0.followsSids = follows
      }
      choice.take(camera)
      choice.rename("TR_cam", to: "TR_next")
      #expect(choice.sids == Set(sids) && choice.accepts(Self.track("TR_next", .camera)) == follows)
      #expect(choice.missing(of: "alice").isEmpty)
    }
  }

  @Test(arguments: [
    ([Track.Source.camera, .screenShareVideo], [String]()), ([.microphone, .screenShareAudio], []), ([.unknown], []),
    ([], ["TR_a", "TR_b", "TR_c"]),
  ])
  func whatDoesNotFitIntoOneFileIsRefused(_ sources: [Track.Source], _ sids: [String]) throws {
    let options = RecordingOptions(file: "a.mkv", trackSids: sids, sources: sources)
    #expect(throws: LiveKitError.self) { try options.checkChoice() }
    try RecordingOptions(file: "a.mkv", sources: [.camera, .camera, .screenShareAudio]).checkChoice()
  }

  @Test func anOmissionIsListedOnceWithItsLastReason() {
    func omission(_ sid: String, _ reason: String) -> Omission {
      Omission(
        sid: sid, kind: .video, source: .camera, participant: "alice", reason: reason, wasWanted: true)
    }
    var list = OmissionList()
    #expect(list.note(omission("TR_1", "one")) && !list.note(omission("TR_1", "one")))
    #expect(list.note(omission("TR_1", "two")) && list.all.map(\.reason) == ["two"])
    #expect(list.all[0].description == "camera of alice (TR_1): two")
    list.rename("TR_1", to: "TR_2")
    #expect(list.all.map(\.sid) == ["TR_2"] && !list.has("TR_1"))
    list.forget("TR_2")
    #expect(list.all.isEmpty)
    for number in 0..<1000 { _ = list.note(omission("TR_\(number)", "again")) }
    #expect(list.all.count < 500)
  }
}
