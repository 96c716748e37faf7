import PipelineTemplates

/// Into how many slices an encoder cuts a frame, the variable `slices` of its template: several threads are soonest done,
/// one has the best frames at the least cost.
enum EncoderSlices {
  /// In pixels: x264 with `superfast` takes some 10 ms for so many.
  private static let oneThreadEncodes = 1280 * 720

  /// `values` and what follows from the size, where nobody has set it.
  static func values(of template: Template, _ values: [String: String]) -> [String: String] {
    guard template.variables.contains(where: { $0.name == "slices" }), values["slices"] == nil,
      let width = side("width", template, values), let height = side("height", template, values),
      width <= oneThreadEncodes / max(1, height)
    else { return values }
    return values.merging(["slices": "1"]) { set, _ in set }
  }

  private static func side(_ name: String, _ template: Template, _ values: [String: String]) -> Int? {
    (values[name] ?? template.variables.first { $0.name == name }?.defaultValue).flatMap { Int($0) }
  }
}
