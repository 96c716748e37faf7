import CGStreamer

/// The media framework as a whole.
public enum GStreamer {
  /// Initialises GStreamer once per process; every further call returns or throws what the first one did.
  ///
  /// The registry is read in this process: a helper process that outlives a crash, or that a sandbox forbids, is worth
  /// less than the few milliseconds it saves.
  public static func initialize() throws(PipelineError) {
    if let failure = initialization { throw failure }
  }

  private static let initialization: PipelineError? = {
    gst_registry_fork_set_enabled(0)
    var error: UnsafeMutablePointer<GError>?
    guard gst_init_check(nil, nil, &error) == 0 else { return nil }
    return PipelineError(.initialization, takeMessage(&error) ?? "GStreamer did not start")
  }()

  /// Whether an element factory such as "vp8dec" is installed.
  public static func hasElement(_ name: String) -> Bool {
    guard initialization == nil, let factory = gst_element_factory_find(name) else { return false }
    gst_object_unref(UnsafeMutableRawPointer(factory))
    return true
  }

  /// The version in use, for example "GStreamer 1.22.0".
  public static var version: String { take(gst_version_string()) ?? "" }
}
