import MediaBridge

/// What a stream writes to: one reader, or as many as there are.
protocol RawReceiver: AnyObject, Sendable {
  /// For people.
  var name: String { get }
  /// Why nothing is written any more.
  var failure: LiveKitError? { get }
  var counts: (written: Int, dropped: Int) { get }
  /// What each reader gets before all else. To be called before the first `put`.
  func begin(header: [UInt8])
  /// Never waits.
  func put(_ piece: RawPiece)
  /// A frame whose samples it has written to where it wants them.
  func put(_ frame: VideoFrame, note: InfoFields?)
  /// Writes what waits, for as long as something is taken; `failure` says when for so long nothing was. Only the first
  /// call counts.
  func finish(within patience: Duration) async
}

extension RawReceiver {
  func put(_ frame: VideoFrame, note: InfoFields?) {
    if let bytes = frame.packed() { put(RawPiece(.bytes(bytes), made: .now, note: note)) }
  }
}
