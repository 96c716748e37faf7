import BridgeTesting
import Egress
import Foundation
import LiveKitProtocol
import SyntheticParticipants
import Testing

@testable import MediaBridge

/// Frames that are sent in another order than they are shown.
@Suite struct ReorderedFramesTests {
  private static let camera = """
    # B-frames, as no camera of WebRTC sends them.
    videotestsrc is-live=true ! video/x-raw,format=I420,width=160,height=96,framerate=25/1
    ! x264enc bitrate=300 speed-preset=veryfast bframes=2 b-adapt=false key-int-max=25 threads=1
    ! video/x-h264,profile=main ! rtph264pay config-interval=-1 aggregate-mode=zero-latency
    ! appsink name=video sync=false
    """

  /// Without a time of its own at which each is decoded a file cannot hold them, so they are encoded.
  @Test func theyAreEncodedForAFile() async throws {
    let folder = try TemporaryFolder(template: "capture/reordered", Self.camera)
    let layer = CaptureClip.Layer(dimensions: Dimensions(width: 160, height: 96), bitrate: 300_000)
    let clip = try await CaptureClip.record(
      template: "reordered", layers: [layer], rate: 25, seconds: 2, values: [:], pipelineFolder: folder.path)
    let publisher = ClipPublisher(clip, codec: "h264")
    try await Watcher.run(RoomOptions(adaptiveStream: false, audioPlayback: .off), codecs: [:]) { watcher in
      let grant = VideoGrant.publisher(room: SyntheticRoom.name)
      try await publisher.connect(url: watcher.synthetic.url, token: try SyntheticRoom.token("carol", grant))
      let file = folder.path + "/a.mkv"
      let recorder = Recorder(
        room: watcher.room,
        options: RecordingOptions(file: file, participant: "carol", kinds: [.video], wait: .seconds(20)))
      try await recorder.start()
      try await eventually("a second of media") { await recorder.progress().duration > .seconds(1) }
      _ = try await recorder.finish()
      await publisher.disconnect()
      let probe = try run(
        "ffprobe", ["-v", "error", "-show_entries", "frame=pict_type", "-of", "csv=p=0", file])
      #expect(probe.status == 0 && probe.errors.isEmpty, "\(probe.errors)")
      #expect(probe.output.contains("P") && !probe.output.contains("B"), "\(probe.output)")
    }
  }
}
