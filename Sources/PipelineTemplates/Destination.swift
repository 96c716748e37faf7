import Foundation

/// Where an output goes, and by which template: `[NAME=]LOCATION`.
public struct Destination: Equatable, Sendable {
  /// The name of the output template; nil where the location's extension or scheme is its name.
  public var output: String?
  /// A file's path, or an address such as `rtmp://host/app/key`.
  public var location: String
  /// Words of an address that everybody in the room knows, and that are no secrets: what filled its placeholders.
  package var known: Set<String> = []

  /// - Parameters:
  ///   - location: a file, an address or whatever the output template takes.
  ///   - output: name of the output template; nil to go by the end of a file's name, or by the scheme of an address.
  public init(location: String, output: String? = nil) {
    self.location = location
    self.output = output
  }

  /// As it stands on a command line. What has a `/` in front of its first `=` is a location alone, such as `./a=b.mp4`.
  public init(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let isNamed = parts.count == 2 && TemplateStore.isName(parts[0])
    self.init(location: isNamed ? parts[1] : argument, output: isNamed ? parts[0] : nil)
    if output == Self.window, location.isEmpty { location = Self.window }
  }

  /// Whether it is a path, and neither an address nor a window.
  public var isFile: Bool { address == nil && !isWindow }

  /// Whether it is a window on this machine, which the template of that name shows.
  public var isWindow: Bool { output == Self.window }
  private static let window = "window"

  /// Whether somebody else gets it at once.
  public var isLive: Bool { !isFile && !isWindow }

  /// The name of the template that writes it; nil where nothing says.
  public var template: String? {
    if let output { return output }
    let word = address?.scheme ?? URL(fileURLWithPath: location).pathExtension.lowercased()
    let name = Self.synonyms[word] ?? word
    return TemplateStore.isName(name) ? name : nil
  }

  /// Endings and schemes that are another word for a template's name.
  private static let synonyms = [
    "opus": "ogg", "rtmps": "rtmp", "m3u8": "hls", "jpg": "images", "jpeg": "images", "png": "images-png",
  ]

  /// What the names of files may end in that the template of that name writes.
  package static func endings(of template: String) -> [String] {
    let others = ["hls": ["m3u8"], "images": ["jpg", "jpeg"], "images-png": ["png"], "ogg": ["ogg", "opus"]]
    return others[template] ?? [template]
  }

  /// The shipped templates that take an address.
  package static let addressTemplates = ["rtmp", "srt", "udp"]
  /// Of the addresses that those templates take.
  package static let schemes = ["rtmp", "rtmps", "srt", "udp", "mux", "twitch"]
  /// Schemes of places to which files are uploaded.
  package static let stores: Set = ["s3", "gs", "gcs", "azure", "azblob", "oss", "http", "https"]

  /// What the name of a file ends in, in small letters; empty where it has no such end.
  package var ending: String { URL(fileURLWithPath: location).pathExtension.lowercased() }

  /// Of an address, also of one that lacks a slash; nil for a path. In small letters.
  package var scheme: String? { address?.scheme ?? halfScheme }

  /// The word in front of `:/`, as in `rtmp:/HOST/APP/KEY`: a path may begin so, too.
  private var halfScheme: String? {
    guard address == nil, let colon = location.firstIndex(of: ":"), location[colon...].hasPrefix(":/") else {
      return nil
    }
    let word = location[..<colon]
    return word.isEmpty || word.contains { !$0.isLetter && !$0.isNumber } ? nil : word.lowercased()
  }

  /// What a template is told of it: `location`, and of an address also `host` and `port`.
  public var values: [String: String] {
    var values = ["location": resolved]
    guard let address else { return values }
    if !address.host.isEmpty { values["host"] = address.host }
    values["port"] = address.port.map(String.init)
    return values
  }

  /// Whether who is in the room would choose the server that it goes to.
  package var leavesServerOpen: Bool { address?.server.contains("{") == true }

  /// Why it is no address that its template could take; nil where that is not known.
  var addressMistake: String? {
    if let scheme = brokenScheme { return "'\(shown)' lacks a slash: write \(scheme)://, or ./\(scheme):/ for a file" }
    if let service, location.dropFirst(service.count).allSatisfy({ $0 == "/" }) {
      return "'\(service)' lacks a stream key: write \(service)KEY"
    }
    if let template, ["srt", "udp"].contains(template), let address, address.port?.isEmpty ?? true {
      return "'\(shown)' lacks its port: write \(template)://HOST:PORT"
    }
    guard template == "rtmp", address?.lacksKey == true else { return nil }
    return "'\(shown)' lacks an application or a stream key: write rtmp://HOST/APP/KEY"
  }

  private var address: Address? { Address(resolved) }

  /// Addresses of services, of which a key is all that anybody is given. Twitch's leads to the nearest of its servers.
  private static let services = [
    "mux://": "rtmps://global-live.mux.com:443/app/",
    "twitch://": "rtmps://ingest.global-contribute.live-video.net:443/app/",
  ]

  /// The service that is meant, such as `mux://`.
  private var service: String? {
    let start = location.lowercased()
    return Self.services.keys.first { start.hasPrefix($0) }
  }

  /// What `mux://KEY` and `twitch://KEY` are short for.
  private var resolved: String {
    guard let service, let server = Self.services[service] else { return location }
    return server + location.dropFirst(service.count)
  }

  /// Of an address that lacks a slash, where it can be no path.
  private var brokenScheme: String? { halfScheme.flatMap { Self.schemes.contains($0) ? $0 : nil } }
}

extension Destination {
  /// For messages: a file's path, and an address without what may be a secret in it.
  public var shown: String {
    address?.shown(besides: known) ?? brokenScheme.map { "\($0):/{...}" } ?? location
  }

  /// The same where what begins as an address does is none that is known: there may be a key in it.
  package var shownAsAddress: String { address == nil ? halfScheme.map { "\($0):/{...}" } ?? shown : shown }

  /// Parts of the location that nobody else is to see.
  package var secrets: [String] {
    if let scheme = brokenScheme { return [String(location.dropFirst(scheme.count + 2))].filter { !$0.isEmpty } }
    return address?.secrets(besides: known) ?? []
  }

  /// What others say of this destination, without its secrets. One of less than four characters is no key that anybody
  /// gives out, and would be found in every word.
  package func redact(_ text: String) -> String {
    guard !isFile else { return text }
    let whole = text.replacing(location, with: shown).replacing(resolved, with: shown)
    return secrets.filter { $0.count > 3 }.reduce(whole) { $0.replacing($1, with: "{...}") }
  }
}
