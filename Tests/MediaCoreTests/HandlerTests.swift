import MediaCore
import Testing

@Suite struct HandlerTests {
  /// What is wrapped anew by each call grows until the stack is too small for it.
  @Test func theThousandthCallGoesNoDeeperThanTheFirst() {
    let depths = Locked<[Int]>([])
    let handler = Handler<Int> { argument in
      let address = withUnsafePointer(to: argument) { Int(bitPattern: $0) }
      depths.withLock { $0.append(address) }
    }
    for number in 0..<1000 { handler.call(number) }
    #expect(Set(depths.withLock { $0 }).count == 1)
  }

  @Test func aReplacedClosureIsToldNoMore() {
    let told = Locked<[String]>([])
    let handler = Handler<String> { _ in }
    handler.set { text in told.withLock { $0.append("first \(text)") } }
    handler.call("a")
    handler.set { text in told.withLock { $0.append("second \(text)") } }
    handler.call("b")
    #expect(told.withLock { $0 } == ["first a", "second b"])
  }
}
