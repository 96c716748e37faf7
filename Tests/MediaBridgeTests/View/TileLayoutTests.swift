import MediaBridge
import MediaCore
import MediaPipelines
import Testing

@testable import MediaBridgeDesktop

@Suite struct TileLayoutTests {
  private let window = Dimensions(width: 1280, height: 720)

  @Test func oneTileFillsTheWindow() {
    #expect(TileLayout.places(count: 1, in: window) == [.init(x: 0, y: 0, size: window)])
    #expect(TileLayout.places(count: 0, in: window).isEmpty)
  }

  @Test(arguments: [(2, 2), (3, 2), (4, 2), (5, 3), (9, 3), (10, 4), (16, 4), (17, 5)])
  func columnsOfAWideWindow(count: Int, columns: Int) {
    let places = TileLayout.places(count: count, in: window)
    #expect(Set(places.map(\.y)).count == (count + columns - 1) / columns)
    #expect(places.prefix { $0.y == places[0].y }.count == columns)
  }

  @Test func aTallWindowStacks() {
    let places = TileLayout.places(count: 3, in: Dimensions(width: 400, height: 900))
    #expect(places.map(\.x) == [0, 0, 0])
    #expect(Set(places.map(\.y)).count == 3)
  }

  @Test func theLastRowStandsInTheMiddle() throws {
    let places = TileLayout.places(count: 3, in: window)
    let last = try #require(places.last)
    #expect(abs(last.x + Int(last.size.width) / 2 - 640) <= 2)
  }

  /// Whatever the window: inside of it, of one even size, and no two on top of each other.
  @Test(arguments: [(1280, 720), (720, 1280), (640, 480), (1919, 1079), (300, 200), (2000, 300)])
  func tilesDoNotOverlap(width: Int32, height: Int32) {
    for count in 1...30 {
      let places = TileLayout.places(count: count, in: Dimensions(width: width, height: height))
      #expect(places.count == count)
      #expect(Set(places.map(\.size)).count == 1)
      for (index, one) in places.enumerated() {
        let (right, bottom) = (one.x + Int(one.size.width), one.y + Int(one.size.height))
        #expect(one.x >= 0 && one.y >= 0 && right <= width && bottom <= height, "\(count): \(one)")
        #expect(one.size.width % 2 == 0 && one.size.height % 2 == 0)
        for other in places[(index + 1)...] {
          let isApart =
            other.x >= right || other.y >= bottom || other.x + Int(other.size.width) <= one.x
            || other.y + Int(other.size.height) <= one.y
          #expect(isApart, "\(count): \(one) and \(other)")
        }
      }
    }
  }

  @Test func aWindowTooSmallStillHasPlaces() {
    let places = TileLayout.places(count: 50, in: Dimensions(width: 1, height: 1))
    #expect(places.count == 50)
    #expect(places.allSatisfy { $0.size.width > 0 && $0.size.height > 0 && $0.x >= 0 && $0.y >= 0 })
  }

  @Test func namesOfStrangersAreOnlyNames() {
    #expect(PangoText.escaped("<b>a</b> & \"b\"\n'c'") == "&lt;b&gt;a&lt;/b&gt; &amp; &quot;b&quot;\\u{a}&#39;c&#39;")
    #expect(PangoText.escaped("\u{202e}evil") == "\\u{202e}evil")
    #expect(PangoText.escaped(String(repeating: "x", count: 500)).count == 80)
  }

  @Test func framesAreCountedByTheSecond() {
    var rate = FrameRate()
    let rates = (0...75).compactMap { rate.count(at: .init(nanoseconds: Int64($0) * 40_000_000)) }
    #expect(rates == [25, 25, 25])
    #expect(rate.count(at: .init(nanoseconds: 60_000_000_000)) == nil)
  }
}
