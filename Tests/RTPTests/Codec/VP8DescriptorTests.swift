import Testing

@testable import RTP

@Suite("VP8 payload descriptors (RFC 7741, 4.2)")
struct VP8DescriptorTests {
  private func descriptor(_ text: String) -> VP8Descriptor? { hex(text).withUnsafeBytes { VP8Descriptor($0) } }

  @Test func numbersOfEitherWidth() {
    #expect(descriptor("90 c0 7f 05 00")?.pictureID == 127)
    #expect(descriptor("90 c0 7f 05 00")?.temporalLevelIndex == 5)
    #expect(descriptor("90 c0 ff fe 05 00")?.pictureID == 0x7ffe)
    #expect(descriptor("10 00")?.pictureID == nil)
    #expect(descriptor("90 f0 ff fe 05 60 00")?.length == 6)
    #expect(descriptor("90 f0 ff fe 05") == nil)
  }

  @Test(arguments: [
    "90 c0 7f 05 aa", "90 c0 ff fe 05 aa", "90 e0 7f 05 60 aa", "90 80 ff fe aa", "90 40 05 aa", "10 aa",
  ])
  func numbersAreWrittenWhereTheyStood(text: String) throws {
    var bytes = hex(text)
    let before = try #require(descriptor(text))
    bytes.withUnsafeMutableBytes { before.write(pictureID: 0x1234, temporalLevelIndex: 9, to: $0) }
    let after = try #require(bytes.withUnsafeBytes { VP8Descriptor($0) })
    #expect(after.pictureID == before.pictureID.map { _ in 0x1234 & before.pictureIDWidth.rawValue })
    #expect(after.temporalLevelIndex == before.temporalLevelIndex.map { _ in 9 })
    #expect(after.length == before.length && bytes.last == 0xaa)
  }
}
