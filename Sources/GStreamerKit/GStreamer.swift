import CGStreamer
import MediaCore

/// The library as a whole.
public enum GStreamer {
  private static let outcome: Result<Void, PipelineError> = {
    // A child process that scans plugins outlives nothing here and costs start-up time.
    gst_registry_fork_set_enabled(0)
    var failure: UnsafeMutablePointer<GError>?
    guard gst_init_check(nil, nil, &failure) != 0 else {
      return .failure(.library(failure.map(message(of:)) ?? "gst_init failed"))
    }
    return .success(())
  }()

  /// Starts GStreamer, once; later calls return the first one's outcome.
  public static func initialize() throws(PipelineError) { try outcome.get() }

  /// True when an element of this name is installed.
  public static func hasElement(_ name: String) -> Bool {
    guard (try? initialize()) != nil, let factory = gst_element_factory_find(name) else { return false }
    gst_object_unref(UnsafeMutableRawPointer(factory))
    return true
  }

  /// The text of `error`, which is freed.
  static func message(of error: UnsafeMutablePointer<GError>) -> String {
    defer { g_error_free(error) }
    return String(cString: error.pointee.message)
  }
}

/// Why a pipeline cannot be built or has stopped.
public enum PipelineError: Error, Sendable, Equatable {
  case library(String)
  /// Elements that the text names and that are not installed.
  case missingElements([String])
  /// The text is not a pipeline: what the parser says.
  case syntax(String)
  /// An element that the caller needs is not in the text, or is of another kind.
  case noElement(String)
  case cannotStart(element: String, message: String)
}
