import MediaBridge

extension CompositeOptions {
  /// Variables of what mixes that are options of `encoding`, too, by which tiles are laid out.
  static let frameVariables = ["width", "height", "framerate"]

  /// Has what is set of the mixed frames asked for by the options. What they cannot be stays a value.
  mutating func takeFrameValues(where isMixed: (String) -> Bool) {
    let options: [WritableKeyPath<EncodingOptions, Int?>] = [\.width, \.height, \.framerate]
    for (name, option) in zip(Self.frameVariables, options) where isMixed(name) {
      guard let number = values[name].flatMap(Self.number), encoding[keyPath: option] ?? number == number else {
        continue
      }
      encoding[keyPath: option] = number
      values[name] = nil
    }
  }

  /// Rates are fractions in templates.
  private static func number(_ value: String) -> Int? {
    Int(value.hasSuffix("/1") ? String(value.dropLast(2)) : value)
  }
}
