import GStreamerKit
import MediaBridge
import MediaPipelines
import PipelineTemplates
import Testing

/// What the shipped template asks a camera for: the first of it that a camera has is taken.
@Suite struct CameraTemplateTests {
  /// Many have 10 raw frames a second of a size of which they have 30 as JPEG.
  @Test func framesThatComeOftenEnoughGoFirst() throws {
    let values = ["width": "1920", "height": "1080", "framerate": "25/1"]
    let filled = try PipelineFactory(folder: nil).fill(.capture, "camera", values: values)
    let filter = try #require(filled.description.split(separator: "!").dropFirst().first)
    let caps = try #require(Caps(String(filter)))
    #expect(caps.mediaTypes == ["video/x-raw", "image/jpeg", "video/x-raw", "image/jpeg"])
    let formats = caps.description.split(separator: ";")
    #expect(formats.allSatisfy { $0.contains("width=(int)1920") && $0.contains("height=(int)1080") })
    #expect(formats.map { $0.contains("framerate=(fraction)[ 25/1, 2147483647/1 ]") } == [true, true, false, false])
    #expect(formats.map { $0.contains("framerate") } == [true, true, false, false])
  }
}
