/// Finds keyframes where the codec is known by its name in a session description.
public enum KeyframeDetector {
  /// True for a payload with which a picture begins that needs no other; false for codecs that we do not look into.
  public static func isKeyframe(_ payload: UnsafeRawBufferPointer, codec: String) -> Bool {
    VideoCodec(encodingName: codec)?.startsKeyframe(payload) ?? false
  }
}
