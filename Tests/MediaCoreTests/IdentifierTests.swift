import MediaCore
import Testing

@Suite("Identifiers and locks")
struct IdentifierTests {
  @Test func payloadTypesHaveSevenBits() {
    #expect(PayloadType(0xe0) == PayloadType(96))
    #expect(PayloadType(rawValue: 255).description == "127")
    #expect(SSRC(.max).description == "4294967295")
  }

  @Test func lockedValueTakesEveryWrite() async {
    let counter = Locked(0)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 { group.addTask { for _ in 0..<1000 { counter.withLock { $0 += 1 } } } }
    }
    #expect(counter.withLock { $0 } == 8000)
  }
}
