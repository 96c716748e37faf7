import GStreamerKit
import PipelineTemplates
import Testing

@testable import Egress
@testable import MediaBridge
@testable import MediaPipelines

/// What GStreamer's elements say of servers that they do not reach, as people are told it.
@Suite struct ConnectionFailureTests {
  private func failure(
    _ kind: TemplateKind, _ name: String, _ location: String, _ message: String, _ debug: String? = nil
  ) throws -> PipelineFailure {
    let destination = Destination(location: location)
    let template = try PipelineFactory(folder: nil).fill(kind, name, values: destination.values)
    return PipelineFailure(PipelineError(.cannotRead, message, element: "source", debug: debug), in: template)
  }

  @Test(
    arguments: [
      ("rtmp://h/a/k", "Connection refused: Could not connect to h: Connection refused", "nothing answers at h:1935"),
      ("rtmps://h/a/k", "Failed to connect: Error resolving “h”: Name or service not known", "the name h cannot be"),
      ("rtmp://[::1]:1/a/k", "Connection refused", "nothing answers at [::1]:1"),
      ("rtmp://h/a/k", "Failed to connect: Socket I/O timed out", "what is at h:1935 does not answer as rtmp"),
    ])
  func anUnreachableServerOfRTMPIsNamed(_ location: String, _ message: String, _ words: String) throws {
    let failure = try failure(.output, "rtmp", location, message)
    #expect(failure.message.hasPrefix(words), "\(failure)")
    #expect(LiveKitError(failure).code == .output)
    #expect(!failure.message.contains("pipeline") && !failure.message.contains("source"))
  }

  @Test func anUnreachableServerOfSRTIsNamed() throws {
    let words = "Failed to write to SRT socket: Connection does not exist"
    #expect(try failure(.output, "srt", "srt://h:9", words).message == "nothing answers at h:9")
    #expect(try failure(.output, "srt", "srt://h:9?streamid=a", words).message.contains("or it refuses what"))
    let debug = "Failed to open SRT: Failed to resolve host 'h': Error resolving “h”"
    let unknown = try failure(.output, "srt", "srt://h:9", "Could not open resource for writing.", debug)
    #expect(unknown.message == "the name h cannot be resolved")
    let source = try failure(
      .capture, "srt", "srt://h:9", "Could not read from resource.", "Error on SRT socket: Connection timeout")
    #expect(source.message == "nothing answers at h:9" && LiveKitError(source).code == .pipeline)
  }

  @Test(
    arguments: [
      (
        "http://h/x.mp4", "Internal data stream error.", "GstSoupHTTPSrc:source:\nstreaming stopped, reason error (-5)",
        "h:80"
      ),
      ("rtsp://u:p@h/x", "Could not open resource.", "Failed to connect. (Generic error)", "h:554"),
      ("rtmp://h/a/k", "Connection refused", "", "h:1935"),
    ])
  func aSourceThatCannotBeReadIsNamed(_ location: String, _ message: String, _ debug: String, _ place: String) throws {
    let failure = try failure(.capture, MediaSource.template(of: location), location, message, debug)
    #expect(failure.message.hasPrefix("nothing answers at \(place)"), "\(failure)")
  }

  @Test func aCameraWithoutTCPIsNamed() throws {
    let failure = try failure(
      .capture, "rtsp", "rtsp://h/x",
      "No supported stream was found. You might need to allow more transport protocols or may otherwise be missing …")
    #expect(failure.message.hasPrefix("what is at h:554 gives nothing by these protocols: set `protocols` to udp"))
  }

  /// With its template and its element.
  @Test func otherErrorsStayAsTheyAre() throws {
    let message = "Internal data stream error."
    #expect(try failure(.capture, "file", "file:///x.mp4", message, "reason error (-5)").message.contains(message))
    #expect(try failure(.output, "rtmp", "rtmp://h/a/k", "TLS handshake").message.contains("rtmp.pipeline"))
    let listening = try failure(
      .output, "srt", "srt://h:9?mode=listener", "Failed to write to SRT socket: Connection does not exist")
    #expect(!listening.message.contains("nothing answers"))
  }
}
