import MediaBridge
import PipelineTemplates
import Testing

@testable import Egress

/// What is told of a destination that no output template is for.
@Suite struct UnknownOutputTests {
  private func message(_ location: String) -> String {
    let known = ["h264", "hls", "ivf", "mkv", "mp3", "mp4", "ogg", "rtmp", "ts", "wav", "webm"]
    return UnknownOutput(destination: Destination(location: location), known: known).error.message
  }

  /// Their letters are nearer to those of another one.
  @Test(arguments: [
    ("out.mov", "did you mean .mp4? NAME"), ("out.M4V", "did you mean .mp4? NAME"),
    ("out.m4a", "did you mean .mp4 with --audio-only? NAME"), ("out.aac", "did you mean .mp4 with --audio-only? NAME"),
    ("out.mka", "did you mean .mkv with --audio-only? NAME"), ("out.mp5", "did you mean .mp4? NAME"),
    ("out.mvk", "did you mean .mkv? NAME"), ("out.mp", "did you mean .mp4? NAME"),
  ]) func whatHoldsTheSameIsMeant(location: String, advice: String) {
    #expect(message(location).contains(advice), "\(message(location))")
  }

  @Test func whatIsLikeNothingGetsTheList() {
    #expect(message("out.docx").contains(".webm; NAME=out.docx says"), "\(message("out.docx"))")
  }
}
