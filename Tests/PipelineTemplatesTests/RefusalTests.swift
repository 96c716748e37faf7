import Foundation
import Synchronization
import Testing

@testable import PipelineTemplates

/// A pipeline can read and write files with its user's rights: what others could have written is not run.
@Suite struct RefusalTests {
  private typealias Source = TemplateSearchPath.Folder.Source
  /// What can be written by others: the folder, the kind's folder in it, or the file.
  private static let places = ["a", "a/output", "a/output/mp4.pipeline"]

  /// A folder with a template of the same name as a built-in one, and one of another.
  private func folder(_ place: String, mode: Int) throws -> ScratchFolder {
    let scratch = try ScratchFolder()
    for name in ["mp4", "mine"] {
      try scratch.write("a/output/\(name).pipeline", "# changed\nappsrc name=video ! fakesink")
    }
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: "\(scratch.path)/\(place)")
    return scratch
  }

  private func store(
    _ scratch: ScratchFolder, _ source: Source, onRefusal: @escaping @Sendable (TemplateRefusal) -> Void = { _ in }
  ) -> TemplateStore {
    let path = TemplateSearchPath(folders: [.init(path: scratch.path + "/a", source: source), .builtIn])
    return TemplateStore(searchPath: path, onRefusal: onRefusal)
  }

  @Test(arguments: places, [0o775, 0o757, 0o1777])
  func whatOthersCanWriteIsPassedOverAndSaid(place: String, mode: Int) throws {
    let scratch = try folder(place, mode: mode)
    let refusal = TemplateRefusal(path: "\(scratch.path)/\(place)", reason: .writableByOthers)
    let told = Told()
    let store = store(scratch, .user, onRefusal: told.add)
    #expect(try store.find(.output, "mp4").file == "(inside the program)/output/mp4.pipeline")
    #expect(told.refusals == [refusal])
    #expect(try store.list().refusals == [refusal])
    #expect(refusal.description.hasSuffix("run `chmod go-w \(scratch.path)/\(place)`"))
    let error = #expect(throws: TemplateStore.Failure.self) { try store.find(.output, "nope") }
    #expect(error?.description.contains("; \(refusal)") == true)
  }

  @Test(arguments: places, [Source.explicit, .environment])
  func oneThatWasAskedForIsAnError(place: String, source: TemplateSearchPath.Folder.Source) throws {
    let scratch = try folder(place, mode: 0o775)
    let failure = TemplateStore.Failure.refused(
      TemplateRefusal(path: "\(scratch.path)/\(place)", reason: .writableByOthers), source)
    #expect(throws: failure) { try store(scratch, source).find(.output, "mp4") }
    #expect(throws: failure) { try store(scratch, source).list() }
    #expect(failure.description.hasPrefix("$MEDIABRIDGE_PIPELINES: ") == (source == .environment))
  }

  /// Links are followed, to what is judged in their place.
  @Test func aLinkIsWhatItLeadsTo() throws {
    let scratch = try folder("a/output/mp4.pipeline", mode: 0o666)
    let files = FileManager.default
    try files.createDirectory(atPath: scratch.path + "/b/output", withIntermediateDirectories: true)
    for name in ["mp4", "mine"] {
      try files.createSymbolicLink(
        atPath: "\(scratch.path)/b/output/\(name).pipeline",
        withDestinationPath: "\(scratch.path)/a/output/\(name).pipeline")
    }
    let store = TemplateStore(searchPath: .init(folders: [.init(path: scratch.path + "/b", source: .user)]))
    let findings = try store.list()
    #expect(findings.entries.map(\.name) == ["mine"])
    #expect(findings.refusals.map(\.path) == ["\(scratch.path)/b/output/mp4.pipeline"])
  }

  /// What is read is judged again: it may be another file than the one that was listed.
  @Test func aFileThatChangesHandsIsNotRead() throws {
    let scratch = try folder("a", mode: 0o755)
    let store = store(scratch, .user)
    let entry = try #require(try store.list().entries.first { $0.folder.source == .user })
    _ = try store.read(entry)
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: entry.path)
    #expect(throws: TemplateStore.Failure.self) { try store.read(entry) }
  }

  @Test func aFolderThatWasAskedForAndIsNotThereIsAnError() throws {
    let scratch = try ScratchFolder()
    let error = #expect(throws: TemplateStore.Failure.self) { try store(scratch, .explicit).find(.output, "mp4") }
    #expect(error?.description == "\(scratch.path)/a cannot be used: there is no such folder")
    #expect(try store(scratch, .user).list().refusals.isEmpty)
  }

  @Test func onlyRootAndTheUserMayOwnWhatIsRun() {
    func reason(owner: uid_t, mode: mode_t = 0o755) -> TemplateRefusal.Reason? {
      var status = stat()
      (status.st_uid, status.st_mode) = (owner, mode)
      return TemplateRefusal.Reason(status, user: 1000)
    }
    #expect(reason(owner: 0) == nil && reason(owner: 1000) == nil)
    #expect(reason(owner: 1001) == .foreignOwner(1001))
    for mode: mode_t in [0o775, 0o757, 0o777, 0o1777] { #expect(reason(owner: 1000, mode: mode) == .writableByOthers) }
  }
}

private final class Told: Sendable {
  private let all = Mutex<[TemplateRefusal]>([])
  var refusals: [TemplateRefusal] { all.withLock { $0 } }
  func add(_ refusal: TemplateRefusal) { all.withLock { $0.append(refusal) } }
}
