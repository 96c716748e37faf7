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
        .invalidParameter,
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
    let (number, lacking, isNews) = state.withLock { state -> (Int?, [Int], Bool) in
      guard !state.isOver, state.failure == nil else { return (nil, [], false) }
      let lacking = state.show(samples, name: name)
      defer { (state.written, state.isSlow) = (state.written + 1, state.isSlow || !lacking.isEmpty) }
      return (state.written, lacking, !state.isSlow && !lacking.isEmpty)
    }
    guard let note, let number else { return }
    tell(.written(number: number), note)
    if isNews { say("\(name): a reader holds all that it may, and gets nothing until it gives something back") }
    for reader in lacking {
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

extension SharedMemoryOutput.State {
  /// - Returns: the readers that have no room for it.
  fileprivate mutating func show(_ frame: Samples, name: String) -> [Int] {
    hear()
    guard let area = area(for: frame, name) else { return [] }
    for number in readers.keys where readers[number]?.isIntroduced == false {
      if readers[number]?.introduce(area) == false { remove(number) }
    }
    let ready = readers.keys.filter { places.hasRoom(for: $0) }.sorted()
    var lacking = readers.keys.filter { !ready.contains($0) }.sorted()
    if !ready.isEmpty {
      if frame.count <= area.place, let place = places.free, let memory = area.memory(at: place), frame.write(memory) {
        for number in ready { show(place, frame.count, in: area, to: number) }
      } else {
        lacking = readers.keys.sorted()
      }
    }
    return lacking
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
