import PipelineTemplates

/// How often an encoder makes keyframes where no destination says so. Its template's variable `gop` counts frames, and senders
/// and mixes have rates of their own: they are asked for by time, and the encoder's own count is for where nobody asks.
struct EncoderKeyframes: Sendable {
  /// At most, from one to the next; nil where the encoder counts by itself.
  let interval: Duration?
  /// For the template.
  let values: [String: String]

  /// Frames a second that defaults are meant for.
  private static let rate = 25
  private static let reserve = 10

  /// - Parameters:
  ///   - framerate: frames a second; nil where that is not known.
  ///   - set: what a person has set.
  /// - Returns: nil where the template has no default, or somebody has set another one.
  init?(_ template: Template, framerate: Int?, besides set: [String: String]) {
    let gop = template.variables.first { $0.name == "gop" }?.defaultValue.flatMap(Int.init)
    guard set["gop"] == nil, let gop, (1...10_000).contains(gop) else { return nil }
    // It makes two for each that is asked for: it counts by itself, and in frames of the rate that there is.
    if template.text.contains("av1enc") {
      guard let framerate else { return nil }
      (interval, values) = (nil, ["gop": "\(max(1, gop * framerate / Self.rate))"])
      return
    }
    interval = Duration.seconds(gop) / Self.rate
    values = ["gop": "\(gop * Self.reserve)"]
  }
}
