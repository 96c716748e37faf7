import MediaBridge
import Testing

@testable import Egress

/// What files lack that `frames` and `pcm` write.
@Suite struct RawLossTests {
  @Test func whatLacksNothingHasNotFailed() {
    #expect(RawLoss(.frames, dropped: 0, passedOver: 0).failure(of: "a.raw") == nil)
    #expect(RawLoss(.samples(rate: 48_000), dropped: 0, passedOver: 0).failure(of: "a.wav") == nil)
  }

  @Test func theDiskIsToBlameForWhatItDidNotTake() throws {
    let failure = try #require(RawLoss(.frames, dropped: 12, passedOver: 0).failure(of: "a.raw"))
    #expect(failure.code == .output && failure.fault == .destination)
    #expect(failure.message.hasPrefix("a.raw: 12 frames are missing, since its disk was too slow: "))
    #expect(!failure.message.contains("machine") && failure.message.contains("--fps"))
  }

  @Test func theMachineIsToBlameForWhatItDidNotMake() throws {
    let failure = try #require(RawLoss(.frames, dropped: 0, passedOver: 1).failure(of: "shots/"))
    #expect(failure.code == .output && failure.fault == .machine)
    #expect(failure.message.hasPrefix("shots/: 1 frame is missing, since this machine was too slow: "))
    #expect(!failure.message.contains("disk"))
    for option in ["--fps", "--size", "--format"] { #expect(failure.message.contains(option)) }
  }

  @Test func bothAreSaid() throws {
    let failure = try #require(RawLoss(.frames, dropped: 2, passedOver: 3).failure(of: "shots/"))
    #expect(failure.message.contains("2 frames are missing, since its disk"))
    #expect(failure.message.contains("3 frames are missing, since this machine"))
  }

  @Test func audioIsCountedInSeconds() throws {
    let failure = try #require(RawLoss(.samples(rate: 48_000), dropped: 60_000, passedOver: 0).failure(of: "a.wav"))
    #expect(failure.message == "a.wav: 1.25 s of audio are missing, since its disk was too slow: choose a faster one")
  }

  // MARK: At an even rate

  /// One image a second of 30 frames a second, each of which takes a while.
  @Test func framesThatNoPlaceWasForAreNotMissing() {
    var frames = PassedOverFrames()
    for second in 1...10 { frames.noteFrame(after: 6 * second) }
    #expect(frames.missing(of: 60) == 0)
  }

  @Test func thoseWhosePlacesTheOneBeforeFillsAre() {
    var frames = PassedOverFrames()
    frames.noteFrame(after: 0)
    frames.noteRepeats(3)
    #expect(frames.missing(of: 2) == 2, "also before another one comes")
    frames.noteFrame(after: 3)
    frames.noteRepeats(1)
    frames.noteFrame(after: 5)
    #expect(frames.missing(of: 5) == 4)
  }

  @Test func whatWasNotSentIsNotMissing() {
    var frames = PassedOverFrames()
    frames.noteFrame(after: 4)
    frames.noteRepeats(20)
    #expect(frames.missing(of: 4) == 0)
  }
}
