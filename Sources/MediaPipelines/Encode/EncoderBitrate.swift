import GStreamerKit
package import PipelineTemplates

/// The property of the element `encoder` that the variable `bitrate` of an encode template sets.
struct EncoderBitrate: Sendable {
  private let element: Element
  private let property: String
  private let suffix: String

  /// Nil where the template has no such thing.
  init?(of made: TemplatePipeline) {
    guard let property = made.template.bitrateProperty, let variable = property.variable,
      let element = try? made.pipeline.element(named: "encoder")
    else { return nil }
    (self.element, self.property, suffix) = (element, property.name, variable.suffix)
  }

  /// - Parameter bitrate: bits a second.
  func set(_ bitrate: Int) {
    // An element has the property: otherwise the pipeline could not have been made.
    try? element.set(property, to: "\(max(1, bitrate / 1000))\(suffix)")
  }
}

extension FilledTemplate {
  fileprivate var bitrateProperty: Property? { property(of: "encoder", from: "bitrate") }

  /// Bits a second that its encoder aims at, where that can be changed while it runs.
  package var adjustableBitrate: Int? {
    guard let property = bitrateProperty, let variable = property.variable else { return nil }
    return Int(property.value.dropLast(variable.suffix.count)).map { $0 * 1000 }
  }
}
