import ArgumentParser
import Foundation
import GStreamerKit
import MediaBridge
import MediaPipelines
import PipelineTemplates

/// What is to be published: one word of the command line.
struct PublishSource: Sendable {
  /// As it was given, with what is secret in an address.
  private var word: String
  var template: String
  var values: [String: String] = [:]
  var location: String?

  /// For people and machines: as it was given, without what may be secret in an address. A path stays, since it says what
  /// of a server it is; that of RTMP ends in a key, and is shown as one.
  var shown: String {
    guard let address else { return word }
    let shown = address.shown
    guard !word.lowercased().hasPrefix("rtmp"), let path = URLComponents(string: word)?.percentEncodedPath else {
      return shown
    }
    let server = shown.prefix { $0 != "?" }
    return "\(server)\(path)\(shown.dropFirst(server.count))"
  }

  /// Whether one can come back to its beginning: a file, here or on a web server.
  private var hasBeginning: Bool {
    guard let location else { return false }
    return !location.contains("://")
      || ["file://", "http://", "https://"].contains(where: location.lowercased().hasPrefix)
  }

  /// Nil for what is none, and so holds no secret.
  private var address: Destination? {
    guard let location, !location.hasPrefix("file://") else { return nil }
    let address = Destination(location: location)
    return address.isFile ? nil : address
  }

  /// What goes by once: there is no beginning to come back to, and no end to come back from.
  var isPipe: Bool { MediaSource.readsStandardInput(template) }

  var isScreen: Bool { template == "screen" || template == "screen-portal" }

  /// Whether it is what is heard of a screen.
  var isScreenAudio: Bool { template == "screen-audio" }

  /// Whether it is a voice, of which pauses are worth leaving out.
  var isMicrophone: Bool { template.hasPrefix("microphone") }

  /// Whether somebody has to call it before there is anything.
  var isListener: Bool { address?.srtValue(of: "mode") == "listener" }

  /// Where it is called; nil where nobody has to.
  var call: CallAddresses? { isListener ? location.flatMap(CallAddresses.init) : nil }

  /// Whether all of a kind that comes of it is encoded here, and something does.
  /// - Parameter passes: whether what it carries may go as it is.
  func isEncoded(_ kind: CapturePipeline.Kind, passes: Bool, by factory: PipelineFactory) -> Bool {
    // What is in a file or comes from elsewhere is not known yet.
    guard location == nil, !isPipe, (try? CapturePipeline.kinds(of: template, factory: factory))?.contains(kind) == true
    else { return false }
    return !passes || (try? factory.variables(of: templateName))?.contains("formats") != true
  }

  /// - Throws: for what is neither a file, an address nor a capture template.
  init(_ word: String, templates: [String]) throws {
    self.word = word
    let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
    let isFile = FileManager.default.fileExists(atPath: word)
    let argument = parts.count > 1 && !word.contains("://") && !isFile ? parts[1] : nil
    switch argument == nil ? word : parts[0] {
    case "-": template = MediaSource.standardInput
    case _ where word.contains("://"): (template, location) = (MediaSource.template(of: word), word)
    case _ where word.hasPrefix("/dev/video"): (template, values) = ("camera", ["device": word])
    case "screen":
      let options = ScreenShareCaptureOptions(display: argument)
      (template, values) = (options.templateName, options.allValues)
    case "microphone": (template, values["source"]) = ("microphone", argument)
    case let name where FileManager.default.fileExists(atPath: name): (template, location) = ("file", name)
    case let name where templates.contains(name): template = name
    default:
      throw ValidationError(
        "\(word): there is no such file, and no capture template of that name; \(Self.advice(word, templates))")
    }
    guard argument == nil || ["screen", "microphone"].contains(parts[0]) else {
      throw ValidationError(
        "\(word): only screen=DISPLAY and microphone=ELEMENT take a value; use --set for a template's")
    }
    try checkLocation()
  }

  /// - Throws: where it is nothing that can be read.
  private func checkLocation() throws {
    guard let location else { return }
    if PathSink.isFolder(location) { throw ValidationError("\(word): a folder is no source; give a file in it") }
    guard let mark = location.range(of: "://") else { return }
    let scheme = location[..<mark.lowerBound].lowercased()
    // Of those that there are the template says which element is not installed.
    guard Self.schemes.contains(scheme) || GStreamer.reads(scheme: scheme) else {
      let advice =
        NearestName.of(scheme, in: Self.schemes).map { "did you mean \($0)://?" }
        ?? "give one of \(Self.schemes.map { "\($0)://" }.joined(separator: ", ")), or a capture template of your own"
      throw ValidationError("'\(scheme)://…' is no address that can be read; \(advice)")
    }
    guard mark.upperBound < location.endIndex else {
      throw ValidationError("\(location): the address names no server; write \(scheme)://HOST/PATH")
    }
  }

