/// A codec of pictures, as statistics are told apart by.
public enum VideoCodec: String, CaseIterable, Codable, Sendable {
  case vp8
  case vp9
  case h264
  case h265
  case av1
}
