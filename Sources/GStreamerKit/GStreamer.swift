import CGStreamer
import MediaCore

/// The media framework as a whole.
public enum GStreamer {
  /// Initialises GStreamer once per process; every further call returns or throws what the first one did.
  ///
  /// Plugins that are new are looked at by GStreamer's own helper process, so that one that crashes takes nothing along
  /// and none of them stays in this process's memory.
  public static func initialize() throws(PipelineError) {
    if let failure = initialization { throw failure }
  }

  private static let initialization: PipelineError? = {
    var error: UnsafeMutablePointer<GError>?
    guard gst_init_check(nil, nil, &error) == 0 else {
      AV1Payloader.register()
      AV1Depayloader.register()
      // Most of what it took to begin is not needed again.
      releaseLoadedCode()
      _ = authoritiesComplaint
      return nil
    }
    return PipelineError(.initialization, takeMessage(&error) ?? "GStreamer did not start")
  }()

  /// Why an authority that a person named in SSL_CERT_FILE or SSL_CERT_DIR is not trusted by elements that speak TLS; nil
  /// where all of them are. Otherwise GIO reads this machine's own, once a connection asks for them: in memory they are 7 MB.
  package static let authoritiesComplaint: String? = {
    let named = NamedAuthorities.ofProcess
    return named.areOfMachine ? nil : TrustedAuthorities.trust(named)
  }()

  /// Has the process give code back that is resident since libraries were loaded, before more of them are. What is needed
  /// again comes back page by page: for those who can wait some milliseconds for that.
  public static func releaseLoadedCode() { LoadedCode.releaseBeforeLoading() }

  /// Whether an element factory such as "vp8dec" is installed.
  public static func hasElement(_ name: String) -> Bool {
    guard initialization == nil, let factory = gst_element_factory_find(name) else { return false }
    gst_object_unref(UnsafeMutableRawPointer(factory))
    return true
  }

  /// Whether an element that is installed reads from addresses that begin so, as `rtsp://` does.
  package static func reads(scheme: String) -> Bool {
    initialization == nil && gst_uri_protocol_is_valid(scheme) != 0
      && gst_uri_protocol_is_supported(GST_URI_SRC, scheme) != 0
  }

  /// Loads the plugins of elements on a thread of its own, so that nobody waits for that who makes them later.
  package static func load(_ elements: [String]) {
    guard initialization == nil, !elements.isEmpty else { return }
    startThread(name: "gst-load") { LoadedCode.whileLoading { elements.forEach(load) } }
  }

  private static func load(_ element: String) {
    guard let factory = gst_element_factory_find(element) else { return }
    defer { gst_object_unref(UnsafeMutableRawPointer(factory)) }
    if let loaded = gst_plugin_feature_load(factory) { gst_object_unref(UnsafeMutableRawPointer(loaded)) }
  }

  /// The version in use, for example "GStreamer 1.22.0".
  public static var version: String { take(gst_version_string()) ?? "" }
}
