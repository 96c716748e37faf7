import MediaBridge

/// What a stream writes to: one reader, or as many as there are.
protocol RawReceiver: AnyObject, Sendable {
  /// For people.
  var name: String { get }
  /// Why nothing is written any more.
  var failure: LiveKitError? { get }
  /// Whether other streams write to it, too, and go on when one of them has ended.
  var isShared: Bool { get }
  /// Whether it is to hold all that comes, as a file or a folder of images is.
  var keepsAll: Bool { get }
  /// What each reader gets before all else. To be called before the first `put`.
  func begin(header: [UInt8])
  /// Never waits.
  func put(_ piece: RawPiece)
  /// A frame whose samples it has written to where it wants them.
  func put(_ frame: VideoFrame, note: RawNote)
  /// Notices a reader that goes while nothing comes for it. Called several times a second.
  func look()
  /// Writes what waits, for as long as something is taken; `failure` says when for so long nothing was. Only the first
  /// call counts.
  func finish(within patience: Duration) async
}

extension RawReceiver {
  var isShared: Bool { false }
  var keepsAll: Bool { false }
  /// What is too slow where it takes less than comes.
  var taker: String { keepsAll ? "disk" : "reader" }
  func look() {}

  func put(_ frame: VideoFrame, note: RawNote) {
    if let bytes = frame.packed() { put(RawPiece(.bytes(bytes), made: .now, note: note)) }
  }
}

/// One that several streams write to.
final class SharedReceiver: RawReceiver {
  private let all: any RawReceiver

  init(_ all: any RawReceiver) { self.all = all }

  var name: String { all.name }
  var failure: LiveKitError? { all.failure }
  var isShared: Bool { true }
  var keepsAll: Bool { all.keepsAll }
  func begin(header: [UInt8]) { all.begin(header: header) }
  func put(_ piece: RawPiece) { all.put(piece) }
  func put(_ frame: VideoFrame, note: RawNote) { all.put(frame, note: note) }
  func look() { all.look() }
  func finish(within patience: Duration) async { await all.finish(within: patience) }
}
