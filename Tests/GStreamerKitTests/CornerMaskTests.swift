import Testing

@testable import GStreamerKit

/// The shape of a rounded corner.
@Suite struct CornerMaskTests {
  @Test(arguments: [2, 7, 8, 40]) func itIsAQuarterOfACircle(_ radius: Int) {
    let mask = CornerMask(radius: radius)
    let all = (0..<radius).map { row in (0..<radius).map { Int(mask[row, $0]) } }
    let area = Double(all.joined().reduce(0, +)) / 255
    #expect(abs(area - Double(radius * radius) * .pi / 4) < Double(radius) * 0.1)
    // Nothing at the very corner, all where the curve ends; the same on both sides, and more to the inside.
    #expect(all[0][0] < 128 && all[radius - 1][radius - 1] == 255 && all[0][radius - 1] > 200)
    for row in 0..<radius {
      #expect(all[row] == all[row].sorted() && all[row] == (0..<radius).map { all[$0][row] })
    }
  }

  @Test func noneIsNoCorner() { CornerMask(radius: 0).withShares { #expect($0.pointee.luma_radius == 0) } }
}
