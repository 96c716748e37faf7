import Foundation
import Testing

@testable import PipelineTemplates

/// The texts inside the library.
@Suite struct BuiltInTemplatesTests {
  private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("../../pipelines").standardized.path

  @Test func theyAreThoseOfTheFolder() throws {
    let store = TemplateStore(searchPath: .init(folders: [.init(path: Self.folder, source: .explicit)]))
    let files = try store.list().entries.map { entry in
      ("\(entry.kind.rawValue)/\(entry.name)", try store.read(entry).text)
    }
    #expect(
      Dictionary(uniqueKeysWithValues: files) == BuiltInTemplates.texts, "run `make templates` and commit what it makes"
    )
  }

  @Test func withoutAFolderAllAreFound() throws {
    let path = TemplateSearchPath(
      explicit: nil, environment: [:], executable: nil, currentFolder: "/", isCheckout: { _ in false })
    let store = TemplateStore(searchPath: path)
    let findings = try store.list()
    #expect(findings.entries.count == BuiltInTemplates.texts.count && findings.refusals.isEmpty)
    for entry in findings.entries {
      let template = try store.find(entry.kind, entry.name)
      #expect(template.file == "(inside the program)/\(entry.kind.rawValue)/\(entry.name).pipeline")
      #expect(!template.summary.isEmpty)
    }
    let error = #expect(throws: TemplateStore.Failure.self) { try store.find(.output, "nope") }
    #expect(error?.description.hasSuffix("Looked in: (inside the program)/output") == true)
  }

  @Test func anyFolderGoesBeforeThem() throws {
    let scratch = try ScratchFolder()
    try scratch.write("a/receive/vp8.pipeline", "# mine\nappsrc name=rtp ! appsink name=frames")
    let store = TemplateStore(
      searchPath: .init(folders: [.init(path: scratch.path + "/a", source: .user), .builtIn]))
    #expect(try store.find(.receive, "vp8").summary == "mine")
    #expect(try store.find(.receive, "vp9").file == "(inside the program)/receive/vp9.pipeline")
    let hidden = try store.list().entries.filter { $0.shadowedBy != nil }
    #expect(hidden.map(\.path) == ["(inside the program)/receive/vp8.pipeline"])
  }
}
