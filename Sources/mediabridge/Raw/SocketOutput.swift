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
    var needed = NeededPieces<RawNote>()
    var readers: [RawOutput] = []
    /// How many there were.
    var readerCount = 0
    /// Who came before there was a header.
    var waiting: [Int32] = []
    var written = 0
    var isOver = false
  }

  let name: String
  private let limits: RawLimits
  private let say: @Sendable (String) -> Void
  private let tell: @Sendable (RawOutput.Fate, RawNote) -> Void
  private let state = Locked(State())
  private let listener: UnixListener

  /// - Parameters:
  ///   - say: for people: which reader is too slow.
  ///   - tell: what becomes of each piece, and which reader it was dropped for.
  /// - Throws: where nobody can listen there.
  init(
    _ path: String, limits: RawLimits, say: @escaping @Sendable (String) -> Void,
    tell: @escaping @Sendable (RawOutput.Fate, RawNote) -> Void
  ) throws(LiveKitError) {
    (name, self.limits, self.say, self.tell) = ("unix:\(path)", limits, say, tell)
    listener = try UnixListener(path, scheme: "unix")
    listener.start { [weak self] in self?.accept($0) }
  }

  var failure: LiveKitError? { nil }

  func begin(header: [UInt8]) {
    let waiting = state.withLock { state in
      state.header = header
      defer { state.waiting = [] }
      return state.waiting
    }
    waiting.forEach(accept)
  }

  private func accept(_ descriptor: Int32) {
    state.withLock { state in
      guard !state.isOver else {
        close(descriptor)
        return
      }
      guard let header = state.header else {
        // Whoever tries again and again is here once.
        state.waiting.removeAll { RawDescriptor.isHungUp($0) && close($0) == 0 }
        return state.waiting.append(descriptor)
      }
      state.readerCount += 1
      let reader = reader(descriptor, number: state.readerCount)
      reader.begin(header: header)
      state.needed.all.forEach(reader.put)
      state.readers.append(reader)
    }
  }

  private func reader(_ descriptor: Int32, number: Int) -> RawOutput {
    let sink = DescriptorSink(descriptor, name: "\(name): reader \(number)")
    return RawOutput(sink, limits: limits, say: say) { [tell] fate, note in
      // What is written is, whoever reads it.
      guard case .dropped = fate else { return }
      var note = note
      note.fields["reader"] = number
      tell(.dropped, note)
    }
  }

  func put(_ piece: RawPiece) {
    let (readers, gone, number) = state.withLock { state -> ([RawOutput], [RawOutput], Int) in
      let gone = state.readers.filter { $0.failure != nil }
      state.readers.removeAll { $0.failure != nil }
      state.needed.keep(piece)
      defer { state.written += piece.note == nil ? 0 : 1 }
      return (state.readers, gone, state.written)
    }
    if let note = piece.note { tell(.written(number: number), note) }
    for reader in readers { reader.put(piece) }
    for reader in gone { Task { await reader.finish(within: .zero) } }
  }

  func finish(within patience: Duration) async {
    // From here on nobody comes.
    listener.stop()
    let (readers, waiting) = state.withLock { state -> ([RawOutput], [Int32]) in
      defer { (state.readers, state.waiting, state.isOver) = ([], [], true) }
      return (state.readers, state.waiting)
    }
    for descriptor in waiting { close(descriptor) }
    await withTaskGroup { group in
      for reader in readers { group.addTask { await reader.finish(within: patience) } }
    }
  }
}
