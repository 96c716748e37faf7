import ArgumentParser
import Foundation
import MediaBridge
import PipelineTemplates

/// What is to be published: one word of the command line.
struct PublishSource: Sendable {
  /// As it was given.
  var word: String
  var template: String
  var values: [String: String] = [:]
  var location: String?

  var isScreen: Bool { template == "screen" }

  /// - Throws: for what is neither a file, an address nor a capture template.
  init(_ word: String, templates: [String]) throws {
    self.word = word
    let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
    let argument = parts.count > 1 && !word.contains("://") ? parts[1] : nil
    switch argument == nil ? word : parts[0] {
    case _ where word.contains("://"): (template, location) = (MediaSource.template(of: word), word)
    case _ where word.hasPrefix("/dev/video"): (template, values) = ("camera", ["device": word])
    case "screen": (template, values) = ("screen", ScreenShareCaptureOptions(display: argument).allValues)
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
  }

  private static func advice(_ word: String, _ templates: [String]) -> String {
    NearestName.of(word, in: templates).map { "did you mean '\($0)'?" }
      ?? "give a file, an address, /dev/videoN, screen, microphone, or one of \(templates.joined(separator: ", "))"
  }

  func make(values own: [String: String], folder: String?) -> MediaSource {
    let all = values.merging(own) { _, set in set }
    guard let location else { return MediaSource(template: template, values: all, pipelineFolder: folder) }
    return MediaSource(location: location, values: all, pipelineFolder: folder)
  }
}
