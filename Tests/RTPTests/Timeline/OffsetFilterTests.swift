import MediaCore
import Testing

@testable import RTP

@Suite("Least offset of the last while")
struct OffsetFilterTests {
  @Test func leastIsKeptAndForgotten() {
    var filter = OffsetFilter()
    #expect(filter.least == nil)
    filter.insert(50, at: .ms(0))
    filter.insert(30, at: .ms(100))
    filter.insert(40, at: .ms(5000))
    #expect(filter.least == 30)
    filter.insert(45, at: .ms(15_999))
    #expect(filter.least == 30)
    filter.insert(45, at: .ms(16_000))
    #expect(filter.least == 40)
    filter.reset()
    #expect(filter.least == nil)
  }
}
