import MediaCore
import Testing

@testable import Egress

/// How one pipeline of a destination takes over from another.
@Suite struct SuccessionTests {
  private typealias Pipelines = Succession<String, String>
  private typealias Turn = Pipelines.Turn

  private static func turn(_ stage: String, _ lines: [String: String], continues: Bool = false) -> Turn {
    Turn(stage: stage, lines: lines, continues: continues)
  }
  private static let both = ["video": "camera", "audio": "voice"]

  private struct Scene {
    var pipelines: Pipelines
    var over: [String] = []

    /// `STAGE@MILLISECONDS`.
    mutating func offer(_ input: String, _ line: String, _ milliseconds: Int, isKeyframe: Bool = false) -> String? {
      pipelines.place(input, from: line, isKeyframe: isKeyframe, at: .milliseconds(milliseconds), over: &over).map {
        "\($0.stage)@\(Int(($0.time.seconds * 1000).rounded()))"
      }
    }
  }

  private func scene(_ lines: [String: String] = both) -> Scene {
    Scene(pipelines: Pipelines(Self.turn("a", lines)))
  }

  @Test func aPartBeginsAtAKeyframeAndAtZero() {
    var scene = scene()
    #expect(scene.offer("video", "camera", 0, isKeyframe: true) == "a@0")
    #expect(scene.pipelines.prepare(Self.turn("b", Self.both)) == nil)
    #expect(scene.offer("video", "camera", 40) == "a@40")
    #expect(scene.offer("video", "camera", 80, isKeyframe: true) == "b@0")
    #expect(scene.offer("video", "camera", 120) == "b@40")
  }

  @Test func aPartThatHasATimeWaitsForIt() {
    var scene = scene()
    _ = scene.pipelines.prepare(Turn(stage: "b", lines: Self.both, earliest: .milliseconds(100)))
    #expect(scene.offer("video", "camera", 80, isKeyframe: true) == "a@80")
    #expect(scene.offer("video", "camera", 120) == "a@120")
    #expect(scene.offer("video", "camera", 160, isKeyframe: true) == "b@0")
  }

  /// What was heard before the change is in the part that shows it, whenever it comes.
  @Test func lateAudioGoesToThePartBefore() {
    var scene = scene()
    _ = scene.offer("video", "camera", 0, isKeyframe: true)
    _ = scene.pipelines.prepare(Self.turn("b", Self.both))
    _ = scene.offer("video", "camera", 100, isKeyframe: true)
    #expect(scene.offer("audio", "voice", 60) == "a@60" && scene.over.isEmpty)
    #expect(scene.offer("audio", "voice", 100) == "b@0" && scene.over == ["a"])
    #expect(scene.offer("audio", "voice", 120) == "b@20" && scene.over == ["a"])
  }

