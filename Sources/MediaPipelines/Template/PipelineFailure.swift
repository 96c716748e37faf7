import Foundation
package import GStreamerKit
package import PipelineTemplates

/// What went wrong with a template or with its pipeline, in a person's words. The SDK tells it as an error of its own.
package struct PipelineFailure: Error, Sendable, CustomStringConvertible {
  /// What has to be put right.
  package enum Kind: Sendable {
    /// A value that was set, or its name.
    case value
    /// The template.
    case template
    /// An element is not installed.
    case missingElement
    /// Where it is written.
    case destination
    /// It stopped while it ran.
    case pipeline
  }

  /// What has to be put right.
  package var kind: Kind
  /// One line for people.
  package var message: String
  /// What was behind it.
  package var underlying: (any Error)?

  /// - Parameter message: one line for people.
  package init(_ kind: Kind, _ message: String, underlying: (any Error)? = nil) {
    self.kind = kind
    self.message = message
    self.underlying = underlying
  }

  /// The message.
  package var description: String { message }
}

extension PipelineFailure {
  /// What is wrong with a template's text, or with where it was looked for.
  init(template error: any Error) { self.init(.template, "\(error)", underlying: error) }

  /// What a pipeline reports, with the file and line of its template; of a server that is not reached neither says anything.
  package init(_ error: PipelineError, in template: FilledTemplate) {
    guard let failure = ConnectionFailure(error, in: template) else {
      self.init(ofTemplate: error, template)
      return
    }
    self.init(template.kind == .output ? .destination : .pipeline, failure.message, underlying: failure)
  }

  private init(ofTemplate error: PipelineError, _ template: FilledTemplate) {
    let place = Place(error: error, template: template)
    // What encodes, decodes or mixes opens a device at most.
    let isOpened = [.output, .capture, .process].contains(template.kind)
    switch error.kind {
    case .missingElements(let names):
      let lines = names.map {
        "\(place.of($0)): the GStreamer element '\($0)' is missing; \(ElementPackage.advice(forElement: $0))"
      }
      self.init(.missingElement, lines.joined(separator: "; "), underlying: error)
    case .initialization: self.init(.pipeline, "GStreamer cannot start: \(error.message)", underlying: error)
    case .syntax, .property, .link, .noSuchElement:
      self.init(.template, "\(place.of(error.element)): \(error.message)", underlying: error)
    case .diskFull: self.init(.destination, "the disk is full", underlying: error)
    case .cannotWrite where isOpened, .notFound where isOpened, .notAuthorized where isOpened, .busy where isOpened:
      let reads = [.capture, .process].contains(template.kind)
      let what = reads ? "cannot be opened" : "cannot be written"
      let advice = Self.advice(forError: error.debug ?? "")
      self.init(
        reads ? .pipeline : .destination, "\(what): \(error.message)\(Self.systemsReason(in: error.debug))\(advice)",
        underlying: error)
    default:
      let element = error.element.map { "\($0): " } ?? ""
      let advice = Self.advice(forError: error.message)
      self.init(.pipeline, "\(place.of(error.element)): \(element)\(error.message)\(advice)", underlying: error)
    }
  }

  /// What to do about it, after a semicolon.
  private static func advice(forError message: String) -> String {
    guard let advice = ElementPackage.advice(forError: message) else { return "" }
    guard advice.contains("SSL_CERT_FILE"), let complaint = GStreamer.authoritiesComplaint else { return "; \(advice)" }
    return "; \(advice) (what it names now is not trusted: \(complaint))"
  }

  /// What the system said, such as `File too large` or `Disk quota exceeded`, or which file there is not; GStreamer keeps it
  /// for developers.
  private static func systemsReason(in debug: String?) -> String {
    guard let line = debug?.split(separator: "\n").last else { return "" }
    if line.hasPrefix("No such file ") { return " (\(line))" }
    guard let mark = line.range(of: ": ", options: .backwards),
      line.hasPrefix("system error: ") || line.hasPrefix("Error while writing")
    else { return "" }
    return " (\(line[mark.upperBound...]))"
  }
}

/// Where in a template an error comes from.
private struct Place {
  let error: PipelineError
  let template: FilledTemplate

  func of(_ element: String?) -> String {
    error.location?.description
      ?? element.flatMap { template.line(ofElement: $0) }.map { "\(template.file):\($0)" } ?? template.file
  }
}
