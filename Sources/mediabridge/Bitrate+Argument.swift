import ArgumentParser

/// `3000`: the transform of an option that takes the bitrate of video in kbit/s.
func videoBitrate(of text: String) throws -> Int {
  try kilobits(text, in: 1...100_000, "kbit/s, so 3000 is 3 Mbit/s")
}

/// `128`: the transform of an option that takes the bitrate of audio in kbit/s, as far as Opus has it; AAC is no different.
func audioBitrate(of text: String) throws -> Int {
  try kilobits(text, in: 6...510, "kbit/s, such as 128")
}

private func kilobits(_ text: String, in range: ClosedRange<Int>, _ unit: String) throws -> Int {
  guard let number = Int(text), range.contains(number) else {
    throw ValidationError("it is a whole number of \(unit); give \(range.lowerBound) to \(range.upperBound)")
  }
  return number
}
