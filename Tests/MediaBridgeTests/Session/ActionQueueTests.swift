import Testing

@testable import MediaBridge

@Suite("What a session is to do")
struct ActionQueueTests {
  private func isMatch(_ action: SessionAction?) -> Bool {
    if case .connection(.matchTracks)? = action { true } else { false }
  }

  @Test func whatIsFoundOutOnTheWayIsDoneAfterwards() {
    var queue = ActionQueue()
    queue.add([.connection(.learnCodecs), .connection(.learnCodecs)])
    #expect(queue.begin() == true)
    #expect(queue.next() != nil)
    queue.add([.connection(.matchTracks)])
    // Who performs already comes to it.
    #expect(queue.begin() == false)
    #expect(isMatch(queue.next()) == false)
    #expect(isMatch(queue.next()) == true)
    #expect(queue.next() == nil)
    #expect(queue.begin() == true)
  }
}
