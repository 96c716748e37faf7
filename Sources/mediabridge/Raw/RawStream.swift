import MediaBridge

/// What is made of tracks for one reader.
protocol RawStream: AnyObject, Sendable {
  /// For people.
  var name: String { get }
  /// From now on it takes what comes of this track.
  func attach(_ publication: RemoteTrackPublication, of participant: RemoteParticipant)
  /// It takes nothing of this one any more.
  func detach(_ publication: RemoteTrackPublication)
  func setMuted(_ isMuted: Bool, _ publication: RemoteTrackPublication)
  /// Called every 100 ms or so.
  func tick()
  func finish() async
  /// Whether all is there that was asked for.
  var isDone: Bool { get }
  /// Whether something has come.
  var hasBegun: Bool { get }
  /// Why nothing goes to the reader any more.
  var failure: LiveKitError? { get }
  var report: RawReport { get }
}

/// What has gone to a reader.
struct RawReport: Sendable {
  var name: String
  var written: Int
  var dropped: Int
  /// Seconds.
  var duration: Double
  var size: String?
}
