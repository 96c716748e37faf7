import Egress
import Foundation
import MediaBridge
import MediaCore

/// Frames in a memory that readers share, which GStreamer's `shmsrc` reads without a copy: a socket on which readers learn
/// where each frame is, and a file beside it with the caps.
///
/// It speaks as `shmsink` does, and not through it: there a reader that gives nothing back stops all others.
final class SharedMemoryOutput: RawReceiver {
  fileprivate struct State {
    var places = SharedPlaces(size: 1, limit: 1)
    var area: SharedArea?
    var readers: [Int: SharedReader] = [:]
    /// How many there were.
    var readerCount = 0
    var written = 0
    /// Whether a reader had no room for a frame.
    var isSlow = false
    /// Whether the machine had none.
    var isFull = false
    var isOver = false
    var failure: LiveKitError?
  }

  fileprivate static let limit = 256_000_000
  let name: String
  private let capsFile: String
  private let tell: @Sendable (RawOutput.Fate, RawNote) -> Void
  private let say: @Sendable (String) -> Void
  /// Held while a frame is copied.
  private let state = Locked(State())
  private let listener: UnixListener

  /// - Parameters:
  ///   - tell: what becomes of each frame, and which reader had no room for it.
  ///   - say: for people: who gets nothing.
  ///   - replaces: whether the file of the caps may hold something else.
  /// - Throws: where nobody can listen there, or that file is somebody else's.
  init(
    _ path: String, replaces: Bool, tell: @escaping @Sendable (RawOutput.Fate, RawNote) -> Void,
    say: @escaping @Sendable (String) -> Void
  ) throws(LiveKitError) {
    (name, capsFile, self.tell, self.say) = ("shm:\(path)", "\(path).caps", tell, say)
    if !replaces, !Self.mayReplace(capsFile) {
      throw LiveKitError(
        .output,
        "shm:\(path): the caps go into \(capsFile), which holds something else; give another name, or --overwrite to "
          + "replace it")
    }
    listener = try UnixListener(path, scheme: "shm")
    // Of one that was killed: readers are to wait for the caps of this one.
    unlink(capsFile)
    listener.start { [weak self] in self?.accept($0) }
  }

  /// Whether it is not there, empty, or caps that one of this kind has left over.
  private static func mayReplace(_ file: String) -> Bool {
    var status = stat()
    guard lstat(file, &status) == 0 else { return true }
    guard status.st_mode & S_IFMT == S_IFREG, status.st_size < 1000 else { return false }
    let text = (try? String(contentsOfFile: file, encoding: .utf8)) ?? "?"
    return text.isEmpty || text.hasPrefix(RawFormat.mediaType)
  }

  var failure: LiveKitError? { state.withLock { $0.failure } }

  /// - Parameter header: the caps.
  func begin(header: [UInt8]) {
    let unfinished = "\(capsFile).part"
    do {
      try Data(header).write(to: URL(fileURLWithPath: unfinished))
      guard rename(unfinished, capsFile) == 0 else { throw RawDescriptor.failure(capsFile) }
    } catch {
      let reason = LiveKitError(.output, "\(capsFile): \(error.systemReason)", fault: .destination)
      state.withLock { $0.failure = error as? LiveKitError ?? reason }
    }
  }

  private func accept(_ descriptor: Int32) {
    let (isTaken, isOver) = state.withLock { state in
      // Readers that have gone may not have been missed yet.
      state.hear()
      let isTaken = !state.isOver && state.readers.count < SharedPlaces.mostReaders
      if isTaken {
        state.readerCount += 1
        state.readers[state.readerCount] = SharedReader(descriptor)
      }
      return (isTaken, state.isOver)
    }
    guard !isTaken else { return }
    close(descriptor)
    if !isOver { say("\(name): a reader was turned away, since \(SharedPlaces.mostReaders) read already") }
  }

  func put(_ piece: RawPiece) {
    guard case .bytes(let bytes) = piece.body else { return }
    put(
      Samples(count: bytes.count) { target in
        target.copyBytes(from: bytes)
        return true
      }, piece.note)
  }

  func put(_ frame: VideoFrame, note: RawNote) {
    if let count = frame.alignedSize { put(Samples(count: count, write: frame.align), note) }
  }

