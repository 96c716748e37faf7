import BridgeTesting
import Foundation
import Testing

@testable import Egress
@testable import MediaBridge

@Suite("A file that could not be completed")
struct StoredFileTests {
  @Test func aPipeIsNotWaitedForAndAMissingFileHoldsNothing() throws {
    let folder = try TemporaryFolder()
    let pipe = "\(folder.path)/pipe.mp4"
    try #require(mkfifo(pipe, 0o600) == 0)
    for name in [pipe, "\(folder.path)/none.mp4", "/dev/full"] {
      let file = StoredFile(beingWritten: name)
      #expect(file.read() == nil && file.mend() == nil)
    }
  }

  @Test func whatCannotBeReadIsNotTouched() throws {
    let folder = try TemporaryFolder()
    let (path, text) = ("\(folder.path)/x.mp4", "nothing of ours")
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    #expect(StoredFile(beingWritten: path).mend() == nil)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
  }

  /// As a muxer leaves it that has made one box of all fragments, and finds no room for the index behind it.
  @Test func aDiskThatIsFullWhenTheFileIsCompletedLeavesItsFragments() throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/x.mp4"
    let fragments = MadeMP4.dataFirst
    try Data(fragments).write(to: URL(fileURLWithPath: path))
    let file = StoredFile(beingWritten: path)
    let long =
      MadeMP4.word(1) + Array("mdat".utf8) + MadeMP4.word(0) + MadeMP4.word(fragments.count - MadeMP4.head.count)
    let index = MadeMP4.index(ticks: 1600).dropLast(5)
    let hidden = MadeMP4.head + long + fragments.dropFirst(MadeMP4.head.count + long.count) + index
    try Data(hidden).write(to: URL(fileURLWithPath: path))
    #expect(file.read() == nil)
    #expect(file.mend() == StoredMedia(end: Int64(fragments.count), length: .milliseconds(1600)))
    #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data(fragments))
  }
}
