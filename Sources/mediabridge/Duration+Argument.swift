import ArgumentParser

/// `30s`, `5m`, `1h30m` or plain seconds: the transform of every option that takes a time.
func duration(of text: String) throws -> Duration {
  guard let seconds = Double(text) ?? secondsWithUnits(text), seconds >= 0, seconds < 1e8 else {
    throw ValidationError("write a time such as 30s, 5m or 1h30m")
  }
  return .milliseconds(Int64(seconds * 1000))
}

private func secondsWithUnits(_ text: String) -> Double? {
  var total = 0.0
  var number = ""
  for character in text {
    if character.isNumber || character == "." {
      number.append(character)
    } else {
      guard let value = Double(number), let unit = ["s": 1.0, "m": 60.0, "h": 3600.0][character] else { return nil }
      total += value * unit
      number = ""
    }
  }
  return number.isEmpty && !text.isEmpty ? total : nil
}
