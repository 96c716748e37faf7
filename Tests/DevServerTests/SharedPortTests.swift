import MediaCore
import Testing

@testable import DevServer

/// One port at several addresses, each of which has ports of its own that are taken.
@Suite struct SharedPortTests {
  private struct Taken: Error {}

  /// Two addresses, of which the first gives out ports from 1000 on.
  private final class Machine: Sendable {
    let next = Locked(1000)
    let listening = Locked<[Int]>([])
    private let takenAtTheSecond: ClosedRange<Int>

    init(takenAtTheSecond: ClosedRange<Int>) { self.takenAtTheSecond = takenAtTheSecond }

    var ports: [Int] { listening.withLock { $0 } }
    var given: Int { next.withLock { $0 } - 1000 }

    private func free() -> Int {
      next.withLock { next in
        defer { next += 1 }
        return next
      }
    }

    func listen(_ index: Int, _ port: Int) throws -> Int {
      let port = port == 0 ? free() : port
      if index == 1, takenAtTheSecond.contains(port) { throw Taken() }
      listening.withLock { $0.append(port) }
      return port
    }

    func bind(to port: Int) async throws -> Int {
      try await SharedPort.bind(
        2, to: port, open: { try listen($0, $1) }, closeAll: { listening.withLock { $0 = [] } })
    }
  }

  @Test func aPortThatIsTakenAtTheSecondIsGivenUpForAnother() async throws {
    let machine = Machine(takenAtTheSecond: 1000...1002)
    #expect(try await machine.bind(to: 0) == 1003)
    #expect(machine.ports == [1003, 1003])
  }

  @Test func itIsNotTriedForEver() async {
    let machine = Machine(takenAtTheSecond: 1000...9999)
    await #expect(throws: Taken.self) { try await machine.bind(to: 0) }
    #expect(machine.ports == [] && machine.given == 20)
  }

  @Test func aPortThatWasAskedForIsTheOnlyOne() async {
    let machine = Machine(takenAtTheSecond: 7880...7880)
    await #expect(throws: Taken.self) { try await machine.bind(to: 7880) }
    #expect(machine.ports == [] && machine.given == 0)
  }
}