  /// Those that people stream by, whatever is installed.
  private static let schemes = ["rtsp", "rtmp", "srt", "http", "https"]

  private static func advice(_ word: String, _ templates: [String]) -> String {
    NearestName.of(word, in: templates).map { "did you mean '\($0)'?" }
      ?? "give a file, an address, - for standard input, /dev/videoN, screen, microphone, or one of \(templates.joined(separator: ", "))"
  }

  var templateName: TemplateName { TemplateName(.capture, template) }

  /// By which a value may be for it alone.
  var place: Destination { Destination(location: "", output: template) }

  /// Takes what is set for all, as far as its template has it, and what is set for it alone.
  /// - Throws: where its template has nothing of the name of the latter.
  mutating func set(_ shared: [String: String], _ own: [String: String], folder: String?) throws {
    let known = SetArguments.variables(of: [templateName], folder: folder)
    if let name = own.keys.sorted().first(where: { !known.contains($0) }) {
      let unknown = UnknownVariable(name: name, templates: [templateName], known: known.sorted())
      throw ValidationError("\(shown): \(unknown.error.message)")
    }
    values.merge(shared.filter { known.contains($0.key) }) { _, set in set }
    values.merge(own) { _, set in set }
  }

  /// - Parameters:
  ///   - start: where in a file it begins.
  ///   - passthrough: what of it is not encoded anew.
  func make(from start: Duration, passthrough: Passthrough, folder: String?) -> MediaSource {
    guard let location else {
      return MediaSource(template: template, passthrough: passthrough, values: values, pipelineFolder: folder)
    }
    return MediaSource(
      location: location, from: start, passthrough: passthrough, values: values, pipelineFolder: folder)
  }

  /// - Throws: where they cannot be published together, from `start` on, or again and again.
  static func check(_ sources: [PublishSource], isLooped: Bool, from start: Duration?) throws {
    guard sources.count(where: \.isPipe) < 2 else {
      throw ValidationError("-: standard input can be read once; give it once")
    }
    if isLooped, sources.contains(where: \.isPipe) {
      throw ValidationError("--loop: standard input cannot be begun again; leave out --loop, or give a file")
    }
    if isLooped, let first = sources.first, !sources.contains(where: \.hasBeginning) {
      throw ValidationError("--loop: \(first.shown) has no end to begin again behind; leave it out, or give a file")
    }
    if start != nil, let other = sources.first(where: { !$0.hasBeginning }) {
      throw ValidationError("--seek: \(other.shown) has no beginning to begin behind; give files")
    }
  }

  /// What is to be said of an error of it.
  func explained(_ error: LiveKitError) -> LiveKitError {
    let said = inWords(error)
    return LiveKitError(said.code, "\(shown): \(said.message)", fault: said.fault, underlying: said.underlying)
  }

  /// The same, behind its name.
  func inWords(_ error: LiveKitError) -> LiveKitError {
    // What looks for one tries several elements, and fails with the words of the last.
    let isSearch = isMicrophone && values["source"] == nil
    let isClosed = [.noMedia, .pipeline].contains(error.code) && (isSearch || isScreenAudio)
    let said = redacted(error).message
    if isListener, Self.isNothing(said) {
      return LiveKitError(.noMedia, "whoever called has hung up before anything came", underlying: error.underlying)
    }
    if Self.isNoMedia(said) {
      let message = "it is no media that GStreamer knows; give something that a player plays"
      return LiveKitError(.invalidParameter, message, underlying: error.underlying)
    }
    let message = isClosed ? "\(closed); is PulseAudio or PipeWire running? (\(said))" : said
    return LiveKitError(error.code, message, fault: error.fault, underlying: error.underlying)
  }

  /// What looks at the first bytes says so where there were next to none.
  private static func isNothing(_ message: String) -> Bool {
    ["Stream doesn't contain enough data", "Stream contains no data"].contains { message.contains($0) }
  }

  /// What looks at the first bytes says of anything else where it stands in its template.
  private static func isNoMedia(_ message: String) -> Bool {
    ["Could not determine type of stream", "appears to be a text file"].contains { message.contains($0) }
  }

  /// Without what is secret in its address: what reads from there says all of it.
  func redacted(_ error: LiveKitError) -> LiveKitError {
    guard let address else { return error }
    let message = address.redact(error.message.replacing(word, with: shown))
    return LiveKitError(error.code, message, fault: error.fault, underlying: error.underlying)
  }

  private var closed: String {
    isScreenAudio ? "what is heard cannot be captured" : "no microphone can be opened"
  }
}
