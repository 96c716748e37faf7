/// The beginning of a template of one's own: a short text that works, and says what can be changed.
public enum TemplateDraft {
  /// The text of a new template of that kind.
  public static func text(of kind: TemplateKind) -> String {
    let draft = draft(of: kind)
    let comments = [draft.summary + ": say it in this line, which `pipelines list` shows.", ""] + draft.remarks
    return comments.map { $0.isEmpty ? "#\n" : "# \($0)\n" }.joined() + "\n" + draft.pipeline + "\n"
  }

  private struct Draft {
    /// Of the text's first line.
    var summary: String
    /// The comment lines behind it.
    var remarks: [String]
    var pipeline: String

    init(_ summary: String, _ remarks: [String], _ pipeline: String) {
      (self.summary, self.remarks, self.pipeline) = (summary, remarks, pipeline)
    }
  }

  private static func draft(of kind: TemplateKind) -> Draft {
    switch kind {
    case .receive: receive
    case .process: process
    case .mix: mix
    case .tile: tile
    case .decode: decode
    case .encode: encode
    case .send: send
    case .output: output
    case .capture: capture
    }
  }

  private static let receive = Draft(
    "What is done with the packets of a codec",
    [
      "rtp      RTP packets in.", "encoded  Frames as they were sent out.",
      "frames   Decoded frames out. A branch of the tee is made when somebody wants it.", "", "Units: latency ms",
    ],
    """
    appsrc name=rtp max-bytes=0
      caps="application/x-rtp,media=video,clock-rate=90000,encoding-name=VP8"
    ! rtpjitterbuffer name=jitter latency=${latency:-500} faststart-min-packets=1 do-lost=true
    ! rtpvp8depay request-keyframe=true wait-for-keyframe=true
    ! tee name=media allow-not-linked=true

    media. ! appsink name=encoded sync=false async=false

    media. ! vp8dec ! appsink name=frames sync=false async=false
    """
  )

  private static let process = Draft(
    "What is done with frames",
    ["frames     Frames in.", "processed  Frames out."],
    "appsrc name=frames caps=\"video/x-raw\"\n! videoconvert\n! appsink name=processed sync=false"
  )

  private static let mix = Draft(
    "How frames are mixed",
    [
      "videomix  Swift adds an input for each tile. A moment is mixed `delay` ns after it was.",
      "frames    Frames out, `width` x `height`.", "", "Units: delay ns, width px, height px",
    ],
    """
    compositor name=videomix background=black start-time-selection=first latency=${delay:-300000000}
    ! video/x-raw,format=I420,width=${width:-1280},height=${height:-720},framerate=30/1
    ! appsink name=frames sync=false async=false
    videotestsrc is-live=true do-timestamp=true pattern=black
    ! video/x-raw,format=I420,width=16,height=16,framerate=30/1
    ! queue ! videomix.
    """
  )

  private static let tile = Draft(
    "What becomes of frames before they are mixed",
    [
      "video  Frames in; at most `queue` wait, and the oldest are dropped.", "size   Swift sets it.", "",
      "Units: queue frames",
    ],
    """
    appsrc name=video max-buffers=${queue:-30} max-bytes=0 leaky-type=downstream caps="video/x-raw"
    ! videoflip video-direction=auto
    ! aspectratiocrop name=crop
    ! videoconvertscale
    ! capsfilter name=size caps=video/x-raw,width=320,height=180
    """
  )

  private static let encode = Draft(
    "What frames are encoded into",
    [
      "frames   Queue at most `frame-queue` frames; the oldest are dropped when the encoder does not keep up.",
      "encoded  The caps are what this template is chosen by: --encode NAME has it in any case.", "",
      "Units: frame-queue frames, width px, height px, bitrate kbit/s, gop frames",
    ],
    """
    appsrc name=frames max-buffers=${frame-queue:-50} max-bytes=0 leaky-type=downstream caps="video/x-raw"
    ! videoflip video-direction=auto
    ! videoconvertscale add-borders=true
    ! video/x-raw,format=I420,width=${width:-1280},height=${height:-720},pixel-aspect-ratio=1/1
    ! x264enc bitrate=${bitrate:-2500} tune=zerolatency key-int-max=${gop:-50}
    ! h264parse config-interval=-1
    ! appsink name=encoded sync=false caps="video/x-h264,stream-format=avc,alignment=au"
    """
  )

  private static let decode = Draft(
    "How what a source carries is decoded",
    ["encoded  Frames in.", "frames   Decoded frames out."],
    """
    appsrc name=encoded caps="video/x-h264"
    ! h264parse
    ! avdec_h264
    ! appsink name=frames sync=false async=false
    """
  )

  private static let send = Draft(
    "How encoded frames become packets",
    ["encoded  Frames in.", "rtp      Packets of at most `mtu` bytes out.", "", "Units: mtu bytes"],
    """
    appsrc name=encoded caps="video/x-vp8"
    ! rtpvp8pay mtu=${mtu:-1200}
    ! appsink name=rtp sync=false
    """
  )

  private static let output = Draft(
    "What is written, and where to",
    [
      "video, audio  The caps say what goes in: a track as it was sent where it fits, or else encoded. video/x-raw and",
      "              audio/x-raw take decoded media. Leave one out for an output without it.",
      "filesink      `location` is what the command is told: `mediabridge record NAME=FILE`.", "",
      "Units: queue buffers, location path",
    ],
    """
    matroskamux name=mux
    ! filesink location=${location}
    appsrc name=video max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream
      caps="video/x-vp8;video/x-vp9;video/x-h264,stream-format=avc,alignment=au"
    ! mux.video_0
    appsrc name=audio max-buffers=${queue:-1000} max-bytes=0 leaky-type=downstream caps="audio/x-opus"
    ! mux.audio_0
    """
  )

  private static let capture = Draft(
    "What is captured",
    ["frames  Frames out, `width` x `height`; an appsink `pcm` is for audio.", "", "Units: width px, height px"],
    """
    videotestsrc is-live=true do-timestamp=true
    ! video/x-raw,format=I420,width=${width:-640},height=${height:-360},framerate=25/1
    ! appsink name=frames sync=false async=false
    """
  )
}
