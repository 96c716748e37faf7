public import Foundation
import MediaCore

/// What its sender said of a frame, or of a stretch of audio.
public struct FrameOrigin: Sendable, Equatable {
  /// As its packets had it, in ticks from a beginning that the sender chose.
  public let rtpTimestamp: UInt32
  /// Ticks a second: 90 000 of video, 48 000 of Opus.
  public let clockRate: Int
  /// When it was taken, on the sender's wall clock; nil before a sender report tells it, some seconds after the track
  /// begins. A server between may have put its own clock in its place.
  public let captured: Date?
}

extension RemoteVideoTrack {
  /// What the sender said of a frame that has just come; nil for one that is older than a few seconds, and for one of
  /// another track.
  public func origin(of frame: VideoFrame) -> FrameOrigin? {
    incoming?.origin(at: frame.time)
  }
}

extension RemoteAudioTrack {
  /// What the sender said of audio that has just come, in the format of the decoder; nil for older audio, for what was
  /// converted for a renderer or stands in for what was lost, and for that of another track.
  public func origin(of buffer: AudioPCMBuffer) -> FrameOrigin? { incoming?.origin(at: buffer.time) }
}

extension TrackMedia {
  /// Of what was sent for that time; nil where nothing was, or not of late.
  fileprivate func origin(at time: MediaTime) -> FrameOrigin? {
    clock.origin(trackSid, at: time).map {
      FrameOrigin(rtpTimestamp: $0.timestamp, clockRate: clockRate, captured: $0.wall?.date)
    }
  }
}

extension NTPTime {
  private static let unixEpoch = 2_208_988_800.0

  /// In the era that ends in 2036, or the one after.
  fileprivate var date: Date {
    let seconds = Double(nanoseconds) / 1e9 - Self.unixEpoch
    return Date(timeIntervalSince1970: seconds < 0 ? seconds + 4_294_967_296 : seconds)
  }
}
