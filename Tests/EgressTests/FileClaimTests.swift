import BridgeTesting
import Foundation
import PipelineTemplates
import Testing

@testable import Egress
@testable import MediaBridge

/// What a recording does to its file before and beside writing it.
@Suite struct FileClaimTests {
  private let folder: TemporaryFolder
  private let file: String
  private let manager = FileManager.default

  init() throws {
    folder = try TemporaryFolder()
    file = folder.path + "/a.mkv"
  }

  private func error(of body: () throws -> Void) -> String? {
    do { try body() } catch { return "\(error)" }
    return nil
  }

  @Test func oneFileHasOneRecording() async throws {
    try "yesterday".write(toFile: file, atomically: false, encoding: .utf8)
    let first = try FileClaim(file)
    try manager.createSymbolicLink(atPath: folder.path + "/link.mkv", withDestinationPath: file)
    for name in ["/a.mkv", "/link.mkv"] {
      #expect(error { _ = try FileClaim(folder.path + name) }?.contains("another recording") == true)
    }
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "yesterday")
    first.release()
    try await FileClaim.untilFree(file)
    let second = try FileClaim(file)
    #expect(second.loss == nil && second.bytes == 9)
  }

  @Test func aFileThatWasMadeAndGotNothingGoes() async throws {
    try FileClaim(file).release()
    try await FileClaim.untilFree(file)
    #expect(!manager.fileExists(atPath: file))
    let claim = try FileClaim(file)
    try "something".write(toFile: file, atomically: false, encoding: .utf8)
    claim.release()
    #expect(manager.fileExists(atPath: file))
  }

  /// As of `--each`, whose names are known when somebody comes: a place where nothing can be is told before.
  @Test func aNameWithPlaceholdersIsOfAFolderThatIsThere() throws {
    let folder = try TemporaryFolder()
    try Data().write(to: URL(fileURLWithPath: folder.path + "/file"))
    for name in ["{publisher_identity}.mkv", "a/b/{publisher_identity}.mkv", "a-{time}/b.mkv"] {
      try FileClaim.checkFolder(ofName: "\(folder.path)/\(name)")
    }
    let error = #expect(throws: LiveKitError.self) {
      try FileClaim.checkFolder(ofName: folder.path + "/file/{publisher_identity}.mkv")
    }
    #expect(error?.code == .output && error?.message.contains("no folder") == true)
  }

  /// As by `--on-complete`: what comes next would be moved onto it.
  @Test func aNameThatWasMovedAwayIsNotGivenAgain() async throws {
    let first = Destination(location: file)
    #expect(first.nextPart(after: 1).location == folder.path + "/a-2.mkv")
    let second = try FileClaim(folder.path + "/a-2.mkv")
    try "something".write(toFile: folder.path + "/a-2.mkv", atomically: false, encoding: .utf8)
    second.release()
    try manager.moveItem(atPath: folder.path + "/a-2.mkv", toPath: folder.path + "/stored.mkv")
    #expect(first.nextPart(after: 1).location == folder.path + "/a-3.mkv")
    // One that got nothing has had no name.
    try FileClaim(folder.path + "/a-3.mkv").release()
    try await FileClaim.untilFree(folder.path + "/a-3.mkv")
    #expect(first.take(after: 1).location == folder.path + "/a-3.mkv")
  }

  @Test func missingFoldersAreMadeAndGoWithAFileThatGotNothing() async throws {
    let (outer, deep) = (folder.path + "/one", folder.path + "/one/two/a.mkv")
    let claims = [try FileClaim(deep), try FileClaim(outer + "/b.mkv")]
    #expect(manager.fileExists(atPath: deep))
    claims[0].release()
    try await FileClaim.untilFree(deep)
    #expect(!manager.fileExists(atPath: outer + "/two") && manager.fileExists(atPath: outer + "/b.mkv"))
    try "something".write(toFile: outer + "/b.mkv", atomically: false, encoding: .utf8)
    claims[1].release()
    #expect(manager.fileExists(atPath: outer + "/b.mkv"))
    #expect(error { _ = try FileClaim(outer + "/b.mkv/c.mkv") }?.contains("is no folder") == true)
    #expect(error { _ = try FileClaim("/proc/no/such/a.mkv") }?.contains("/proc/no cannot be made") == true)
  }

  @Test func aFileThatWasThereStays() throws {
    #expect(manager.createFile(atPath: file, contents: nil))
    try FileClaim(file).release()
    #expect(manager.fileExists(atPath: file))
  }

  /// The link is the person's, what it leads to was made here.
  @Test func aLinkToNothingStaysOne() async throws {
    let target = folder.path + "/target.mkv"
    try manager.createSymbolicLink(atPath: file, withDestinationPath: target)
    let claim = try FileClaim(file)
    #expect(manager.fileExists(atPath: target))
    claim.release()
    try await FileClaim.untilFree(file)
    #expect(!manager.fileExists(atPath: target))
    #expect(try manager.destinationOfSymbolicLink(atPath: file) == target)
  }

  @Test func pipesAndDevicesAreLeftAlone() throws {
    let (pipe, device) = (folder.path + "/pipe.mkv", folder.path + "/device.mkv")
    #expect(mkfifo(pipe, 0o600) == 0)
    try manager.createSymbolicLink(atPath: device, withDestinationPath: "/dev/null")
    for name in [pipe, device] {
      let claims = [try FileClaim(name), try FileClaim(name)]
      for claim in claims {
        #expect(claim.loss == nil && claim.bytes == nil)
        try claim.checkWritten(by: "mkv")
        claim.release()
      }
      #expect(manager.fileExists(atPath: name))
    }
    #expect(manager.fileExists(atPath: "/dev/null"))
  }

  @Test func aFileThatGoesAwayIsNoticed() async throws {
    let claim = try FileClaim(file)
    #expect(claim.loss == nil)
    try manager.moveItem(atPath: file, toPath: file + ".old")
    try await eventually("its loss") { claim.loss?.message.contains("removed or renamed") == true }
    try "another".write(toFile: file, atomically: false, encoding: .utf8)
    try await eventually("the other one") { claim.loss?.message.contains("replaced") == true }
    #expect(error { try claim.checkWritten(by: "mkv") }?.contains("replaced") == true)
    claim.release()
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "another")
  }

  @Test func aTemplateThatWritesElsewhereIsNamed() throws {
    let claim = try FileClaim(file)
    let message = error { try claim.checkWritten(by: "mkv") }
    #expect(message?.contains("output/mkv") == true && message?.contains("${location}") == true)
  }

  /// Root may write anywhere, so that only trying tells.
  @Test func aFolderThatTakesNoFilesIsRefused() {
    #expect(error { _ = try FileClaim("/proc/x.mkv") }?.contains("/proc/x.mkv") == true)
  }

  @Test(.timeLimit(.minutes(1))) func aFolderThatCannotBeIsNamed() {
    let reason = error { _ = try FileClaim(folder.path + "/none/../other/a.mkv") }
    #expect(reason?.contains("/none/.. cannot be made") == true, "\(reason ?? "it was made")")
    #expect((try? manager.contentsOfDirectory(atPath: folder.path)) == [])
  }
}
