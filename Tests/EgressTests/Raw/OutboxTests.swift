import Egress
import MediaCore
import Testing

@Suite struct OutboxTests {
  @Test func oneHandsOnForAll() {
    var outbox = Outbox<Int>()
    let isAsked = [outbox.add([]), outbox.add([1, 2]), outbox.add([3])]
    #expect(isAsked == [false, true, false])
    let first = outbox.next()
    let isAskedMeanwhile = outbox.add([4])
    let rest = [outbox.next(), outbox.next()]
    #expect(first == [1, 2, 3] && !isAskedMeanwhile && rest == [[4], nil])
    let isAskedAnew = outbox.add([5])
    #expect(isAskedAnew)
  }

  /// Numbers that four threads draw one after the other.
  @Test func orderIsThatOfMaking() async {
    let state = Locked((number: 0, outbox: Outbox<Int>()))
    let handedOn = Locked<[Int]>([])
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<1000 {
            let isMine = state.withLock { state in
              state.number += 1
              return state.outbox.add([state.number])
            }
            while isMine, let numbers = state.withLock({ $0.outbox.next() }) {
              handedOn.withLock { $0 += numbers }
            }
          }
        }
      }
    }
    #expect(handedOn.withLock { $0 } == Array(1...4000))
  }
}
