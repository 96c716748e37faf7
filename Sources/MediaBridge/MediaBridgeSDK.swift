import GStreamerKit

/// What this library is. It has a name of its own because a type named as its module would hide the module.
public enum MediaBridgeSDK {
  /// The version of library and program, as in CHANGELOG.
  public static let version = "0.1.0"
  /// The media framework in use, such as "GStreamer 1.22.0".
  public static var gstreamerVersion: String { GStreamer.version }

  /// How servers and proxies see this client.
  package static let userAgent = "mediabridge/\(version)"
}
