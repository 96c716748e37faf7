import Dispatch
import Egress
import Foundation
import MediaBridge
import MediaCore

/// A Unix socket, on which any number of readers may come and go. Each gets what is made from then on, and none waits for
/// another.
final class SocketOutput: RawReceiver {
  private struct State {
    var header: [UInt8]?
    /// What each reader is to know.
    var needed: [RawPiece] = []
    var readers: [RawOutput] = []
    /// Who came before there was a header.
    var waiting: [Int32] = []
    var written = 0
    /// For those who have gone.
    var dropped = 0
    var isOver = false
  }

  let name: String
  private let limits: RawQueue<InfoFields>.Limits
  private let tell: @Sendable (RawOutput.Fate, InfoFields) -> Void
  private let state = Locked(State())
  private let listener: UnixListener

  /// - Throws: where nobody can listen there.
  init(
    _ path: String, limits: RawQueue<InfoFields>.Limits,
    tell: @escaping @Sendable (RawOutput.Fate, InfoFields) -> Void
  ) throws(LiveKitError) {
    (name, self.limits, self.tell) = ("unix:\(path)", limits, tell)
    listener = try UnixListener(path, scheme: "unix")
    listener.start { [weak self] in self?.accept($0) }
  }

  var failure: LiveKitError? { nil }
  var counts: (written: Int, dropped: Int) {
    state.withLock { state in
      (state.written, state.readers.reduce(state.dropped) { $0 + $1.counts.dropped })
    }
  }

  func begin(header: [UInt8]) {
    let waiting = state.withLock { state in
      state.header = header
      defer { state.waiting = [] }
      return state.waiting
    }
    waiting.forEach(accept)
  }

  private func accept(_ descriptor: Int32) {
    let reader = RawOutput(DescriptorSink(descriptor, name: name), limits: limits) { _, _ in }
    state.withLock { state in
      guard let header = state.header else { return state.waiting.append(descriptor) }
      reader.begin(header: header)
      state.needed.forEach(reader.put)
      state.readers.append(reader)
    }
  }

  func put(_ piece: RawPiece) {
    let (readers, gone, number) = state.withLock { state -> ([RawOutput], [RawOutput], Int) in
      let gone = state.readers.filter { $0.failure != nil }
      state.dropped += gone.reduce(0) { $0 + $1.counts.dropped }
      state.readers.removeAll { $0.failure != nil }
      if piece.isNeeded { state.needed.append(piece) }
      defer { state.written += piece.note == nil ? 0 : 1 }
      return (state.readers, gone, state.written)
    }
    if let note = piece.note { tell(.written(number: number), note) }
    for reader in readers { reader.put(piece) }
    for reader in gone { Task { await reader.finish(within: .zero) } }
  }

  func finish(within patience: Duration) async {
    let readers = state.withLock { state in
      defer { state.isOver = true }
      return state.isOver ? [] : state.readers
    }
    listener.stop()
    await withTaskGroup { group in
      for reader in readers { group.addTask { await reader.finish(within: patience) } }
    }
  }
}
