import Egress
import MediaBridge

extension CompositeLayout {
  /// As people name it: one of `allCases`, or a file that describes one.
  /// - Throws: there is none, or what is wrong with the file.
  init(argument name: String) throws(LiveKitError) {
    if [".yaml", ".yml"].contains(where: name.hasSuffix) {
      self = .own(try OwnLayout(file: name))
      return
    }
    guard let layout = CompositeLayout(rawValue: name) else {
      let known = CompositeLayout.allCases.map(\.rawValue).joined(separator: ", ")
      throw LiveKitError(.invalidParameter, "give one of \(known), or a file that ends in .yaml")
    }
    self = layout
  }
}
