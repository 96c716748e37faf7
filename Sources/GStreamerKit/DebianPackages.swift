extension GStreamer {
  /// The Debian 12 package that carries an element, as far as we know it; the elements of our own templates are all
  /// here, the others are found by the prefix that the plugin sets use.
  public static func debianPackage(ofElement element: String) -> String? {
    if let package = packages.first(where: { $0.value.contains(element) })?.key { return package }
    return prefixes.first { element.hasPrefix($0.prefix) }?.package
  }

  private static let prefixes: [(prefix: String, package: String)] = [
    ("av", "gstreamer1.0-libav"), ("rtp", "gstreamer1.0-plugins-good"), ("vp8", "gstreamer1.0-plugins-good"),
    ("vp9", "gstreamer1.0-plugins-good"), ("x26", "gstreamer1.0-plugins-ugly"), ("srt", "gstreamer1.0-plugins-bad"),
    ("rtmp", "gstreamer1.0-plugins-bad"), ("hls", "gstreamer1.0-plugins-bad"), ("pulse", "gstreamer1.0-pulseaudio"),
    ("nice", "gstreamer1.0-nice"), ("gl", "gstreamer1.0-gl"), ("gtk", "gstreamer1.0-gtk3"),
  ]

  private static let packages: [String: Set<String>] = [
    "libgstreamer1.0-0": [
      "queue", "queue2", "multiqueue", "tee", "identity", "fakesink", "fakesrc", "filesrc", "filesink", "capsfilter",
      "valve", "input-selector", "output-selector", "typefind", "funnel", "concat",
    ],
    "gstreamer1.0-plugins-base": [
      "appsrc", "appsink", "videotestsrc", "audiotestsrc", "videoconvert", "videoscale", "videorate", "audioconvert",
      "audioresample", "audiorate", "audiomixer", "compositor", "opusenc", "opusdec", "volume", "decodebin",
      "videoconvertscale", "oggmux", "theoraenc", "vorbisenc", "rawvideoparse", "rawaudioparse", "overlaycomposition",
    ],
    "gstreamer1.0-x": ["textoverlay", "timeoverlay", "clockoverlay", "textrender", "ximagesink", "xvimagesink"],
    "gstreamer1.0-plugins-good": [
      "matroskamux", "webmmux", "mp4mux", "qtmux", "flvmux", "level", "jpegenc", "pngenc", "y4menc", "v4l2src",
      "ximagesrc", "splitmuxsink", "autoaudiosink", "autovideosink", "udpsrc", "udpsink", "wavenc", "flacenc",
    ],
    "gstreamer1.0-plugins-bad": [
      "h264parse", "h265parse", "av1dec", "openh264dec", "openh264enc", "voaacenc", "shmsink", "shmsrc", "mpegtsmux",
      "codecalpha", "vp9parse", "av1parse", "aacparse", "timecodestamper",
    ],
  ]
}