  private func put(_ samples: Samples, _ note: RawNote?) {
    let shown = state.withLock { state -> Shown? in
      guard !state.isOver, state.failure == nil else { return nil }
      return state.show(samples, name: name)
    }
    guard let note, let shown else { return }
    switch shown {
    case .written(let number, let lacking):
      tell(.written(number: number), note)
      tellLack(of: lacking, note)
    case .unheld:
      tell(.dropped, note)
      guard state.set(\.isFull, to: true) else { return }
      say("\(name): /dev/shm has no room for more frames than readers hold, who get fewer; \(SharedArea.advice)")
    }
  }

  /// - Parameter readers: those that have no room for a frame.
  private func tellLack(of readers: [Int], _ note: RawNote) {
    if !readers.isEmpty, state.set(\.isSlow, to: true) {
      say("\(name): a reader holds all that it may, and gets nothing until it gives something back")
    }
    for reader in readers {
      var note = note
      note.fields["reader"] = reader
      tell(.dropped, note)
    }
  }

  func finish(within patience: Duration) async {
    guard !state.withLock({ $0.isOver }) else { return }
    state.withLock { $0.isOver = true }
    listener.stop()
    let deadline = MediaTime.now + patience
    // What it has not read when the socket is closed it never learns.
    while .now < deadline, !state.withLock({ $0.readers.values.allSatisfy(\.hasReadAll) }) {
      try? await Task.sleep(for: .milliseconds(10))
    }
    state.withLock { state in
      for reader in state.readers.values { reader.end() }
      (state.readers, state.area) = ([:], nil)
    }
    unlink(capsFile)
  }
}

/// Of a frame, which are written once, to their place.
private struct Samples {
  var count: Int
  /// False where they cannot be read.
  var write: (UnsafeMutableRawBufferPointer) -> Bool
}

/// What has become of a frame.
private enum Shown {
  /// - Parameters:
  ///   - number: how many there were before.
  ///   - lacking: the readers that have no room for it.
  case written(number: Int, lacking: [Int])
  /// The machine has no memory for it.
  case unheld
}

extension SharedMemoryOutput.State {
  /// - Returns: nil where none can be shown, as `failure` says.
  fileprivate mutating func show(_ frame: Samples, name: String) -> Shown? {
    hear()
    guard let area = area(for: frame, name) else { return nil }
    for number in readers.keys where readers[number]?.isIntroduced == false {
      if readers[number]?.introduce(area) == false { remove(number) }
    }
    let all = readers.keys.sorted()
    let ready = all.filter { places.hasRoom(for: $0) }
    guard !ready.isEmpty, frame.count <= area.place, let place = places.free else { return count(lacking: all) }
    guard let memory = area.memory(at: place) else { return lackMemory(area, name) }
    guard frame.write(memory) else { return count(lacking: all) }
    for number in ready { show(place, frame.count, in: area, to: number) }
    return count(lacking: all.filter { !ready.contains($0) })
  }

  private mutating func count(lacking: [Int]) -> Shown {
    defer { written += 1 }
    return .written(number: written, lacking: lacking)
  }

  private mutating func lackMemory(_ area: SharedArea, _ name: String) -> Shown? {
    guard area.isEmpty else { return .unheld }
    failure = LiveKitError(
      .output, "\(name): /dev/shm has no room for a frame of \(area.place) bytes; \(SharedArea.advice)",
      fault: .destination)
    return nil
  }

  private mutating func show(_ place: Int, _ size: Int, in area: SharedArea, to number: Int) {
    places.give(place, to: number)
    if readers[number]?.show(place * area.place, size) == false { remove(number) }
  }

  /// The first frame says how large the memory is.
  private mutating func area(for frame: Samples, _ name: String) -> SharedArea? {
    if let area { return area }
    places = SharedPlaces(size: frame.count, limit: SharedMemoryOutput.limit)
    do throws(LiveKitError) {
      let made = try SharedArea(place: frame.count, count: places.count)
      area = made
      return made
    } catch {
      failure = LiveKitError(error.code, "\(name): \(error.message)", fault: error.fault)
      return nil
    }
  }

  /// Takes back what readers have done with.
  fileprivate mutating func hear() {
    for number in readers.keys {
      guard let offsets = readers[number]?.givenBack() else {
        remove(number)
        continue
      }
      guard let area else { continue }
      for offset in offsets { _ = places.takeBack(offset / area.place, from: number) }
    }
  }

  private mutating func remove(_ number: Int) {
    places.remove(number)
    readers.removeValue(forKey: number)?.end()
  }
}
