import ArgumentParser

/// How `frames` or `pcm` writes, and what files of it are called.
protocol RawFileFormat: RawRepresentable<String>, CaseIterable, Equatable {
  /// What is written.
  static var unit: String { get }
  /// What the names of such files end in, in small letters; empty where they may end in anything.
  var endings: [String] { get }
}

extension RawFileFormat {
  /// The format of which a file's ending speaks.
  static func named(_ ending: String?) -> Self? { allCases.first { $0.endings.contains(ending ?? "") } }
}

extension PCMFormat: RawFileFormat {
  static let unit = "samples"
  var endings: [String] { self == .wav ? ["wav"] : [] }
}

extension RawFormat: RawFileFormat {
  static let unit = "frames"

  /// One JPEG after the other in a file is Motion JPEG.
  var endings: [String] {
    switch self {
    case .y4m: ["y4m"]
    case .png: ["png"]
    case .jpeg: ["jpg", "jpeg", "mjpg", "mjpeg"]
    default: []
    }
  }
}

/// Files whose names promise what they would not hold.
extension RawArguments {
  /// Of containers and codecs that `record` writes.
  private static let recordedEndings = ["h264", "ivf", "m3u8", "mkv", "mp3", "mp4", "ogg", "opus", "ts", "webm"]
  /// Of those that nobody writes here.
  private static let otherEndings = [
    "3gp", "aac", "avi", "flac", "flv", "gif", "m2ts", "m4a", "m4v", "mka", "mov", "mpeg", "mpg", "oga", "ogv", "webp",
    "wma", "wmv",
  ]

  /// Of Motion JPEG.
  private static let streams: Set<String?> = ["mjpg", "mjpeg"]

  /// What the name of the file or pipe ends in, in small letters; nil where it goes elsewhere, or into a folder.
  var ending: String? {
    guard case .path(let path) = target, folder == nil else { return nil }
    let parts = path.split(separator: "/").last?.split(separator: ".") ?? []
    return parts.count > 1 ? parts.last.map { $0.lowercased() } : nil
  }

  /// The one that it goes into, as it was written; nil where it is none.
  var folder: String? {
    guard case .path(let path) = target, PathSink.namesFolder(path) else { return nil }
    return path
  }

  /// Whether it is kept under that name: a pipe or a device is not.
  private var isFile: Bool {
    guard case .path(let path) = target else { return false }
    return folder == nil && !path.hasPrefix("/dev/") && !PathSink.isPipe(path)
  }

  /// - Parameter format: the one that was asked for; nil for that of the name.
  /// - Throws: a file would hold something else than its name says.
  func validateEnding<Format: RawFileFormat>(_ format: Format?) throws {
    guard isFile, let ending else { return }
    let named = Format.named(ending)
    if let named, !framed, format ?? named == named { return }
    let others = [
      ("use 'record', or ", Self.recordedEndings), ("'record' writes .mkv and .mp4; ", Self.otherEndings),
      ("use 'pcm', or ", PCMFormat.allEndings), ("use 'frames', or ", RawFormat.allEndings),
    ]
    guard var advice = others.first(where: { $0.1.contains(ending) })?.0 else { return }
    // One image behind the other is refused, too.
    let isOfImages = ["png", "jpg", "jpeg"].contains(ending)
    if named != nil { advice = framed ? "leave out --framed, or " : isOfImages ? "" : "leave out --format, or " }
    let content = framed ? "framed" : format?.rawValue ?? "raw"
    throw ValidationError(
      "'\(shown)' would hold \(content) \(Format.unit): \(advice)name it \(shown.dropLast(ending.count))raw")
  }

  /// - Throws: images would be written one after the other into a file.
  func validateImages(_ format: RawFormat) throws {
    guard isFile, !framed, !Self.streams.contains(ending) else { return }
    let stem = ending.map { String(shown.dropLast($0.count + 1)) } ?? shown
    throw ValidationError(
      "'\(shown)' would hold one image behind the other: end the name with / for a folder, as in --format "
        + "\(format.rawValue) '\(stem)/'")
  }
}

extension RawFileFormat {
  fileprivate static var allEndings: [String] { allCases.flatMap(\.endings) }
}
