/// The name that a person who typed `typed` most likely meant.
public enum NearestName {
  /// The candidate with the smallest edit distance, if it is close: at most a third of the letters differ.
  public static func of(_ typed: String, in candidates: [String]) -> String? {
    let closest = candidates.map { ($0, distance(typed, $0)) }.min { $0.1 < $1.1 }
    guard let (name, distance) = closest else { return nil }
    return distance <= max(1, max(typed.utf8.count, name.utf8.count) / 3) ? name : nil
  }

  /// Levenshtein distance over the first 64 bytes.
  static func distance(_ a: String, _ b: String) -> Int {
    let (left, right) = (Array(a.lowercased().utf8.prefix(64)), Array(b.lowercased().utf8.prefix(64)))
    var row = Array(0...right.count)
    for (i, byte) in left.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in right.enumerated() {
        let substituted = diagonal + (byte == other ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(substituted, row[j] + 1, diagonal + 1)
      }
    }
    return row[right.count]
  }
}
