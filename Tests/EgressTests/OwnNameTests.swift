import BridgeTesting
import Dispatch
import Foundation
import MediaBridge
import PipelineTemplates
import Testing

@testable import Egress

/// What the files of a group are called where what people call themselves makes the same name twice.
@Suite struct OwnNameTests {
  private let folder: TemporaryFolder
  private let manager = FileManager.default

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { folder.path + "/" + name }

  /// The file of one of a group, taken.
  private func member(
    _ name: String, takes: Int = 0, replaces: Bool = true, captions: Bool = false
  ) throws -> RecordingTargets {
    var destination = OutputDestination(path(name))
    (destination.takesBefore, destination.isOfMany) = (takes, true)
    var options = RecordingOptions(destinations: [destination])
    (options.replacesFiles, options.captions) = (replaces, captions)
    var targets = try RecordingTargets(options, folder: nil)
    try targets.claim()
    return targets
  }

  private func called(_ targets: RecordingTargets) -> String? {
    targets.all.first.map { URL(fileURLWithPath: $0.destination.location).lastPathComponent }
  }

  /// Has one recorded from the beginning to the end.
  /// - Returns: what the file is called.
  private func record(_ file: String, takes: Int = 0, replaces: Bool, _ text: String) throws -> String? {
    let targets = try member(file, takes: takes, replaces: replaces)
    let name = called(targets)
    try text.write(toFile: path(name ?? ""), atomically: false, encoding: .utf8)
    targets.release()
    return name
  }

  @Test(arguments: [true, false]) func aTakeOfSomebodyIsNotWrittenOver(_ replaces: Bool) throws {
    #expect(try record("guest.mkv", replaces: replaces, "first") == "guest.mkv")
    #expect(try record("guest.mkv", takes: 1, replaces: replaces, "second") == "guest-2.mkv")
    #expect(try record("guest-2.mkv", replaces: replaces, "the other") == "guest-2-2.mkv")
    #expect(try record("guest-2.mkv", takes: 1, replaces: replaces, "the other again") == "guest-2-3.mkv")
    for (name, text) in [("guest.mkv", "first"), ("guest-2.mkv", "second"), ("guest-2-2.mkv", "the other")] {
      #expect(try String(contentsOfFile: path(name), encoding: .utf8) == text)
    }
  }

  /// As of `a/b` and `a_b`.
  @Test(arguments: [true, false]) func twoWhoAreOneNameHaveAFileEach(_ replaces: Bool) throws {
    let both = [try member("a_b.mkv", replaces: replaces), try member("a_b.mkv", replaces: replaces)]
    defer { for one in both { one.release() } }
    #expect(both.map(called) == ["a_b.mkv", "a_b-2.mkv"])
  }

  /// A part that another one writes has no lock any more once it is complete.
  @Test(arguments: [true, false]) func aPartIsNotWrittenOver(_ replaces: Bool) throws {
    let part = try FileClaim(path("user-2.mkv"))
    try "part".write(toFile: path("user-2.mkv"), atomically: false, encoding: .utf8)
    #expect(try record("user-2.mkv", replaces: replaces, "meanwhile") == "user-2-2.mkv")
    part.release()
    #expect(try record("user-2.mkv", replaces: replaces, "afterwards") == "user-2-3.mkv")
    #expect(try String(contentsOfFile: path("user-2.mkv"), encoding: .utf8) == "part")
  }

  /// What is uploaded next would take its place.
  @Test func whatWasMovedAwayHasHadItsName() throws {
    #expect(try record("a_b.mkv", replaces: true, "first") == "a_b.mkv")
    try manager.removeItem(atPath: path("a_b.mkv"))
    #expect(try record("a_b.mkv", replaces: true, "second") == "a_b-2.mkv")
  }

  @Test func whatWasThereBeforeThisProcessIsReplacedWhereThatIsAskedFor() async throws {
    try "yesterday's".write(toFile: path("bob.mkv"), atomically: false, encoding: .utf8)
    #expect { try member("bob.mkv", replaces: false) } throws: { "\($0)".contains("bob.mkv exists already") }
    // Nothing of it was written here.
    try await FileClaim.untilFree(path("bob.mkv"))
    #expect(try called(member("bob.mkv")) == "bob.mkv")
    try await FileClaim.untilFree(path("bob.mkv"))
    #expect(try String(contentsOfFile: path("bob.mkv"), encoding: .utf8) == "yesterday's")
    try manager.removeItem(atPath: path("bob.mkv"))
    #expect(try record("bob.mkv", replaces: false, "today's") == "bob.mkv")
  }

