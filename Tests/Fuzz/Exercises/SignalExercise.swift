import LiveKitProtocol
import MediaCore
import SwiftProtobuf

extension Exercise {
  /// A step is a message; an empty one is a text frame. Timers fire in between as a shell would let them.
  func signal(_ steps: Steps) -> Int {
    var delivered = 0
    let start = MediaTime(nanoseconds: 0)
    for opening in [SignalState.Opening.join, .resume(nil)] {
      var machine = SignalMachine(state: SignalState(opening, at: start, limit: .seconds(10)))
      for step in steps { machine.take(step.bytes, at: step.time) }
      delivered += machine.delivered
    }
    return delivered
  }
}

private struct SignalMachine {
  var state: SignalState
  private(set) var delivered = 0
  private var hasEnded = false

  init(state: SignalState) { self.state = state }

  mutating func take(_ bytes: [UInt8], at time: MediaTime) {
    // An interval of a second and the longest delay of a step: no more than this many timers.
    for _ in 0..<60 {
      guard let deadline = state.nextDeadline, deadline <= time else { break }
      perform(state.poll(at: deadline))
      precondition(state.nextDeadline.map { $0 > deadline } ?? true, "a deadline that passes again and again")
    }
    perform(bytes.isEmpty ? state.receiveText() : state.receive(bytes, at: time))
    precondition((0...3_600_000).contains(state.roundTrip))
    precondition(state.refreshedToken.map(TokenText.isWellFormed) ?? true)
  }

  private mutating func perform(_ actions: [SignalState.Action]) {
    precondition(actions.isEmpty || !hasEnded, "something comes after the end")
    for action in actions {
      switch action {
      case .send(let request): precondition((try? request.serializedBytes() as [UInt8])?.isEmpty == false)
      case .deliver(let response):
        delivered += 1
        let again = (try? response.serializedBytes() as [UInt8]).flatMap {
          try? Livekit_SignalResponse(serializedBytes: $0)
        }
        precondition(again != nil, "a message that was read cannot be written and read again")
      case .end: hasEnded = true
      }
    }
    precondition(hasEnded == state.isEnded)
  }
}
