import PipelineTemplates

/// How often an encoder makes keyframes where no destination says so. Its template's variable `gop` counts frames, and senders
/// and mixes have rates of their own: they are asked for by time, and the encoder's own count is for where nobody asks.
struct EncoderKeyframes: Sendable {
  /// At most, from one to the next.
  let interval: Duration
  /// For the template.
  let values: [String: String]

  /// Frames a second that defaults are meant for.
  private static let rate = 25
  private static let reserve = 10

  /// - Parameter set: what a person has set.
  /// - Returns: nil where the template has no default, or somebody has set another one.
  init?(_ template: Template, besides set: [String: String]) {
    // It makes two for each that is asked for.
    guard !template.text.contains("av1enc") else { return nil }
    let gop = template.variables.first { $0.name == "gop" }?.defaultValue.flatMap(Int.init)
    guard set["gop"] == nil, let gop, (1...10_000).contains(gop) else { return nil }
    interval = .seconds(gop) / Self.rate
    values = ["gop": "\(gop * Self.reserve)"]
  }
}
