import Foundation
import Testing

@testable import PipelineTemplates

/// Folders of one test, gone when it ends.
final class ScratchFolder {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/templates-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func write(_ file: String, _ bytes: Data) throws {
    let full = URL(fileURLWithPath: path + "/" + file)
    try FileManager.default.createDirectory(at: full.deletingLastPathComponent(), withIntermediateDirectories: true)
    try bytes.write(to: full)
  }

  func write(_ file: String, _ text: String) throws { try write(file, Data(text.utf8)) }

  func store(_ folders: String...) -> TemplateStore {
    TemplateStore(searchPath: .init(folders: folders.map { .init(path: "\(path)/\($0)", source: .user) }))
  }
}

@Suite struct LookupTests {
  @Test func searchesInTheAgreedOrder() {
    let path = TemplateSearchPath(
      explicit: "mine",
      environment: ["MEDIABRIDGE_PIPELINES": "/env", "XDG_CONFIG_HOME": "/config", "HOME": "/home/u"],
      executable: "/opt/bridge/bin/mediabridge", currentFolder: "/work", isCheckout: { _ in true })
    #expect(
      path.folders == [
        .init(path: "/work/mine", source: .explicit), .init(path: "/env", source: .environment),
        .init(path: "/config/mediabridge/pipelines", source: .user),
        .init(path: "/opt/bridge/share/mediabridge/pipelines", source: .installed), .builtIn,
      ])
  }

  /// A program that was built in a checkout of this library takes its texts, wherever it is started.
  @Test(arguments: ["/src/.build/x86_64-unknown-linux-gnu/debug/mediabridge", "/src/.build-tsan/debug/tests.xctest"])
  func aCheckoutServesItsOwnPrograms(executable: String) {
    let path = TemplateSearchPath(
      explicit: nil, environment: [:], executable: executable, currentFolder: "/work",
      isCheckout: { $0 == "/src" })
    #expect(path.folders == [.init(path: "/src/pipelines", source: .checkout), .builtIn])
  }

  /// Whatever folders called `pipelines` lie above a program or above where it is started are somebody else's.
  @Test(arguments: [
    "/src/.build/debug/other-program", "/src/mediabridge", "/src/pipelines/mediabridge", "/mediabridge", nil,
  ])
  func foldersAboveAreNotSearched(executable: String?) {
    let path = TemplateSearchPath(
      explicit: nil, environment: [:], executable: executable, currentFolder: "/src/deep", isCheckout: { _ in false })
    #expect(path.folders == [.builtIn])
  }

  /// This very program is built in the checkout; one of another package would have the same folder above it.
  @Test func aCheckoutIsKnownByItsSources() throws {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..").standardized
    #expect(TemplateSearchPath.isCheckout(root.path))
    let scratch = try ScratchFolder()
    try scratch.write("pipelines/output/mp4.pipeline", "fakesrc ! fakesink")
    try scratch.write("Package.swift", "")
    #expect(!TemplateSearchPath.isCheckout(scratch.path))
  }

  @Test func passesOverEmptyAndRelativeEnvironment() {
    let path = TemplateSearchPath(
      explicit: nil, environment: ["MEDIABRIDGE_PIPELINES": "", "XDG_CONFIG_HOME": "relative", "HOME": "/home/u"],
      executable: nil, currentFolder: "/", isCheckout: { _ in false })
    #expect(path.folders == [.init(path: "/home/u/.config/mediabridge/pipelines", source: .user), .builtIn])
  }

  @Test func firstFileWinsAndOthersAreMarked() throws {
    let scratch = try ScratchFolder()
    try scratch.write("a/output/mp4.pipeline", "# first\nfakesrc ! fakesink name=video")
    try scratch.write("b/output/mp4.pipeline", "# second\nfakesrc ! fakesink")
    try scratch.write("b/output/hls.pipeline", "fakesrc ! fakesink")
    try scratch.write("b/output/notes.txt", "not a template")
    try scratch.write("b/output/folder.pipeline/x", "not a file")
    let store = scratch.store("missing", "a", "b")
    #expect(try store.find(.output, "mp4").summary == "first")
    let entries = try store.list().entries
    #expect(entries.map(\.name) == ["hls", "mp4", "mp4"])
    #expect(entries.map(\.shadowedBy) == [nil, nil, "\(scratch.path)/a/output/mp4.pipeline"])
  }

  @Test func saysWhereItLookedAndWhatIsNear() throws {
    let scratch = try ScratchFolder()
    try scratch.write("a/output/record.pipeline", "fakesrc ! fakesink")
    let error = #expect(throws: TemplateStore.Failure.self) { try scratch.store("a").find(.output, "recrod") }
    #expect(
      error
        == .notFound(
          kind: .output, name: "recrod", searched: ["\(scratch.path)/a/output"], known: ["record"], nearest: "record",
          refusals: []))
    #expect(error?.description.contains("\"recrod\"; did you mean record? There are: record. Looked in: ") == true)
    let far = #expect(throws: TemplateStore.Failure.self) { try scratch.store("a").find(.output, "nope") }
    #expect(far?.description.contains("\"nope\". There are: record. Looked in: ") == true)
  }

  @Test(arguments: ["", ".", "..", "../x", "a/b", "/etc/passwd", "a\0b", ".hidden"])
  func refusesNamesThatArePaths(name: String) throws {
    let scratch = try ScratchFolder()
    try scratch.write("x.pipeline", "fakesrc ! fakesink")
    #expect(throws: TemplateStore.Failure.badName(name)) { try scratch.store("a").find(.output, name) }
  }

  @Test func whatAnEditorPutsInFrontIsPassedOver() throws {
    let scratch = try ScratchFolder()
    try scratch.write("a/output/marked.pipeline", "\u{FEFF}# What it does.\nfakesrc ! fakesink\n")
    let template = try scratch.store("a").find(.output, "marked")
    #expect(template.summary == "What it does.")
    #expect(try template.fill([:]).elements.map(\.factory) == ["fakesrc", "fakesink"])
  }

  @Test func refusesWhatIsNoText() throws {
    let scratch = try ScratchFolder()
    try scratch.write("a/output/binary.pipeline", Data([0x66, 0xff, 0xfe]))
    try scratch.write("a/output/large.pipeline", Data(repeating: 0x20, count: Template.byteLimit + 1))
    let file = "\(scratch.path)/a/output/binary.pipeline"
    #expect(throws: TemplateStore.Failure.template(TemplateError(file: file, .notUTF8))) {
      try scratch.store("a").find(.output, "binary")
    }
    let error = #expect(throws: TemplateStore.Failure.self) { try scratch.store("a").find(.output, "large") }
    #expect(error?.description.contains("too many") == true)
  }
}
