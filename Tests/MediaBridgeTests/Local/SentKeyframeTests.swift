import Bitstream
import BridgeTesting
import MediaPipelines
import PipelineTemplates
import Testing

@testable import MediaBridge
@testable import RTP

@Suite struct SentKeyframeTests {
  /// An encoder with several threads makes several slices of a frame. A server that is asked for the track in the middle of
  /// a keyframe begins with the parameter sets that it meets: in front of a later slice they would have it leave out what is
  /// before, and everybody see a damaged frame until the next keyframe.
  @Test(arguments: ["avc", "byte-stream"])
  func parameterSetsOpenAKeyframeAndNoSliceOfIt(_ format: String) async throws {
    let builtIn = TemplateStore(searchPath: TemplateSearchPath(folders: [.builtIn]))
    let template = try PipelineFactory(store: builtIn, overrides: [:]).fill(.send, "h264", values: [:]).description
    let elements = try #require(template.firstRange(of: "!"))
    let camera = """
      videotestsrc num-buffers=6 pattern=snow ! video/x-raw,format=I420,width=320,height=192,framerate=25/1
      ! x264enc tune=zerolatency threads=4 key-int-max=3 option-string=scenecut=0
      ! video/x-h264,stream-format=\(format),alignment=au
      """
    let packets = try await RTPPacket.made(by: "\(camera) \(template[elements.lowerBound...])")
    let frames = Dictionary(grouping: packets, by: \.timestamp).sorted { $0.key < $1.key }.map(\.value)
    try #require(frames.count == 6)
    for (index, frame) in frames.enumerated() {
      let opening = frame.indices.filter { frame[$0].withPayload(VideoCodec.h264.startsParameterSets) == true }
      #expect(opening == (index % 3 == 0 ? [0] : []), "frame \(index)")
    }
    let slices = frames[0].count { $0.withPayload(VideoCodec.h264.startsKeyframe) }
    #expect(slices > 2, "of several slices")
  }
}
