import BridgeTesting
import Foundation
import GStreamerKit
import MediaCore
import PipelineTemplates
import Testing

@Suite struct ShippedTemplatesTests {
  static let all = ((try? Shipped.store.list().entries) ?? []).map { "\($0.kind.rawValue)/\($0.name)" }

  @Test func everyKindIsThere() {
    #expect(Self.all.count >= 21)
    for kind in [TemplateKind.receive, .encode, .output, .capture] {
      #expect(Self.all.contains { $0.hasPrefix(kind.rawValue) })
    }
  }

  @Test(arguments: all) func instantiates(_ path: String) throws {
    let (kind, name) = try Self.split(path)
    let template = try Shipped.store.find(kind, name)
    #expect(!template.summary.isEmpty)
    // What only a destination says.
    let told = ["location": "/dev/null", "host": "127.0.0.1", "port": "5000"]
    for variable in template.variables where told[variable.name] == nil {
      #expect(variable.defaultValue != nil, "\(path): \(variable.name) has no default")
    }
    let values = told.filter { name, _ in template.variables.contains { $0.name == name } }
    let filled = try template.fill(values)
    #expect(filled.contractViolation == nil)
    // A machine without the hardware has nothing to build them with.
    if filled.elements.contains(where: { ElementPackage.isHardware($0.factory) && !GStreamer.hasElement($0.factory) }) {
      return
    }
    let pipeline = try Shipped.pipeline(kind, name, values, voices: [2])
    #expect(!pipeline.hasElement("no such name"))
  }

  /// A capture template works without a room.
  @Test(arguments: ["pattern", "tone"])
  func captures(_ name: String) async throws {
    let pipeline = try Shipped.pipeline(.capture, name)
    let errors = errors(of: pipeline)
    let (sinkName, kind) = name == "tone" ? ("pcm", "audio") : ("frames", "video")
    let made = Collector<(media: MediaBuffer, arrival: MediaTime)>()
    _ = try pipeline.appSink(named: sinkName, onBuffer: { made.add(($0, .now)) })
    try pipeline.start()
    try await eventually("ten buffers of \(name)") { made.count >= 10 }
    #expect(await pipeline.stop())
    #expect(errors.values.isEmpty)
    let first = try #require(made.values.first)
    #expect(first.media.caps.mediaType == "\(kind)/x-raw")
    let age = first.arrival - (try #require(first.media.pts))
    #expect(age > .seconds(-1) && age < .seconds(10), "times are on the monotonic clock, not \(age) away from it")
  }

  static func split(_ path: String) throws -> (TemplateKind, String) {
    let parts = path.split(separator: "/").map(String.init)
    return (try #require(TemplateKind(rawValue: parts[0])), parts[1])
  }
}