  @Test func aNameUnderWhichNothingWasWrittenIsFree() async throws {
    try member("alice.mkv").release()
    try await FileClaim.untilFree(path("alice.mkv"))
    let again = try member("alice.mkv")
    defer { again.release() }
    #expect(called(again) == "alice.mkv")
  }

  @Test(arguments: [
    (["alice.jpg", "alice_00000.jpg"], ["alice.jpg", "alice_00000-2.jpg"]),
    (["alice_00000.jpg", "alice.jpg"], ["alice_00000.jpg", "alice-2.jpg"]),
    (["alice.m3u8", "alice_captions.m3u8"], ["alice.m3u8", "alice_captions-2.m3u8"]),
    (["alice_master.m3u8", "alice.m3u8"], ["alice_master.m3u8", "alice-2.m3u8"]),
    (["alice.m3u8", "alice_one.m3u8"], ["alice.m3u8", "alice_one.m3u8"]),
  ])
  func whatLiesBesideAFileIsNotWrittenOver(files: [String], names: [String]) throws {
    let all = try files.map { try member($0, captions: $0.hasSuffix("m3u8")) }
    defer { for one in all { one.release() } }
    #expect(all.map(called) == names)
  }

  @Test func twoWhoAreOneNameHaveTheirCaptions() throws {
    let both = [try member("a_b.mkv", captions: true), try member("a_b.mkv", captions: true)]
    defer { for one in both { one.release() } }
    #expect(both.map { $0.all.first?.captions?.file?.path } == [path("a_b.vtt"), path("a_b-2.vtt")])
  }

  /// For raw media, which nobody claims.
  @Test func aFileOfRawMediaIsNotWrittenOver() {
    let file = Destination(location: path("a_b.wav"))
    let (first, second) = (file.own(), file.own())
    #expect(first.place == file && second.place.location == path("a_b-2.wav"))
    second.keep()
    second.giveBack()
    first.giveBack()
    let again = file.own()
    // What was written into has its name, whoever has let go of it.
    #expect(file.own().place.location == path("a_b-3.wav"))
    #expect(again.place == file)
  }

  @Test func aNameThatNobodyHasAnyMoreIsFree() {
    let file = Destination(location: path("alice.wav"))
    for _ in 0..<2 { #expect(file.own().place == file) }
  }

  /// Who asked for it was told that the disk does not answer.
  @Test func aNameThatCameTooLateIsFree() async throws {
    let (gate, file) = (DispatchSemaphore(value: 0), Destination(location: path("alice.mkv")))
    #expect(throws: LiveKitError.self) {
      _ = try FileClaim.asking(file.location, within: .milliseconds(20)) {
        gate.wait()
        return file.own()
      }
    }
    gate.signal()
    try await eventually("its answer") { (try? FileClaim.asking(file.location) { true }) == true }
    try await eventually("that the name is free") { !FileClaim.isKnown(file.location) }
  }

  @Test func namesAreKnownByWhatMayLieUnderThem() {
    var names = WrittenNames()
    names.add("/calls/alice.mkv")
    #expect(names.hold("/calls/./alice.mkv") && !names.hold("/calls/Alice.mkv") && !names.hold("/other/alice.mkv"))
    #expect(names.hold("/calls/Alice.mkv", ignoringCase: true), "as on a USB stick")
    #expect(names.hold("/calls/alice.mkv.json"), "its manifest")
    names.reserve("/calls/bob.json", nil)
    #expect(names.hold("/calls/bob.json") && names.hold("/calls/bob"), "the manifest would be in its place")
    names.cancel("/calls/bob.json")
    names.cancel("/calls/alice.mkv")
    #expect(!names.hold("/calls/bob.json") && names.hold("/calls/alice.mkv"))
    names.remove("/calls/alice.mkv")
    #expect(!names.hold("/calls/ALICE.mkv", ignoringCase: true))
  }
}
