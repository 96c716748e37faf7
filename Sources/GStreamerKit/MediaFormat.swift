import CGStreamer

/// Caps with what is read from them often, made once for each change of caps.
///
/// `@unchecked Sendable`: written only while it is made.
final class MediaFormat: @unchecked Sendable {
  let caps: Caps
  let video: GstVideoInfo?
  let audio: GstAudioInfo?

  init(_ caps: Caps) {
    self.caps = caps
    let type = caps.isFixed ? caps.mediaType : ""
    var video = GstVideoInfo()
    self.video = type == "video/x-raw" && gst_video_info_from_caps(&video, caps.pointer) != 0 ? video : nil
    var audio = GstAudioInfo()
    self.audio = type == "audio/x-raw" && gst_audio_info_from_caps(&audio, caps.pointer) != 0 ? audio : nil
  }
}
