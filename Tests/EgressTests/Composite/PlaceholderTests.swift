import GStreamerKit
import MediaPipelines
import Testing

@testable import Egress

/// What is seen of who has no camera.
@Suite struct PlaceholderTests {
  @Test(arguments: [
    ("Ada Lovelace", "AL"), ("ada", "A"), ("jean-luc van der berg", "JB"), ("élodie", "É"), ("  ", "?"), ("", "?"),
    ("محمد علي", "م"), ("王小明", "王"), ("😀", "😀"), ("<b>\"&", "B"), ("\u{202e}eve", "E"), ("42 north", "4"),
    ("straße ß", "SSS"), ("👩‍👩‍👧", "👩"),
  ])
  func initialsAreLettersOfTheName(_ name: String, _ initials: String) {
    #expect(Placeholder.initials(of: name) == initials)
  }

  @Test func aParticipantKeepsItsColour() {
    let one = Placeholder(name: "Ada", identity: "ada", showsName: true)
    #expect(one.color == Placeholder(name: "Countess", identity: "ada", showsName: false).color)
    #expect(Set((0..<40).map { Placeholder(name: "", identity: "p\($0)", showsName: false).color }).count > 4)
  }

  /// Whatever people call themselves.
  @Test(arguments: [
    "Ada", "😀🏳️‍🌈", "محمد علي", "<span size='999999'>", "\u{0}\n\u{202e}", String(repeating: "w ", count: 500),
  ])
  func itIsLettersOnAColour(_ name: String) throws {
    let painter = try PlaceholderPainter(factory: PipelineFactory(folder: nil, overrides: [:]))
    let placeholder = Placeholder(name: name, identity: name, showsName: true)
    let size = PixelSize(width: 426, height: 240)
    let painted = try painter.paint(placeholder.initials, placeholder.name, on: placeholder.color, size: size)
    let frame = try #require(painted)
    #expect(frame.width == 426 && frame.height == 240 && frame.pixelFormat == .i420)
    let luma = frame.withPlanes { planes in planes[0].map { plane in (0..<240).map { plane.bytes[$0 * plane.stride] } }
    }
    #expect(luma == Array(repeating: placeholder.color.luma, count: 240), "nothing is written at the edge")
    let brightest = frame.withPlanes { planes in planes[0]?.bytes.max() }
    #expect((brightest ?? nil) ?? 0 > 180, "white letters")
  }

  /// Each is painted by a pipeline of its own.
  @Test func whatWasPaintedIsKept() throws {
    let painter = try PlaceholderPainter(factory: PipelineFactory(folder: nil, overrides: [:]))
    let color = FrameColor(rgb: 0x204060)
    func paint(_ initials: String, _ name: String?, width: Int = 64) throws -> VideoFrameBuffer {
      let size = PixelSize(width: width, height: 36)
      return try #require(try painter.paint(initials, name, on: color, size: size))
    }
    let first = try paint("AL", "Ada")
    #expect(try paint("AL", "Ada").media === first.media)
    for other in [try paint("AL", nil), try paint("AB", "Ada"), try paint("AL", "Ada", width: 80)] {
      #expect(other.media !== first.media)
    }
    // More of them than are kept.
    for width in 0..<64 { _ = try paint("AL", "Ada", width: 64 + width * 2) }
    #expect(try paint("AL", "Ada").media !== first.media)
  }

  @Test func coloursAreThoseOfVideo() {
    #expect(FrameColor(rgb: 0) == .black)
    #expect(FrameColor(rgb: 0xffffff).luma == 235 && FrameColor(rgb: 0xffffff).blue == 128)
    let red = FrameColor(rgb: 0xff0000)
    #expect(red.luma == 81 && red.blue == 90 && red.red == 240)
  }
}
