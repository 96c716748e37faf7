import ArgumentParser
import Egress

/// Options for what is seen of a mixed room besides the tracks.
struct SceneryArguments: ParsableArguments {
  @Option(
    help: ArgumentHelp("Pixels between tiles and around them, an even number; 0 unless given", valueName: "pixels"),
    transform: count(of:))
  var gap = 0

  @Option(
    help: ArgumentHelp(
      "Pixels by which the corners of tiles are rounded, an even number, 0 unless given; the background is seen beside "
        + "them",
      valueName: "pixels"), transform: count(of:))
  var cornerRadius = 0

  @Option(
    help: ArgumentHelp(
      "What is seen where no tile is: a colour such as white or #203040, or a PNG or JPEG file; black unless given",
      valueName: "colour|file"), transform: background(of:))
  var background: CompositeScenery.Background?

  @Option(help: ArgumentHelp("A PNG or JPEG file that is seen above all tiles", valueName: "file"))
  var logo: String?

  @Option(
    help: ArgumentHelp(
      "Where the logo is: top-left, top-right, bottom-left or bottom-right; top-right unless given",
      valueName: "corner"), transform: corner(named:))
  var logoCorner: CompositeScenery.Logo.Corner?

  @Option(help: ArgumentHelp("How solid the logo is, from 0 to 1; 1 unless given", valueName: "share"))
  var logoOpacity: Double?

  func validate() throws {
    let given = [("--logo-corner", logoCorner != nil), ("--logo-opacity", logoOpacity != nil)]
    if logo == nil, let option = given.first(where: \.1)?.0 {
      throw ValidationError("\(option) is for a logo: give --logo FILE, too")
    }
  }

  /// Which options were given, by name.
  var given: [(String, Bool)] {
    [
      ("--gap", gap != 0), ("--corner-radius", cornerRadius != 0), ("--background", background != nil),
      ("--logo", logo != nil),
    ]
  }

  var scenery: CompositeScenery {
    CompositeScenery(
      gap: gap, cornerRadius: cornerRadius, background: background ?? .color(0),
      logo: logo.map { .init(file: $0, corner: logoCorner ?? .topRight, opacity: logoOpacity ?? 1) })
  }
}

func corner(named name: String) throws -> CompositeScenery.Logo.Corner {
  guard let corner = CompositeScenery.Logo.Corner(rawValue: name) else {
    let known = CompositeScenery.Logo.Corner.allCases.map(\.rawValue)
    throw ValidationError("give one of \(known.joined(separator: ", "))")
  }
  return corner
}

func background(of text: String) throws -> CompositeScenery.Background {
  if let color = colors[text] { return .color(color) }
  if text.hasPrefix("#") {
    guard text.count == 7, let color = UInt32(text.dropFirst(), radix: 16) else {
      throw ValidationError("write a colour as #RRGGBB, such as #203040")
    }
    return .color(color)
  }
  // What has no full stop is no file's name, but a colour that is not known.
  guard text.contains(".") else {
    throw ValidationError("'\(text)' is no colour of \(colors.keys.sorted().joined(separator: ", ")), and no file")
  }
  return .image(file: text)
}

/// Those of the first HTML.
private let colors: [String: UInt32] = [
  "black": 0x000000, "silver": 0xc0c0c0, "gray": 0x808080, "white": 0xffffff, "maroon": 0x800000, "red": 0xff0000,
  "purple": 0x800080, "fuchsia": 0xff00ff, "green": 0x008000, "lime": 0x00ff00, "olive": 0x808000, "yellow": 0xffff00,
  "navy": 0x000080, "blue": 0x0000ff, "teal": 0x008080, "aqua": 0x00ffff,
]
