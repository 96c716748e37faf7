import CGStreamer
import CShims
import Foundation
import MediaCore

/// Whom GIO trusts, which does TLS for elements such as rtmp2sink, and knows nothing of the variables of OpenSSL.
enum TrustedAuthorities {
  /// Has the process trust what these name.
  /// - Returns: why some of them are not trusted, or nil.
  static func trust(_ named: NamedAuthorities) -> String? {
    let (pem, complaint) = named.read()
    guard let path = keep(pem + named.others) else { return complaint ?? systemError() }
    var error: UnsafeMutablePointer<GError>?
    // The file is read again when a connection is made, and so stays.
    guard let database = g_tls_file_database_new(path, &error) else {
      return complaint ?? takeMessage(&error)
    }
    g_tls_backend_set_default_database(g_tls_backend_get_default(), database.cast())
    g_object_unref(UnsafeMutableRawPointer(database))
    return complaint
  }

  /// The name of a file of this process alone, which is in memory.
  private static func keep(_ bytes: [UInt8]) -> String? {
    let descriptor = shim_memory_file("authorities")
    guard descriptor >= 0 else { return nil }
    do {
      try FileHandle(fileDescriptor: descriptor, closeOnDealloc: false).write(contentsOf: Data(bytes))
    } catch {
      close(descriptor)
      return nil
    }
    return "/proc/self/fd/\(descriptor)"
  }

  private static func systemError() -> String { String(cString: strerror(errno)) }
}
