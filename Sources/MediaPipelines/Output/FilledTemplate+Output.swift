import PipelineTemplates

extension FilledTemplate {
  /// Whether all that multiplexes takes another description of a stream while it writes it. FLV has another sequence
  /// header from there on, and servers of RTMP may go by that alone; others, such as MP4, have room for one, and fail.
  var takesAnotherFormat: Bool {
    let multiplexers = elements.map(\.factory).filter { $0.hasSuffix("mux") }
    return !multiplexers.isEmpty && multiplexers.allSatisfy { $0 == "flvmux" }
  }

  /// Whether players may go by one size of a stream alone: MP4 says it once, ahead of all frames.
  var saysOneSize: Bool { elements.contains { $0.factory == "mp4mux" } }
}
