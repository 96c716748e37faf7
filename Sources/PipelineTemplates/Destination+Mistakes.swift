// What is wrong with a destination by its words alone.
extension Destination {
  /// Why nothing can be written there, and what to write instead; nil where that is not known. Pure.
  package var mistake: String? {
    addressMistake ?? schemeMistake ?? pathMistake ?? portMistake ?? modeMistake ?? passphraseMistake
  }

  private var pathMistake: String? {
    guard let output, location.isEmpty else { return nil }
    return "'\(output)=' lacks a file: write \(output)=FILE"
  }

  // MARK: Schemes

  /// The schemes that there are, for messages.
  package static let shownSchemes = schemes.map { $0 + "://" }.joined(separator: ", ")

  /// A shipped template that writes files has the name of the scheme: it would take the address for a path.
  private var schemeMistake: String? {
    guard isLive, output == nil, let scheme, let template, !Self.addressTemplates.contains(template),
      BuiltInTemplates.names(of: .output).contains(template)
    else { return nil }
    let written = template == "window" ? "window= for a window" : "\(template)=FILE for a file"
    return "'\(shown)': there is no scheme \(scheme)://; there are \(Self.shownSchemes); write \(written)"
  }

  // MARK: Ports

  /// Those whose servers have a port.
  private static let ported: Set = ["rtmp", "rtmps", "srt", "udp"]

  private var portMistake: String? {
    // That there is none, or that whoever is in the room would choose it, is told elsewhere.
    guard let scheme, Self.ported.contains(scheme), let port = values["port"], !port.isEmpty, !leavesServerOpen,
      Int(port).map({ (1...65_535).contains($0) }) != true
    else { return nil }
    return "'\(shown)': port \(port) does not exist; ports go from 1 to 65535"
  }

  // MARK: SRT

  private static let modes = ["caller", "listener", "rendezvous"]
  /// Bytes, as libsrt takes them.
  private static let passphrases = 10...79

  /// GStreamer passes over a mode that it does not know, and calls.
  private var modeMistake: String? {
    guard let mode = typedValue(of: "mode"), !Self.modes.contains(mode) else { return nil }
    let nearest = NearestName.of(mode, in: Self.modes).map { "did you mean \($0)? There" } ?? "there"
    return "'\(shown)': SRT has no mode '\(mode)'; \(nearest) are \(Self.modes.joined(separator: ", "))"
  }

  private var passphraseMistake: String? {
    guard let passphrase = typedValue(of: "passphrase") else { return nil }
    let bytes = passphrase.replacing(/%[0-9A-Fa-f]{2}/, with: "x").utf8.count
    guard !Self.passphrases.contains(bytes) else { return nil }
    return "'\(shown)': the passphrase is too \(bytes < 10 ? "short" : "long"); SRT takes one of 10 to 79 bytes"
  }

  /// What the address says of it; nil where that is nothing, or what fills a placeholder.
  private func typedValue(of name: String) -> String? { srtValue(of: name).flatMap { $0.contains("{") ? nil : $0 } }

  /// What an SRT address says of its `mode`, its `passphrase` and so on, the last of several as GStreamer reads it; nil
  /// where that is nothing.
  package func srtValue(of name: String) -> String? {
    guard template == "srt", scheme == "srt", let mark = location.firstIndex(of: "?") else { return nil }
    let fields = location[location.index(after: mark)...].split(separator: "&")
    let value = fields.last { $0.hasPrefix("\(name)=") }?.dropFirst(name.count + 1)
    return value.flatMap { $0.isEmpty ? nil : String($0) }
  }
}
