/// Told what happens to one track, on the room's queue. Held weakly. Every method has an empty default.
public protocol TrackDelegate: AnyObject {
  /// The pictures that follow have another size.
  func track(_ track: any VideoTrack, didUpdateDimensions dimensions: Dimensions?)
}

extension TrackDelegate {
  public func track(_ track: any VideoTrack, didUpdateDimensions dimensions: Dimensions?) {}
}
