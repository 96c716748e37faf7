import Foundation
import MediaCore
import Testing

@Suite struct SystemReasonTests {
  @Test func fileThatIsMissingIsCalledSo() {
    let error = #expect(throws: (any Error).self) { try Data(contentsOf: URL(fileURLWithPath: "/nowhere/at/all")) }
    #expect(error?.systemReason == "No such file or directory")
  }

  @Test func folderIsNoFile() {
    let error = #expect(throws: (any Error).self) { try Data(contentsOf: URL(fileURLWithPath: "/")) }
    #expect(error?.systemReason == "Is a directory")
  }

  @Test func folderThatCannotBeMadeSaysWhy() {
    let error = #expect(throws: (any Error).self) {
      try FileManager.default.createDirectory(atPath: "/dev/null/x", withIntermediateDirectories: true)
    }
    #expect(error?.systemReason == "Not a directory")
  }

  @Test func otherErrorsSpeakForThemselves() {
    #expect(CocoaError(.fileReadUnknown).systemReason == CocoaError(.fileReadUnknown).localizedDescription)
  }
}
