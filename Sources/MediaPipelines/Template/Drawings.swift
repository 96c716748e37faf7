import GStreamerKit

/// Drawings of all pipelines of the process, for programs that know nothing of GStreamer.
package enum Drawings {
  /// From now on pipelines are drawn into this folder, which is made if it is not there.
  package static func begin(in folder: String) throws { try PipelineDrawings.begin(in: folder) }

  /// From now on nothing is drawn.
  package static func end() { PipelineDrawings.end() }

  /// - Throws: why some drawing is not there.
  package static func check() throws {
    if let reason = PipelineDrawings.failure { throw Missing(description: "a pipeline was not drawn: \(reason)") }
  }

  private struct Missing: Error, CustomStringConvertible {
    let description: String
  }
}
