/// A codec of frames, as statistics are told apart by.
public enum VideoCodec: String, CaseIterable, Codable, Sendable {
  /// RFC 6386; over RTP RFC 7741.
  case vp8
  /// Over RTP RFC 9628.
  case vp9
  /// AVC; over RTP RFC 6184.
  case h264
  /// HEVC; over RTP RFC 7798.
  case h265
  /// Over RTP as the Alliance for Open Media lays down.
  case av1
}
