import SDP

/// Offers to a subscriber as a LiveKit server has pion write them, put together from what its sources say.
struct PionOffer {
  enum Section {
    case data
    /// A track, in a section that lists every codec of its kind.
    case audio(sid: String, ssrc: UInt32)
    case video(sid: String, ssrc: UInt32)
    /// A section whose track was removed: pion made it to send and receive, and receiving is left.
    case removedAudio, removedVideo
    /// A transceiver that was stopped.
    case stoppedVideo
    /// A section without a codec left: port 0, and pion writes it without a mid.
    case withoutCodecs

    var isWithoutCodecs: Bool { if case .withoutCodecs = self { true } else { false } }
  }

  var sections: [Section]
  var version = 1
  var ufrag = "serverufrag"
  var isLite = false
  /// In the first section; pion writes each for both components.
  var candidates: [String] = []
  /// Stream ids with the participant's SID and the track's; newer protocols have the name of a sync group there.
  var streamID: (String) -> String = { "PA_alice|\($0)" }

  var text: String {
    let lines = session + sections.enumerated().flatMap { index, section in media(section, mid: index) }
    return lines.joined(separator: "\r\n") + "\r\n"
  }

  private var session: [String] {
    let mids = sections.indices.filter { !sections[$0].isWithoutCodecs }.map(String.init)
    return ["v=0", "o=- 4611731400430051336 \(version) IN IP4 0.0.0.0", "s=-", "t=0 0", "a=msid-semantic:WMS *"]
      + ["a=fingerprint:sha-256 \(Array(repeating: "AB", count: 32).joined(separator: ":"))"]
      + (isLite ? ["a=ice-lite"] : []) + ["a=extmap-allow-mixed", "a=group:BUNDLE " + mids.joined(separator: " ")]
  }

  private func media(_ section: Section, mid: Int) -> [String] {
    switch section {
    case .data:
      ["m=application 9 UDP/DTLS/SCTP webrtc-datachannel", "c=IN IP4 0.0.0.0", "a=setup:actpass", "a=mid:\(mid)"]
        + ["a=sendrecv", "a=sctp-port:5000", "a=max-message-size:65536"] + credentials + candidateLines(mid)
    case .audio(let sid, let ssrc): rtp("audio", mid, Self.audio, source(sid, ssrc) + ["a=sendrecv"])
    case .video(let sid, let ssrc): rtp("video", mid, Self.video, source(sid, ssrc, rtx: ssrc + 1) + ["a=sendrecv"])
    case .removedAudio: rtp("audio", mid, Self.audio, ["a=recvonly"])
    case .removedVideo: rtp("video", mid, Self.video, ["a=recvonly"])
    case .stoppedVideo: rtp("video", mid, Self.video, ["a=inactive"])
    case .withoutCodecs: ["m=video 0 UDP/TLS/RTP/SAVPF 0", "c=IN IP4 0.0.0.0"]
    }
  }

  private var credentials: [String] { ["a=ice-ufrag:\(ufrag)", "a=ice-pwd:serverpasswordserverpassword"] }

  private func candidateLines(_ mid: Int) -> [String] {
    guard mid == 0, !candidates.isEmpty else { return [] }
    return candidates.flatMap { ["a=candidate:1 1 \($0)", "a=candidate:1 2 \($0)"] } + ["a=end-of-candidates"]
  }

  private func rtp(_ kind: String, _ mid: Int, _ codecs: [Format], _ rest: [String]) -> [String] {
    let numbers = codecs.map { String($0.number) }.joined(separator: " ")
    let extensions = kind == "video" ? Self.videoExtensions : Self.audioExtensions
    return ["m=\(kind) 9 UDP/TLS/RTP/SAVPF \(numbers)", "c=IN IP4 0.0.0.0", "a=setup:actpass", "a=mid:\(mid)"]
      + credentials + ["a=rtcp-mux", "a=rtcp-rsize"] + codecs.flatMap(\.lines) + extensions + rest
      + candidateLines(mid)
  }

  private func source(_ sid: String, _ ssrc: UInt32, rtx: UInt32? = nil) -> [String] {
    let stream = streamID(sid)
    func lines(_ ssrc: UInt32) -> [String] {
      [
        "a=ssrc:\(ssrc) cname:\(stream)", "a=ssrc:\(ssrc) msid:\(stream) \(sid)", "a=ssrc:\(ssrc) mslabel:\(stream)",
        "a=ssrc:\(ssrc) label:\(sid)",
      ]
    }
    return (rtx.map { ["a=ssrc-group:FID \(ssrc) \($0)"] } ?? []) + lines(ssrc) + (rtx.map(lines) ?? [])
      + ["a=msid:\(stream) \(sid)"]
  }

  // MARK: Formats

  private struct Format {
    var number: Int
    var name: String
    var fmtp: String?
    var feedback: [String]

    var lines: [String] {
      ["a=rtpmap:\(number) \(name)"] + (fmtp.map { ["a=fmtp:\(number) \($0)"] } ?? [])
        + feedback.map { "a=rtcp-fb:\(number) \($0)" }
    }
  }

  private static let audioExtensions = ["a=extmap:2 http://www.webrtc.org/experiments/rtp-hdrext/abs-capture-time"]
  private static let videoExtensions =
    ["a=extmap:1 https://aomediacodec.github.io/av1-rtp-spec/#dependency-descriptor-rtp-header-extension"]
    + audioExtensions + ["a=extmap:3 http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"]

  private static let audio = [
    Format(number: 111, name: "opus/48000/2", fmtp: "minptime=10;useinbandfec=1", feedback: ["nack"]),
    Format(number: 63, name: "red/48000/2", fmtp: "111/111", feedback: []),
    Format(number: 0, name: "PCMU/8000", feedback: ["nack"]),
    Format(number: 8, name: "PCMA/8000", feedback: ["nack"]),
  ]

  private static let video: [Format] =
    repaired(96, "VP8") + repaired(98, "VP9", "profile-id=0") + repaired(100, "VP9", "profile-id=1")
    + repaired(125, "H264", "level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f")
    + repaired(108, "H264", "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f")
    + repaired(35, "AV1") + repaired(116, "H265")

  private static func repaired(_ number: Int, _ name: String, _ fmtp: String? = nil) -> [Format] {
    [
      Format(
        number: number, name: name + "/90000", fmtp: fmtp, feedback: ["ccm fir", "nack", "nack pli", "goog-remb"]),
      Format(number: number + 1, name: "rtx/90000", fmtp: "apt=\(number)", feedback: []),
    ]
  }
}
