/// Which Debian 12 package carries a GStreamer element, for the message about one that is missing.
public enum ElementPackage {
  /// Nil for an element that this table does not know or that Debian 12 does not have.
  public static func debian(forElement element: String) -> String? {
    if let package = packages[element] { return package }
    return families.first { element.hasPrefix($0.prefix) }?.package
  }

  /// What to do about a missing element, as a sentence without its full stop.
  public static func advice(forElement element: String) -> String {
    if absent.contains(element) { return "Debian 12 has no package with \(element); another element must do its work" }
    if let hardware = hardware(of: element) {
      let package =
        debian(forElement: element).map { "the Debian package \($0) has it" } ?? "its package is not known here"
      return "\(package), and offers it only where there is \(hardware)"
    }
    if let package = debian(forElement: element) { return "install the Debian package \(package)" }
    return "its package is not known here; `apt-cache search gstreamer1.0` lists the plug-in packages, and a misspelt "
      + "name is reported in the same way"
  }

  /// What to do about an error that comes of a library which an element takes in passing; nil where that is not known.
  package static func advice(forError message: String) -> String? {
    if message.contains("TLS support is not available") { return "install the Debian package glib-networking" }
    if message.contains("/haarcascades/") { return "install the Debian package opencv-data" }
    guard message.contains("Unacceptable TLS certificate") else { return nil }
    return "it is of another name than the address has, or this machine does not trust who signed it; put the CA into "
      + "/usr/local/share/ca-certificates and run update-ca-certificates, or name its file in SSL_CERT_FILE"
  }

  /// Whether the element is there only on machines with certain hardware, whatever is installed.
  public static func isHardware(_ element: String) -> Bool { hardware(of: element) != nil }

  /// Whether the element is of a package that only one who wants what it does installs.
  public static func isOptional(_ element: String) -> Bool {
    ["gstreamer1.0-opencv", "gstreamer1.0-pipewire"].contains(debian(forElement: element))
  }

  private static func hardware(of element: String) -> String? {
    hardware.first { $0.prefixes.contains { element.hasPrefix($0) } }?.what
  }

  private static let hardware: [(prefixes: [String], what: String)] = [
    (["vah26", "vavp", "vaav1", "vajpeg", "vapostproc", "vaapi"], "a GPU with VA-API and its driver (va-driver-all)"),
    (["nvh26", "nvvp", "nvav1", "nvjpeg"], "an NVIDIA GPU and NVIDIA's own driver (nvidia-driver, libnvidia-encode1)"),
    (["v4l2h26", "v4l2vp", "v4l2sl", "v4l2jpeg"], "a video codec of the kernel (V4L2)"),
  ]

  private static let families: [(prefix: String, package: String)] = [
    ("avdec_", "gstreamer1.0-libav"), ("avenc_", "gstreamer1.0-libav"), ("avmux_", "gstreamer1.0-libav"),
    ("avdemux_", "gstreamer1.0-libav"), ("rtp", "gstreamer1.0-plugins-good"), ("vah26", "gstreamer1.0-plugins-bad"),
    ("vavp", "gstreamer1.0-plugins-bad"), ("nvh26", "gstreamer1.0-plugins-bad"), ("nvvp", "gstreamer1.0-plugins-bad"),
    ("v4l2sl", "gstreamer1.0-plugins-bad"), ("v4l2", "gstreamer1.0-plugins-good"), ("vaapi", "gstreamer1.0-vaapi"),
  ]

  /// Of gst-plugins-rs or of releases after 1.22.
  private static let absent: Set = [
    "fallbackswitch", "fallbacksrc", "isofmp4mux", "cmafmux", "eflvmux", "whipsink",
    "whepsrc", "livesync", "togglerecord", "hlssink3", "webrtcsink", "webrtcsrc", "livekitwebrtcsink",
  ]

  private static let packages: [String: String] = {
    let table: [(package: String, elements: String)] = [
      (
        "libgstreamer1.0-0",
        """
        capsfilter clocksync concat downloadbuffer fakesink fakesrc fdsink fdsrc filesink filesrc funnel identity \
        input-selector multiqueue output-selector queue queue2 streamiddemux tee typefind valve
        """
      ),
      (
        "gstreamer1.0-plugins-base",
        """
        appsink appsrc audioconvert audiomixer audiorate audioresample audiotestsrc compositor decodebin decodebin3 \
        encodebin giosink giosrc oggdemux oggmux opusdec opusenc overlaycomposition playbin3 rawaudioparse rawvideoparse socketsrc subparse \
        tcpclientsink tcpclientsrc tcpserversink tcpserversrc theoradec theoraenc uridecodebin uridecodebin3 \
        urisourcebin videoconvert videoconvertscale videorate videoscale videotestsrc volume vorbisdec vorbisenc
        """
      ),
      (
        "gstreamer1.0-plugins-good",
        """
        aacparse alpha aspectratiocrop autoaudiosink autovideosink cairooverlay capssetter cutter deinterlace flvdemux flvmux flacenc flacparse \
        gdkpixbufoverlay imagefreeze interleave jpegdec jpegenc lamemp3enc level matroskademux matroskamux mp4mux \
        mpegaudioparse multifilesink multifilesrc multipartmux pngdec pngenc pulsesink pulsesrc qtdemux qtmux rglimiter \
        souphttpsrc spectrum splitmuxsink splitmuxsrc taginject udpsink udpsrc v4l2sink v4l2src videobox videocrop videoflip \
        vp8dec vp8enc vp9dec vp9enc wavenc wavparse webmmux ximagesrc y4menc
        """
      ),
      (
        "gstreamer1.0-plugins-bad",
        """
        audiobuffersplit av1dec av1enc av1parse dtlsdec dtlsenc faad gaussianblur h264parse h265parse hlsdemux hlssink \
        hlssink2 jpegparse mpegtsmux mpegvideoparse openh264dec openh264enc opusparse rtmp2sink rtmp2src rtmpsink \
        rtmpsrc shmsink shmsrc srtclientsink srtsink srtsrc srtserversink tsdemux tsparse voaacenc vp9parse \
        webrtcbin webrtcdsp webrtcechoprobe webpdec webpenc x265enc
        """
      ),
      ("gstreamer1.0-plugins-ugly", "asfdemux mpeg2dec x264enc"),
      ("gstreamer1.0-x", "clockoverlay textoverlay textrender timeoverlay ximagesink xvimagesink"),
      ("gstreamer1.0-alsa", "alsasink alsasrc"),
      ("gstreamer1.0-opencv", "cvsmooth edgedetect faceblur facedetect grabcut"),
      ("gstreamer1.0-pipewire", "pipewiresink pipewiresrc"),
      ("gstreamer1.0-nice", "nicesink nicesrc"),
    ]
    var result: [String: String] = [:]
    for (package, elements) in table {
      for element in elements.split(separator: " ") { result[String(element)] = package }
    }
    return result
  }()
}
