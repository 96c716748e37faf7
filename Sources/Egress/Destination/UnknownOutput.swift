import MediaBridge
import PipelineTemplates

/// Why no output template is found for a destination, and what can be written instead. Pure.
struct UnknownOutput {
  let destination: Destination
  /// The names of the templates that write what they are told.
  let known: [String]

  var error: LiveKitError {
    let message = scheme.map(message(ofAddress:)) ?? message(ofFile: destination.shown)
    return LiveKitError(.invalidParameter, message)
  }

  /// What lacks a slash is an address only where its scheme is like one: a path may have a colon, too.
  private var scheme: String? {
    destination.scheme.flatMap { scheme in
      let isLike = NearestName.of(scheme, in: Destination.schemes) != nil || Destination.stores.contains(scheme)
      return destination.isLive || isLike ? scheme : nil
    }
  }

  private func message(ofAddress scheme: String) -> String {
    let shown = destination.shownAsAddress
    if Destination.stores.contains(scheme) {
      return "'\(shown)': nothing is uploaded while it runs; record a file, and upload it with --on-complete, such as "
        + "--on-complete 'rclone move \"$1\" store:talks'"
    }
    let nearest = NearestName.of(scheme, in: Destination.schemes).map { "did you mean \($0)://? There" } ?? "there"
    return "'\(shown)' is an address, and no output template is called as its scheme; \(nearest) are "
      + "\(Destination.shownSchemes); or NAME=\(shown) says which output template writes it"
  }

  private func message(ofFile shown: String) -> String {
    let endings = endings
    let nearest = nearest(in: endings).map { "; did you mean .\($0)?" }
    let examples = variants.isEmpty ? "" : ", such as \(variants.joined(separator: ", "))"
    return
      "'\(shown)': the name has to end in one of \(endings.map { "." + $0 }.joined(separator: ", "))\(nearest ?? "")"
      + "\(nearest == nil ? ";" : "") NAME=\(shown) says which output template writes it\(examples), "
      + "and window= shows it"
  }

  /// What is most likely meant by a name's ending.
  private func nearest(in endings: [String]) -> String? {
    let typed = destination.ending
    guard !typed.isEmpty else { return nil }
    // What people most likely want, where several are as near.
    return Self.kin[typed] ?? NearestName.of(typed, in: ["mp4", "mkv"].filter(endings.contains) + endings)
  }

  /// Endings of files that hold the same as those of a shipped template, and how one comes to that: their letters are
  /// nearer to those of another.
  private static let kin = [
    "mov": "mp4", "m4v": "mp4", "m4a": "mp4 with --audio-only", "aac": "mp4 with --audio-only",
    "mka": "mkv with --audio-only",
  ]

  /// What the names of files may end in.
  private var endings: [String] {
    let files = known.filter { !Destination.addressTemplates.contains($0) && !variants.contains($0) }
    return Set(files.flatMap(Destination.endings)).sorted()
  }

  /// Other ways to write what a template is for already, such as `hls-fmp4`: they are chosen by their names.
  private var variants: [String] {
    known.filter { name in
      Destination.endings(of: name) == [name] && known.contains { name.hasPrefix($0 + "-") }
    }
    .sorted()
  }
}
