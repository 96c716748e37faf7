import Testing

@testable import PeerTransport

@Suite("Messages in parts")
struct MessageAssemblyTests {
  @Test func partsOfEachStreamAreOneMessage() {
    var assembly = MessageAssembly(limit: 10)
    #expect(assembly.add([1], of: 0, isEnd: false) == nil)
    #expect(assembly.add([7], of: 2, isEnd: true) == [7])
    #expect(assembly.add([2, 3], of: 0, isEnd: true) == [1, 2, 3])
    #expect(assembly.add([4], of: 0, isEnd: true) == [4])
  }

  @Test func whatIsTooLongIsLeftOutUpToItsEnd() {
    var assembly = MessageAssembly(limit: 3)
    #expect(assembly.add([1, 2], of: 0, isEnd: false) == nil)
    #expect(assembly.add([3, 4], of: 0, isEnd: false) == nil)
    #expect(assembly.add([5], of: 0, isEnd: false) == nil)
    #expect(assembly.add([6], of: 2, isEnd: true) == [6])
    #expect(assembly.add([7], of: 0, isEnd: true) == nil)
    #expect(assembly.add([8], of: 0, isEnd: true) == [8])
    // One that is too long as a whole.
    #expect(assembly.add([1, 2, 3, 4], of: 0, isEnd: true) == nil)
    #expect(assembly.add([1, 2, 3], of: 0, isEnd: true) == [1, 2, 3])
  }
}
