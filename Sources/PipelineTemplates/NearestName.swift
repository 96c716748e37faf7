/// The name that a person who typed `typed` most likely meant.
public enum NearestName {
  /// The candidate with the smallest edit distance, if it is close: at most a third of the letters differ.
  public static func of(_ typed: String, in candidates: [String]) -> String? {
    let closest = candidates.map { ($0, distance(typed, $0)) }.min { $0.1 < $1.1 }
    guard let (name, distance) = closest else { return nil }
    return distance <= max(1, max(typed.utf8.count, name.utf8.count) / 3) ? name : nil
  }

  /// Edit distance over the first 64 bytes, in which two neighbours that were swapped are one mistake.
  static func distance(_ a: String, _ b: String) -> Int {
    let (left, right) = (Array(a.lowercased().utf8.prefix(64)), Array(b.lowercased().utf8.prefix(64)))
    var (before, row) = ([Int](), Array(0...right.count))
    for (i, byte) in left.enumerated() {
      var next = [i + 1]
      for (j, other) in right.enumerated() {
        var least = min(row[j] + (byte == other ? 0 : 1), next[j] + 1, row[j + 1] + 1)
        if i > 0, j > 0, byte == right[j - 1], left[i - 1] == other { least = min(least, before[j - 1] + 1) }
        next.append(least)
      }
      (before, row) = (row, next)
    }
    return row[right.count]
  }
}
