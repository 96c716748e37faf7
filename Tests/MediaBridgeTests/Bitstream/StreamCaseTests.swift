import Testing

@testable import Bitstream

/// An encoder's settings promise features of the format that the other tests are about; here is whether they came.
@Suite struct StreamCaseTests {
  @Test func vp8StreamsHaveLayersAndHiddenFrames() async throws {
    let hidden = try await vp8Headers(.vp8Hidden)
    #expect(hidden.contains { !$0.isShown })
    #expect(hidden.contains { $0.isShown })
    let updates = try await vp8Headers(.vp8Layers).compactMap { header -> VP8ReferenceUpdate? in
      if case .inter(let update) = header.kind { update } else { nil }
    }
    #expect(updates.contains { $0.refreshesLast })
    #expect(updates.contains { !$0.refreshesLast && $0.refreshesGolden })
    #expect(updates.contains { !$0.refreshesLast && !$0.refreshesGolden && !$0.refreshesAltRef })
    let segmented = try await vp8Headers(.vp8)
    #expect(segmented.dropFirst().contains { $0.isSegmented })
  }

  private func vp8Headers(_ test: StreamCase) async throws -> [VP8FrameHeader] {
    try await Video.units(test).map { unit in try unit.bytes.withUnsafeBytes { try VP8FrameHeader($0) } }
  }

  @Test func vp9StreamsHaveSuperFramesLayersAndProfiles() async throws {
    let superFrames = try await vp9Headers(.vp9SuperFrames)
    #expect(superFrames.contains { $0.count > 1 })
    let layered = try await vp9Headers(.vp9Layers)
    #expect(layered.contains { if case .coded(refreshed: 0, isShown: true, _) = $0[0].kind { true } else { false } })
    let other = try await vp9Headers(.vp9Profile1)
    #expect(other.allSatisfy { $0[0].profile == 1 })
  }

  private func vp9Headers(_ test: StreamCase) async throws -> [[VP9FrameHeader]] {
    try await Video.units(test).map { unit in
      try unit.bytes.withUnsafeBytes { try VP9SuperFrame.frames($0).map { try VP9FrameHeader($0) } }
    }
  }

  @Test func h264StreamsHaveBothOrdersBothCodesAndWeights() async throws {
    let (baseline, _) = try await parameters(.x264Baseline)
    #expect(baseline.orderBits == nil)
    let (camera, cameraPicture) = try await parameters(.openH264)
    #expect(camera.orderBits != nil)
    #expect(!cameraPicture.isCABAC)
    let (_, main) = try await parameters(.x264Main)
    #expect(main.isCABAC)
    #expect(main.isWeighted)
    #expect(main.references > 1)
    let (high, highPicture) = try await parameters(.x264High)
    #expect(high.hasChroma)
    #expect(highPicture.isCABAC)
  }

  private func parameters(_ test: StreamCase) async throws -> (H264SequenceParameters, H264PictureParameters) {
    try #require(try await Video.units(test).first).parameterSets()
  }
}
