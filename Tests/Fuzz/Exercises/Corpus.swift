public import Foundation

/// The inputs that are kept under `Tests/Corpus/NAME`: seeds, and what once went wrong. A file is an input as it is, or
/// in hexadecimal when its name ends in `.hex`.
public enum Corpus {
  public static func load(_ exercise: Exercise, in folder: URL) throws -> [(name: String, bytes: [UInt8])] {
    let folder = folder.appending(path: exercise.rawValue)
    return try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted().map { name in
      let data = try Data(contentsOf: folder.appending(path: name))
      return (name, name.hasSuffix(".hex") ? bytes(hex: String(decoding: data, as: UTF8.self)) : Array(data))
    }
  }

  /// Bytes from text such as `80 c9 00 01`; lines may end in `# a remark`.
  public static func bytes(hex text: String) -> [UInt8] {
    let digits = text.split(separator: "\n").flatMap { line in
      line.prefix { $0 != "#" }.filter(\.isHexDigit).compactMap(\.hexDigitValue)
    }
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }
}
