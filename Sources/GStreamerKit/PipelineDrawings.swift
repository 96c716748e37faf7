import CGStreamer
import Foundation
import MediaCore

/// Drawings of what really runs, for whoever looks for a mistake: each pipeline of the process as GStreamer sees it, in the
/// language of Graphviz, with the formats that its links agreed on.
///
/// A pipeline is drawn when it has started, when it fails and before it ends, into `NUMBER-NAME-start.dot` and so on. One
/// that is told an address is drawn without properties: among those are keys and passphrases.
public enum PipelineDrawings {
  private struct State {
    var folder: String?
    var count = 0
    var failure: String?
  }
  private static let state = Locked(State())

  /// From now on pipelines are drawn into this folder, which is made if it is not there.
  /// - Throws: the system's reason where it cannot be made.
  public static func begin(in folder: String) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    state.withLock { $0.folder = folder }
  }

  /// From now on nothing is drawn.
  public static func end() { state.withLock { $0.folder = nil } }

  /// Why some drawing is not there; nil while all of them are.
  public static var failure: String? { state.withLock { $0.failure } }

  static var isOn: Bool { state.withLock { $0.folder != nil } }

  static func nextNumber() -> Int {
    state.withLock { state in
      state.count += 1
      return state.count
    }
  }

  static func write(_ text: String, _ name: String) {
    guard let folder = state.withLock({ $0.folder }) else { return }
    do { try Data(text.utf8).write(to: URL(fileURLWithPath: "\(folder)/\(name)")) } catch {
      state.withLock { $0.failure = $0.failure ?? "\(folder)/\(name): \(error.systemReason)" }
    }
  }
}

/// The drawings of one pipeline: one of each moment, by whoever is first.
final class PipelineDrawing: Sendable {
  enum Moment: String { case start, error, end }

  private struct State {
    var number: Int?
    var drawn: Set<Moment> = []
  }
  private let name: String
  private let hidesProperties: Bool
  private let state = Locked(State())

  init(name: String, description: String) {
    self.name = name
    hidesProperties = description.contains("://")
  }

  /// Reads properties, for which elements take locks of their own: not to be called by one of them.
  func draw(_ pipeline: UnsafeMutablePointer<GstElement>, _ moment: Moment) {
    guard PipelineDrawings.isOn, let number = number(for: moment) else { return }
    var details = GST_DEBUG_GRAPH_SHOW_MEDIA_TYPE.rawValue | GST_DEBUG_GRAPH_SHOW_CAPS_DETAILS.rawValue
    details |= GST_DEBUG_GRAPH_SHOW_STATES.rawValue
    if !hidesProperties { details |= GST_DEBUG_GRAPH_SHOW_NON_DEFAULT_PARAMS.rawValue }
    let text = pipeline.withMemoryRebound(to: GstBin.self, capacity: 1) { bin in
      take(gst_debug_bin_to_dot_data(bin, GstDebugGraphDetails(details)))
    }
    guard let text else { return }
    let digits = String(number)
    let padded = String(repeating: "0", count: max(0, 3 - digits.utf8.count)) + digits
    PipelineDrawings.write(text, "\(padded)-\(name)-\(moment.rawValue).dot")
  }

  private func number(for moment: Moment) -> Int? {
    state.withLock { state in
      guard state.drawn.insert(moment).inserted else { return nil }
      let number = state.number ?? PipelineDrawings.nextNumber()
      state.number = number
      return number
    }
  }
}
