import ArgumentParser
import MediaBridge
import MediaCore
import MediaPipelines

/// `--dot`, for the commands that run pipelines.
struct DrawingArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Write drawings of each GStreamer pipeline into this folder, as files for Graphviz: once it has started, when it \
      fails and before it ends. One with an address in it is drawn without properties, since keys are among them
      """, valueName: "folder"), completion: .directory)
  var dot: String?

  /// Draws from now on.
  func begin() throws(LiveKitError) {
    if let dot { try Drawings.begin(asked: dot) }
  }
}

extension Drawings {
  /// - Parameter folder: that of `--dot`.
  static func begin(asked folder: String) throws(LiveKitError) {
    do { try begin(in: folder) } catch {
      throw LiveKitError(.invalidParameter, "--dot \(folder): \(error.systemReason)", underlying: error)
    }
  }
}
