/// Which Debian 12 package carries a GStreamer element. Taken from the packages of GStreamer 1.22 in Debian 12.
public enum ElementPackage {
  /// The package's name; nil when this table does not know the element or Debian 12 does not carry it.
  public static func debianPackage(of element: String) -> String? {
    if let package = table[element] { return package }
    return prefixes.first { element.hasPrefix($0.prefix) }?.package
  }

  /// What a person can do about an element that is not there, as one sentence.
  public static func advice(for element: String) -> String {
    if let package = debianPackage(of: element) { return "install the Debian package \(package)" }
    if absent.contains(element) {
      return
        "Debian 12 does not carry it (it belongs to gst-plugins-rs or a licence-bound library); use another element"
    }
    return "check its spelling with gst-inspect-1.0, or find its package with: apt-file search gstreamer-1.0"
  }

  private static let lists: [(package: String, elements: String)] = [
    (
      "libgstreamer1.0-0",
      """
      capsfilter clocksync concat fakesink fakesrc fdsink fdsrc filesink filesrc funnel identity input-selector
      multiqueue output-selector queue queue2 tee typefind valve
      """
    ),
    (
      "gstreamer1.0-plugins-base",
      """
      appsink appsrc audioconvert audiomixer audiorate audioresample audiotestsrc compositor decodebin decodebin3 oggdemux
      oggmux opusdec opusenc playbin tcpclientsink tcpserversink theoraenc uridecodebin videoconvert videoconvertscale
      videorate videoscale videotestsrc volume vorbisenc
      """
    ),
    ("gstreamer1.0-x", "clockoverlay textoverlay timeoverlay ximagesink xvimagesink"),
    (
      "gstreamer1.0-plugins-good",
      """
      aacparse alpha autoaudiosink autovideosink cairooverlay deinterleave flacdec flacenc flvdemux flvmux gamma
      gdkpixbufoverlay imagefreeze interleave jpegdec jpegenc lamemp3enc level matroskademux matroskamux mp4mux
      mpegaudioparse multifilesink multifilesrc pngdec pngenc qtdemux qtmux souphttpsrc spectrum splitmuxsink udpsink
      udpsrc v4l2src videobalance videobox videocrop videoflip vp8dec vp8enc vp9dec vp9enc wavenc wavparse webmmux
      ximagesrc y4menc pulsesink pulsesrc rtpbin rtph264depay rtph264pay rtph265depay rtph265pay rtpjitterbuffer
      rtpopusdepay rtpopuspay rtpreddec rtpredenc rtprtxreceive rtprtxsend rtpvp8depay rtpvp8pay rtpvp9depay rtpvp9pay
      """
    ),
    (
      "gstreamer1.0-plugins-bad",
      """
      audiobuffersplit av1dec av1enc av1parse h264parse h265parse hlsdemux hlssink hlssink2 interaudiosink interaudiosrc
      intervideosink intervideosrc mpegtsmux openh264dec openh264enc opusparse proxysrc rsvgoverlay rtmp2sink rtmp2src
      rtmpsink shmsink shmsrc srtsink srtsrc tsdemux voaacenc vp9parse watchdog webrtcbin webrtcdsp x265enc
      """
    ),
    ("gstreamer1.0-plugins-ugly", "x264enc"),
    ("gstreamer1.0-alsa", "alsasink alsasrc"),
    ("gstreamer1.0-gl", "glimagesink gldownload glupload"),
    ("gstreamer1.0-nice", "nicesink nicesrc"),
    ("gstreamer1.0-pipewire", "pipewiresink pipewiresrc"),
  ]

  private static let table: [String: String] = {
    var table: [String: String] = [:]
    for (package, elements) in lists {
      for element in elements.split(whereSeparator: \.isWhitespace) { table[String(element)] = package }
    }
    return table
  }()

  private static let prefixes: [(prefix: String, package: String)] = [
    ("avdec_", "gstreamer1.0-libav"), ("avenc_", "gstreamer1.0-libav"), ("avmux_", "gstreamer1.0-libav"),
    ("avdemux_", "gstreamer1.0-libav"), ("vaapi", "gstreamer1.0-vaapi"),
  ]

  private static let absent: Set<String> = [
    "rtpav1depay", "rtpav1pay", "fallbackswitch", "fallbacksrc", "isofmp4mux", "cmafmux", "eflvmux", "whipsink",
    "whepsrc", "dav1ddec", "rav1enc", "hlssink3", "fdkaacenc", "fdkaacdec",
  ]
}
