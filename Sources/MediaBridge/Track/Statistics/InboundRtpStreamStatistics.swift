/// How a stream arrives, under the names of "Identifiers for WebRTC's Statistics API" (W3C), whose definitions hold
/// unless said otherwise. What does not exist for a kind of media or is not known is nil.
///
/// Counts are since the track was subscribed, and go on where a track does: when the room has joined a server anew and
/// the media is another stream, with another `id` and source. What says "while reported" is counted from the moment on
/// at which statistics are turned on. But for `packetsLost`, which late packets make smaller, no count ever goes down.
///
/// Who comes from Vonage's network statistics finds packets received and lost, bytes received and the timestamp here,
/// each second for each track.
public struct InboundRtpStreamStatistics: Hashable, Sendable {
  /// The same for all statistics of one stream.
  public let id: String
  /// When it was so: milliseconds since 1970 (UTC).
  public let timestamp: Double
  /// `audio` or `video`.
  public let kind: String
  /// The SID of the track.
  public let trackIdentifier: String?

  init(id: String, timestamp: Double, kind: String, trackIdentifier: String?) {
    self.id = id
    self.timestamp = timestamp
    self.kind = kind
    self.trackIdentifier = trackIdentifier
  }

  // MARK: The stream

  /// The stream's source; nil before its first packet where the description does not announce it.
  public internal(set) var ssrc: UInt?
  /// The source of its retransmissions; nil until it is known and for audio.
  public internal(set) var rtxSsrc: UInt?
  /// The section of the description that carries it.
  public internal(set) var mid: String?
  /// The same for all streams of the connection that are in the same format.
  public internal(set) var codecId: String?
  /// Such as `video/VP8` or `audio/opus`: of the codec that arrives.
  public internal(set) var mimeType: String?
  /// The RTP payload type that the codec was given.
  public internal(set) var payloadType: UInt?

  // MARK: Packets

  /// RTP packets with media, however they came: also by retransmission or out of redundancy.
  public internal(set) var packetsReceived: UInt64?
  /// Packets that did not come as they were sent (RFC 3550, A.3), whether or not they were repaired, padding aside.
  public internal(set) var packetsLost: Int64?
  /// Packets that the receiver had no use for: of an unknown format or source, or far out of their place. Those that
  /// come too late for the jitter buffer are not among them.
  public internal(set) var packetsDiscarded: UInt64?
  /// Bytes of payload of `packetsReceived`.
  public internal(set) var bytesReceived: UInt64?
  /// How unevenly packets arrive, in seconds (RFC 3550, A.8).
  public internal(set) var jitter: Double?
  /// Packets that came on the stream of retransmissions, probes without payload among them.
  public internal(set) var retransmittedPacketsReceived: UInt64?
  /// Bytes of payload of those.
  public internal(set) var retransmittedBytesReceived: UInt64?
  /// NACK packets sent: requests for packets that are missing; of audio where the server answers them.
  public internal(set) var nackCount: UInt?
  /// PLI packets sent: requests for a keyframe. nil for audio.
  public internal(set) var pliCount: UInt?
  /// From here to the server and back, in seconds: of an SCTP heartbeat (RFC 9260, 8.3), which takes the same way as
  /// media and is sent each second while statistics are reported. nil before the first answer and when answers have
  /// stayed out for some seconds.
  public internal(set) var roundTripTime: Double?
  /// Bits of payload a second since the statistics before, which is about a second; 0 in the first ones.
  public internal(set) var bps: UInt64 = 0

  // MARK: Video; nil for audio

  /// Frames whose last packet arrived (the marker bit).
  public internal(set) var framesReceived: UInt?
  /// Frames that came out of the decoder for renderers; only while a renderer is attached there is one.
  public internal(set) var framesDecoded: UInt?
  /// Frames that arrived while a renderer was attached, of which newer ones have come out of the decoder without
  /// them: those with packets missing, those that wait for a keyframe and those that a decoder drops.
  public internal(set) var framesDropped: UInt?
  /// Width in pixels of the newest decoded frame; nil before one has come out of the decoder while reported.
  public internal(set) var frameWidth: UInt?
  /// Height in pixels of the same.
  public internal(set) var frameHeight: UInt?
  /// Frames that came out of the decoder since the statistics before, a second; nil until one ever has.
  public internal(set) var framesPerSecond: Double?
  /// Times that a frame stayed for at least three times the average of the last 30 and at least 150 ms longer than
  /// that, while reported. It ends with the next frame and is counted then. Not while the track is muted.
  public internal(set) var freezeCount: UInt?
  /// How long those were in all, in seconds.
  public internal(set) var totalFreezesDuration: Double?
  /// Times that a frame stayed for more than five seconds while reported, which is no freeze any more.
  public internal(set) var pauseCount: UInt?
  /// How long those were in all, in seconds.
  public internal(set) var totalPausesDuration: Double?

  // MARK: Audio; nil for video

  /// How loud the audio since the statistics before was, from 0 to 1 of full scale: the root of its mean square, of the
  /// louder channel. Of decoded samples, and so nil while no renderer is attached.
  public internal(set) var audioLevel: Double?
  /// The sum of the squares of all decoded samples, each times its length in seconds, while reported.
  public internal(set) var totalAudioEnergy: Double?
  /// How long the audio was that `totalAudioEnergy` is of, in seconds.
  public internal(set) var totalSamplesDuration: Double?
  /// Samples of one channel that it is of.
  public internal(set) var totalSamplesReceived: UInt64?

  /// `bps` for people, such as `1.2 Mbps`, `950 kbps` or `0 bps`.
  public func formattedBps() -> String { Bitrate.text(bps) }
}
