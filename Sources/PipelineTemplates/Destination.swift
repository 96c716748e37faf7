import Foundation

/// Where an output goes, and by which template: `[NAME=]LOCATION`.
public struct Destination: Equatable, Sendable {
  /// The name of the output template; nil where the location's extension is its name.
  public var output: String?
  /// A file's path, or an address such as `udp://127.0.0.1:5000`.
  public var location: String

  /// - Parameters:
  ///   - location: a file, an address or whatever the output template takes.
  ///   - output: name of the output template; nil to go by the end of the location.
  public init(location: String, output: String? = nil) {
    self.location = location
    self.output = output
  }

  /// As it stands on a command line. What has a `/` in front of its first `=` is a location alone, such as `./a=b.mp4`.
  public init(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    let isNamed = parts.count == 2 && TemplateStore.isName(parts[0])
    self.init(location: isNamed ? parts[1] : argument, output: isNamed ? parts[0] : nil)
  }

  /// Whether it is a path, and no address.
  public var isFile: Bool { address == nil }

  /// The name of the template that writes it; nil where nothing says.
  public var template: String? {
    if let output { return output }
    let ending = isFile ? URL(fileURLWithPath: location).pathExtension.lowercased() : ""
    let name = Self.synonyms[ending] ?? ending
    return TemplateStore.isName(name) ? name : nil
  }

  /// Endings that are another word for a template's name.
  private static let synonyms = ["opus": "ogg"]

  /// What a template is told of it: `location`, and of an address also `host` and `port`.
  public var values: [String: String] {
    var values = ["location": location]
    values["host"] = address?.host.map { $0.filter { $0 != "[" && $0 != "]" } }
    values["port"] = address?.port.map(String.init)
    return values
  }

  /// For messages: a file's path, and an address without what may be a secret in it.
  public var shown: String {
    guard let address, let scheme = address.scheme, let host = address.host else { return location }
    return "\(scheme)://\(host)\(address.port.map { ":\($0)" } ?? "")"
  }

  private var address: URLComponents? {
    guard location.contains("://"), let parts = URLComponents(string: location), parts.scheme?.isEmpty == false else {
      return nil
    }
    return parts
  }
}
