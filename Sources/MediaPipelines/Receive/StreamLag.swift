public import MediaCore

/// How far a stream is behind because of what is done with its frames on its own thread. Pure.
public struct StreamLag: Sendable {
  /// Zero while the work on the frames takes less time than the frames last.
  public private(set) var current = Duration.zero
  private var newest: MediaTime?

  /// It is not behind yet.
  public init() {}

  /// A frame comes; what lies between it and the one before is made up for.
  /// - Parameter time: of the frame in the stream. Without one nothing is known of how long frames last.
  public mutating func advance(to time: MediaTime?) {
    let gain = newest.flatMap { newest in time.map { max(.zero, $0 - newest) } }
    current = gain.map { max(.zero, current - $0) } ?? .zero
    newest = time
  }

  /// The work on the frame took so long.
  public mutating func add(_ spent: Duration) { current += spent }
}
