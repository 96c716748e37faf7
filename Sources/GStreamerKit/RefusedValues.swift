import CGStreamer
import Glibc

/// Hears of values that GObject does not set because they are out of range: it says so to its log alone.
///
/// What is heard is kept with the thread, so that pipelines can be made on several at a time.
enum RefusedValues {
  private final class Heard {
    var messages: [String] = []
  }

  /// Of the thread: the `Heard` of the call that is running on it.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  /// Runs `body` and says what was refused on this thread meanwhile; the rest of the log goes its usual way.
  static func during<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> (Result, [String])
  {
    let heard = Heard()
    // Unretained is sound: `heard` lives to the end of this call, which takes it from the thread.
    pthread_setspecific(key, Unmanaged.passUnretained(heard).toOpaque())
    let handler = g_log_set_handler(
      "GLib-GObject", G_LOG_LEVEL_WARNING,
      { domain, level, message, _ in
        RefusedValues.note(domain, level, message)
      }, nil)
    defer {
      g_log_remove_handler("GLib-GObject", handler)
      pthread_setspecific(key, nil)
    }
    let result = try body()
    return (result, heard.messages)
  }

  private static func note(_ domain: UnsafePointer<CChar>?, _ level: GLogLevelFlags, _ message: UnsafePointer<CChar>?) {
    let text = message.map { String(cString: $0) } ?? ""
    guard let heard = pthread_getspecific(key), text.contains("out of range") else {
      return g_log_default_handler(domain, level, message, nil)
    }
    Unmanaged<Heard>.fromOpaque(heard).takeUnretainedValue().messages.append(text)
  }
}
