import CGStreamer
import Glibc

extension Pipeline {
  /// Whether all that it makes goes into regular files, so that nobody waits for the newest of it. To be asked once it has
  /// started.
  public var writesOnlyFiles: Bool {
    guard let iterator = gst_bin_iterate_sinks(element.cast()) else { return false }
    defer { gst_iterator_free(iterator) }
    var (item, count) = (GValue(), 0)
    while gst_iterator_next(iterator, &item) == GST_ITERATOR_OK {
      defer { g_value_unset(&item) }
      guard let sink = g_value_get_object(&item)?.assumingMemoryBound(to: GstElement.self), Self.writesFile(sink) else {
        return false
      }
      count += 1
    }
    return count > 0
  }

  private static func writesFile(_ sink: UnsafeMutablePointer<GstElement>) -> Bool {
    gst_object_ref(sink)
    let element = Element(shared: SharedElement(adopting: sink), name: "")
    guard element.factory == "filesink", let path = element.string("location") else { return false }
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }
}
