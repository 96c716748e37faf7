/// Told what happens to one track, on the room's queue. Held weakly. Every method has an empty default.
public protocol TrackDelegate: AnyObject {
  /// The frames that follow have another size.
  func track(_ track: any VideoTrack, didUpdateDimensions dimensions: Dimensions?)
  /// What was measured of it, each second while that is on.
  /// - Parameter simulcastStatistics: of the other codecs that a track is sent in: none for tracks of others.
  func track(
    _ track: Track, didUpdateStatistics statistics: TrackStatistics,
    simulcastStatistics: [VideoCodec: TrackStatistics])
}

extension TrackDelegate {
  public func track(_ track: any VideoTrack, didUpdateDimensions dimensions: Dimensions?) {}
  public func track(
    _ track: Track, didUpdateStatistics statistics: TrackStatistics,
    simulcastStatistics: [VideoCodec: TrackStatistics]
  ) {}
}