  /// An encoder of video that does not keep up is behind the audio, of which nobody knows yet into which part it belongs.
  @Test func audioThatIsAheadIsToldFromWhatIsNot() {
    var scene = scene()
    _ = scene.offer("video", "camera", 100, isKeyframe: true)
    #expect(!scene.pipelines.isAhead("audio", from: "voice", at: .milliseconds(140)), "there is no next part")
    _ = scene.pipelines.prepare(Turn(stage: "b", lines: Self.both, earliest: .milliseconds(200)))
    let times = [90, 140, 210].map { Duration.milliseconds($0) }
    #expect(times.map { scene.pipelines.isAhead("audio", from: "voice", at: $0) } == [false, false, true])
    #expect(!scene.pipelines.isAhead("video", from: "camera", at: .milliseconds(210)))
    _ = scene.offer("video", "camera", 230)
    #expect(
      !scene.pipelines.isAhead("audio", from: "voice", at: .milliseconds(210))
        && scene.offer("audio", "voice", 210) == "a@210")
    _ = scene.offer("video", "camera", 270, isKeyframe: true)
    #expect(
      !scene.pipelines.isAhead("audio", from: "voice", at: .milliseconds(280))
        && scene.offer("audio", "voice", 280) == "b@10")
  }

  @Test func withoutVideoTheAudioLeads() {
    var scene = scene(["audio": "voice"])
    #expect(scene.offer("audio", "voice", 20, isKeyframe: true) == "a@20")
    _ = scene.pipelines.prepare(Self.turn("b", ["audio": "voice"]))
    #expect(scene.offer("audio", "voice", 40, isKeyframe: true) == "b@0" && scene.over == ["a"])
  }

  /// The track comes in another codec: an encoder's line goes on in the same pipeline.
  @Test func anotherLineGoesOnInTheSamePipeline() {
    var scene = scene()
    _ = scene.offer("video", "camera", 0, isKeyframe: true)
    _ = scene.pipelines.prepare(Self.turn("a", ["video": "encoder", "audio": "voice"], continues: true))
    #expect(scene.offer("video", "encoder", 40) == nil, "it needs frames that are not there")
    #expect(scene.offer("video", "camera", 40) == "a@40")
    #expect(scene.offer("video", "encoder", 80, isKeyframe: true) == "a@80")
    #expect(scene.offer("video", "camera", 90) == nil)
    #expect(scene.offer("audio", "voice", 60) == "a@60" && scene.over.isEmpty)
  }

  @Test func whoWaitsIsReplaced() {
    var scene = scene()
    _ = scene.pipelines.prepare(Self.turn("b", Self.both))
    #expect(scene.pipelines.prepare(Self.turn("c", Self.both))?.stage == "b")
    #expect(scene.offer("video", "camera", 0, isKeyframe: true) == "c@0")
    #expect(scene.pipelines.stages == ["a", "c"] && scene.pipelines.next == nil)
  }

  /// Two changes in a row, before the audio of the first has come.
  @Test func everyPipelineIsOverOnceItsAudioHasCome() {
    var scene = scene()
    _ = scene.offer("video", "camera", 0, isKeyframe: true)
    for (stage, time) in [("b", 100), ("c", 200)] {
      _ = scene.pipelines.prepare(Self.turn(stage, Self.both))
      #expect(scene.offer("video", "camera", time, isKeyframe: true) == "\(stage)@0")
    }
    #expect(scene.over.isEmpty && scene.pipelines.stages == ["a", "b", "c"])
    #expect(scene.offer("audio", "voice", 60) == "a@60" && scene.over.isEmpty)
    #expect(scene.offer("audio", "voice", 150) == "b@50" && scene.over == ["a"])
    #expect(scene.offer("audio", "voice", 90) == nil, "its pipeline is over")
    #expect(scene.offer("audio", "voice", 210) == "c@10" && scene.over == ["a", "b"])
    #expect(scene.pipelines.stages == ["c"])
  }

  /// Encoders of video that follow each other are as far behind as audio may be.
  @Test func eachLineGoesToTheTurnThatItFeeds() {
    var scene = scene()
    _ = scene.offer("video", "camera", 0, isKeyframe: true)
    for (line, stage, time) in [("better", "b", 100), ("best", "c", 200)] {
      _ = scene.pipelines.prepare(Self.turn(stage, ["video": line, "audio": "voice"]))
      #expect(scene.offer("video", line, time, isKeyframe: true) == "\(stage)@0")
    }
    #expect(scene.pipelines.lines == ["camera", "better", "best", "voice"])
    #expect(scene.offer("video", "better", 180) == "b@80" && scene.offer("video", "camera", 80) == "a@80")
    #expect(scene.offer("video", "camera", 120) == nil && scene.offer("video", "better", 220) == nil)
    #expect(scene.offer("audio", "voice", 90) == "a@90" && scene.over.isEmpty)
    #expect(scene.offer("audio", "voice", 210) == "c@10" && scene.over == ["a", "b"])
    #expect(scene.pipelines.lines == ["best", "voice"])
  }

  /// Whoever had a track of their own does not come any more.
  @Test func anInputThatIsGoneIsNotWaitedForForEver() {
    var scene = scene(["video": "camera", "audio": "voice", "audio-2": "alice"])
    _ = scene.offer("video", "camera", 0, isKeyframe: true)
    for (stage, time) in [("b", 1000), ("c", 20000), ("d", 21000)] {
      _ = scene.pipelines.prepare(Self.turn(stage, Self.both))
      #expect(scene.offer("video", "camera", time, isKeyframe: true) == "\(stage)@0")
      #expect(scene.offer("audio", "voice", time) == "\(stage)@0")
      #expect(scene.over == (stage == "d" ? ["a", "b", "c"] : []))
    }
  }

  /// What comes late has an origin of its own: its first keyframe that is not older than it is.
  @Test func aLateOneBeginsAtAKeyframeAndAtZero() {
    var scene = Scene(pipelines: Pipelines(Self.turn("a", Self.both), from: .milliseconds(1000)))
    #expect(scene.offer("video", "camera", 960, isKeyframe: true) == nil, "it was there before")
    #expect(scene.offer("video", "camera", 1000) == nil && scene.offer("audio", "voice", 1000, isKeyframe: true) == nil)
    #expect(scene.pipelines.awaitsBeginning)
    #expect(scene.offer("video", "camera", 1040, isKeyframe: true) == "a@0")
    #expect(scene.offer("audio", "voice", 1020, isKeyframe: true) == nil)
    #expect(scene.offer("audio", "voice", 1060, isKeyframe: true) == "a@20")
    #expect(!scene.pipelines.awaitsBeginning)
  }

  @Test func allInputsEndAtOneMoment() {
    var scene = scene()
    #expect(scene.offer("video", "camera", 0, isKeyframe: true) == "a@0")
    scene.pipelines.finish(at: .milliseconds(100))
    #expect(scene.offer("video", "camera", 80) == "a@80" && scene.offer("video", "camera", 120) == nil)
    #expect(!scene.pipelines.isPastEnd, "audio of that time may still come")
    #expect(scene.offer("audio", "voice", 90) == "a@90" && scene.offer("audio", "voice", 110) == nil)
    #expect(scene.pipelines.isPastEnd)
  }

  /// It would be empty.
  @Test func nothingTakesOverBehindTheEnd() {
    var scene = scene()
    #expect(scene.offer("video", "camera", 0, isKeyframe: true) == "a@0")
    _ = scene.pipelines.prepare(Self.turn("b", Self.both))
    scene.pipelines.finish(at: .milliseconds(100))
    #expect(scene.offer("video", "camera", 120, isKeyframe: true) == nil)
    #expect(scene.pipelines.stage == "a" && scene.pipelines.next?.stage == "b" && scene.over.isEmpty)
    #expect(scene.offer("audio", "voice", 90) == "a@90" && scene.offer("audio", "voice", 110) == nil)
    #expect(scene.pipelines.isPastEnd)
  }

  /// As one that is removed while its encoder is behind.
  @Test func audioOfAPartThatIsYetToComeWaitsForItBeforeTheEnd() {
    var scene = scene()
    _ = scene.offer("video", "camera", 0, isKeyframe: true)
    _ = scene.pipelines.prepare(Turn(stage: "b", lines: Self.both, earliest: .milliseconds(100)))
    scene.pipelines.finish(at: .milliseconds(200))
    let audio = [140, 260].map { Duration.milliseconds($0) }
    #expect(audio.map { scene.pipelines.isAhead("audio", from: "voice", at: $0) } == [true, false])
    #expect(scene.offer("video", "camera", 100, isKeyframe: true) == "b@0")
    #expect(scene.offer("audio", "voice", 140) == "b@40")
    #expect(scene.offer("audio", "voice", 260) == nil && scene.offer("video", "camera", 220) == nil)
    #expect(scene.pipelines.isPastEnd)
  }

  /// Two encoders have the same frames for a moment, and neither keeps pace with the other.
  @Test func anotherEncoderBeginsWhereTheOneBeforeEnds() {
    var scene = scene()
    _ = scene.offer("video", "camera", 0, isKeyframe: true)
    let next = Turn(stage: "b", lines: ["video": "better", "audio": "voice"], earliest: .milliseconds(100))
    _ = scene.pipelines.prepare(next)
    #expect(scene.offer("video", "better", 40, isKeyframe: true) == nil, "it is too early")
    let times: [Duration] = [.milliseconds(80), .milliseconds(120)]
    #expect(times.map { scene.pipelines.isAhead("video", from: "camera", at: $0) } == [false, true])
    #expect(!scene.pipelines.isAhead("video", from: "better", at: .milliseconds(120)))
    #expect(scene.offer("video", "better", 120, isKeyframe: true) == "b@0")
    #expect(scene.offer("video", "camera", 80) == "a@80", "the one before is still behind")
    #expect(scene.offer("audio", "voice", 120) == "b@0" && scene.over.isEmpty)
    #expect(scene.pipelines.lines == ["camera", "better", "voice"])
    #expect(scene.offer("video", "camera", 120) == nil && scene.over == ["a"])
    #expect(scene.pipelines.lines == ["better", "voice"])
  }

  /// What it has written by then would come twice.
  @Test func anEncoderThatBeginsBeforeWhatIsWrittenWaitsForItsNextKeyframe() {
    var scene = scene()
    let next = Turn(stage: "b", lines: ["video": "better", "audio": "voice"], earliest: .milliseconds(100))
    _ = scene.offer("video", "camera", 0, isKeyframe: true)
    _ = scene.offer("video", "camera", 160)
    _ = scene.pipelines.prepare(next)
    #expect(scene.offer("video", "better", 120, isKeyframe: true) == nil)
    #expect(scene.offer("video", "better", 160) == nil)
    #expect(scene.pipelines.isAhead("video", from: "camera", at: .milliseconds(200)))
    #expect(scene.offer("video", "better", 240, isKeyframe: true) == "b@0")
    #expect(scene.offer("video", "camera", 200) == "a@200" && scene.offer("video", "camera", 240) == nil)
  }

  /// Another one who wanted a keyframe may have had the first of them put off.
  @Test func audioThatIsHeldGoesByTheKeyframeThatComes() {
    var scene = scene()
    _ = scene.offer("video", "camera", 0, isKeyframe: true)
    _ = scene.pipelines.prepare(Turn(stage: "b", lines: Self.both, earliest: .milliseconds(100)))
    let audio = [140, 240].map { Duration.milliseconds($0) }
    #expect(audio.allSatisfy { scene.pipelines.isAhead("audio", from: "voice", at: $0) })
    #expect(scene.offer("video", "camera", 120) == "a@120")
    #expect(scene.offer("video", "camera", 200, isKeyframe: true) == "b@0")
    #expect(audio.allSatisfy { !scene.pipelines.isAhead("audio", from: "voice", at: $0) })
    #expect(scene.offer("audio", "voice", 140) == "a@140" && scene.offer("audio", "voice", 240) == "b@40")
  }

  @Test func aLineThatIsGoneIsNotWaitedForForEver() {
    var scene = scene(["video": "camera"])
    _ = scene.offer("video", "camera", 0, isKeyframe: true)
    _ = scene.pipelines.prepare(Self.turn("b", ["video": "better"]))
    #expect(scene.offer("video", "better", 40, isKeyframe: true) == "b@0" && scene.over.isEmpty)
    #expect(scene.offer("video", "better", 5040) == "b@5000" && scene.over == ["a"])
  }

  /// Several destinations share an encoder, and none is to go on with a keyframe that the others are too late for.
  @Test func whoIsYetToBeToldItsMomentTakesOverAtNoKeyframe() {
    var scene = scene(["video": "camera"])
    _ = scene.offer("video", "camera", 0, isKeyframe: true)
    _ = scene.pipelines.prepare(Turn(stage: "b", lines: ["video": "better"], earliest: Turn.unsaid))
    #expect(scene.offer("video", "better", 40, isKeyframe: true) == nil && scene.pipelines.next?.stage == "b")
    #expect(!scene.pipelines.isAhead("video", from: "camera", at: .milliseconds(80)))
    scene.pipelines.say(.milliseconds(100))
    #expect(scene.offer("video", "better", 80, isKeyframe: true) == nil)
    #expect(scene.pipelines.isAhead("video", from: "camera", at: .milliseconds(120)))
    #expect(scene.offer("video", "better", 120, isKeyframe: true) == "b@0")
  }

  @Test func whatIsNotToTakeOverDoesNot() {
    var scene = scene()
    _ = scene.pipelines.prepare(Self.turn("b", Self.both))
    #expect(scene.pipelines.cancel()?.stage == "b")
    #expect(scene.offer("video", "camera", 40, isKeyframe: true) == "a@40")
  }
}
