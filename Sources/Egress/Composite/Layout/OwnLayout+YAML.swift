import Foundation
public import MediaBridge
import MediaCore
import PipelineTemplates
import Yams

extension OwnLayout {
  /// More than a person writes.
  private static let largestFile = 64 * 1024
  private static let mostTiles = 100

  /// Reads a YAML file; its name without the ending is the layout's.
  /// - Throws: what is wrong in which line and column, and what to do.
  public init(file: String) throws(LiveKitError) {
    let url = URL(fileURLWithPath: file)
    let bytes: Data
    do { bytes = try Data(contentsOf: url) } catch {
      throw LiveKitError(.invalidParameter, "\(file) cannot be read: \(error.systemReason)", underlying: error)
    }
    guard bytes.count <= Self.largestFile, let text = String(bytes: bytes, encoding: .utf8) else {
      throw LiveKitError(.invalidParameter, "\(file) is no layout: give a YAML file in UTF-8 of at most 64 kB")
    }
    try self.init(yaml: text, file: file)
  }

  /// - Parameter file: what the text is called in errors; its last part without the ending is the layout's name.
  /// - Throws: what is wrong in which line and column, and what to do.
  public init(yaml: String, file: String) throws(LiveKitError) {
    let document = LayoutDocument(file: file)
    let fields = try document.fields(try document.parse(yaml), ["tiles"])
    let list = try document.required("tiles", in: fields)
    guard let nodes = list.value.sequence, !nodes.isEmpty, nodes.count <= Self.mostTiles else {
      throw document.error(list.value, "`tiles` takes a list of 1 to \(Self.mostTiles) rectangles")
    }
    var tiles: [Tile] = []
    for node in nodes { tiles.append(try document.tile(node)) }
    self.init(name: URL(fileURLWithPath: file).deletingPathExtension().lastPathComponent, tiles: tiles)
  }
}

/// A file as it is read, for errors that name the place.
private struct LayoutDocument {
  let file: String

  /// A mapping by its keys.
  struct Fields {
    let node: Node
    let values: [String: Node]
  }

  private static let keys = ["x", "y", "width", "height", "participant", "source", "order", "fit", "level"]

  func error(_ node: Node?, _ message: String) -> LiveKitError {
    LiveKitError(.invalidParameter, "\(YAMLMistake(file, node?.mark, message))")
  }

  func parse(_ yaml: String) throws(LiveKitError) -> Node {
    do throws(YAMLMistake) { return try YAMLFile(file, holding: "layout").parse(yaml) } catch {
      throw LiveKitError(.invalidParameter, "\(error)")
    }
  }

  func fields(_ node: Node, _ known: [String]) throws(LiveKitError) -> Fields {
    guard let mapping = node.mapping else {
      throw error(node, "write `name: value` here, of \(known.joined(separator: ", "))")
    }
    var values: [String: Node] = [:]
    for (key, value) in mapping {
      guard let name = key.string, known.contains(name) else {
        let name = key.string ?? "this"
        let advice = NearestName.of(name, in: known).map { "did you mean `\($0)`?" }
        throw error(key, "there is no `\(name)`; \(advice ?? "there is \(known.joined(separator: ", "))")")
      }
      values[name] = value
    }
    return Fields(node: node, values: values)
  }

  func required(_ name: String, in fields: Fields) throws(LiveKitError) -> (name: String, value: Node) {
    guard let value = fields.values[name] else { throw error(fields.node, "`\(name)` is missing") }
    return (name, value)
  }

  func tile(_ node: Node) throws(LiveKitError) -> OwnLayout.Tile {
    let fields = try fields(node, Self.keys)
    var tile = OwnLayout.Tile(
      x: try fraction("x", fields), y: try fraction("y", fields), width: try fraction("width", fields),
      height: try fraction("height", fields))
    for (start, length, name) in [(tile.x, tile.width, "width"), (tile.y, tile.height, "height")] {
      guard length > 0 else { throw error(fields.values[name], "`\(name)` is more than 0") }
      guard start + length <= 1.0001 else { throw error(fields.values[name], "with this `\(name)` it ends outside") }
    }
    if let node = fields.values["participant"] { tile.participant = try text(node, "participant") }
    tile.source = try choice("source", fields) ?? tile.source
    tile.order = try choice("order", fields) ?? tile.order
    tile.fit = try choice("fit", fields)
    if let node = fields.values["level"] {
      guard let level = node.int, (-1000...1000).contains(level) else {
        throw error(node, "`level` takes a whole number")
      }
      tile.level = level
    }
    return tile
  }

  private func text(_ node: Node, _ name: String) throws(LiveKitError) -> String {
    guard let text = node.scalar?.string else { throw error(node, "`\(name)` takes text") }
    return text
  }

  /// `0.25`, or `1/4`.
  private func fraction(_ name: String, _ fields: Fields) throws(LiveKitError) -> Double {
    let node = try required(name, in: fields).value
    let parts = try text(node, name).split(separator: "/", omittingEmptySubsequences: false).map { Double($0) }
    let value = parts.count == 2 ? parts[0].flatMap { top in parts[1].map { top / $0 } } : parts.first ?? nil
    guard parts.count <= 2, let value, (0...1).contains(value) else {
      throw error(node, "`\(name)` takes a fraction of the frame from 0 to 1, such as 0.25 or 1/3")
    }
    return value
  }

  private func choice<Choice: RawRepresentable & CaseIterable>(
    _ name: String, _ fields: Fields
  ) throws(LiveKitError) -> Choice? where Choice.RawValue == String {
    guard let node = fields.values[name] else { return nil }
    guard let choice = Choice(rawValue: try text(node, name)) else {
      throw error(node, "`\(name)` takes one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return choice
  }
}
