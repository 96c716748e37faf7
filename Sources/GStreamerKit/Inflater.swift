import CGStreamer

package import struct Foundation.Data

/// Makes raw deflate (RFC 1951) what it was before, piece by piece, with GLib's converter.
///
/// `@unchecked Sendable`: it is used by one thread at a time, under the lock of whoever holds it.
package final class Inflater: @unchecked Sendable {
  /// What comes next.
  package enum Step: Equatable, Sendable {
    case piece(Data)
    /// Nothing, before more is added.
    case hungry
    /// Nothing: all has come.
    case end
    /// Nothing: it is no deflate, or something follows its end.
    case damaged
  }

  /// Bytes of the longest piece: a few that come may stand for a million.
  package static let size = 1 << 16

  private let converter: OpaquePointer?
  /// What was added, and is not read yet.
  private var rest = Data()
  /// Whether the end has been read.
  package private(set) var isOver = false
  private var isDamaged = false

  /// At the beginning of a stream.
  package init() { converter = g_zlib_decompressor_new(G_ZLIB_COMPRESSOR_FORMAT_RAW) }

  deinit { if let converter { g_object_unref(UnsafeMutableRawPointer(converter)) } }

  /// Takes what follows, of which nothing is read before it is asked for.
  package func add(_ bytes: Data) { rest += bytes }

  /// Reads on, as far as a piece goes.
  package func next() -> Step {
    while !isDamaged, !isOver {
      var result = G_CONVERTER_ERROR
      let piece = [UInt8](unsafeUninitializedCapacity: Self.size) { output, count in
        result = convert(into: output, &count)
      }
      isOver = result == G_CONVERTER_FINISHED
      isDamaged = result == G_CONVERTER_ERROR
      if !piece.isEmpty { return .piece(Data(piece)) }
      if result == G_CONVERTER_FLUSHED { return .hungry }
    }
    return isDamaged || !rest.isEmpty ? .damaged : .end
  }

  /// Where nothing can be done without more, it says that all is flushed.
  private func convert(into output: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int) -> GConverterResult {
    var (read, written): (gsize, gsize) = (0, 0)
    let result = rest.withUnsafeBytes { input in
      g_converter_convert(
        converter, input.baseAddress, gsize(input.count), output.baseAddress, gsize(output.count), G_CONVERTER_FLUSH,
        &read, &written, nil)
    }
    count = Int(written)
    rest = Data(rest.dropFirst(Int(read)))
    return result
  }
}
