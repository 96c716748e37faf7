import MediaBridge
import MediaCore
import PeerTransport
import RTP
import SDP

/// A clip on its way to the server, in all its layers; one alone is sent without simulcast. Everything after
/// `negotiated` happens on the transport's loop.
final class ClipStream: Sendable {
  /// What changes: on the loop only, but for the beginning.
  private struct State {
    /// Whether the last packet of each frame has the marker, which in audio would begin a talkspurt.
    let marksEnds: Bool
    var senders: [RTPSender]
    var sequences: [SequenceNumber]
    /// Of the clip's first frame.
    var timestamp = UInt32.random(in: 0...(.max))
    var payloadType = PayloadType(0)
    /// The header extensions of each layer, by which the server knows it.
    var extensions: [[(id: UInt8, value: [UInt8])]] = []
    /// Of the clip: participants do not show the same, and do not have their keyframes at the same moment.
    var position: Int
    var next = MediaTime.now
    var timer: LoopTimer?
    var isOver = false

    mutating func packets(of frame: CaptureClip.Frame, layer: Int, step: UInt32, _ time: MediaTime) -> [RTPPacket] {
      frame.payloads.enumerated().map { index, payload in
        let packet = RTPPacket(
          payloadType: payloadType, sequenceNumber: sequences[layer],
          timestamp: timestamp &+ UInt32(frame.place) * step, ssrc: senders[layer].configuration.ssrc,
          marker: marksEnds && index == frame.payloads.count - 1, extensions: extensions[layer],
          payload: payload)
        sequences[layer] = sequences[layer].successor
        senders[layer].sent(packet, at: time)
        return packet
      }
    }
  }

  /// LiveKit's, from the smallest layer to the largest.
  private static let rids = ["q", "h", "f"]
  private let clip: CaptureClip
  private let codec: String
  private let clockRate: UInt32
  private let loop: TransportLoop
  private let peer: PeerConnection
  /// Of the layers; empty for one alone.
  private let rids: [String]
  private let firstSSRC: SSRC?
  private let state: Locked<State>

  init(_ clip: CaptureClip, codec: String, loop: TransportLoop, peer: PeerConnection) {
    self.clip = clip
    self.codec = codec
    self.loop = loop
    self.peer = peer
    let clockRate: UInt32 = clip.kind == .video ? 90_000 : 48_000
    self.clockRate = clockRate
    let senders = clip.frames.map { _ in
      RTPSender(
        configuration: .init(ssrc: SSRC(.random(in: 1...(.max - 1))), clockRate: clockRate, cname: "mediabridge"))
    }
    rids = clip.layers.count > 1 ? Array(Self.rids.prefix(clip.layers.count)) : []
    firstSSRC = senders.first?.configuration.ssrc
    state = Locked(
      State(
        marksEnds: clip.kind == .video, senders: senders,
        sequences: senders.map { _ in SequenceNumber(.random(in: 0...(.max / 2))) },
        position: .random(in: clip.frames[0].indices)))
  }

  func sendingTrack(cid: String) -> SendingTrack {
    SendingTrack(
      kind: clip.kind == .video ? .video : .audio, msid: MediaStreamID(stream: "capture", track: cid),
      codecs: clip.kind == .video ? CodecCatalogue.video(named: codec) : CodecCatalogue.opus,
      headerExtensions: CodecCatalogue.extensions(
        rids.isEmpty ? [HeaderExtensionURI.mid] : [HeaderExtensionURI.mid, HeaderExtensionURI.rtpStreamID]),
      cname: "mediabridge", ssrc: rids.isEmpty ? firstSSRC : nil, rids: rids)
  }

  func negotiated(_ section: NegotiatedSection) {
    guard let format = section.formats.first else { return }
    func id(_ uri: String) -> UInt8 { section.extensionID(uri) ?? 0 }
    let mid = (id: id(HeaderExtensionURI.mid), value: Array(section.mid.utf8))
    let extensions =
      rids.isEmpty
      ? [[mid]] : rids.map { [mid, (id: id(HeaderExtensionURI.rtpStreamID), value: Array($0.utf8))] }
    state.withLock { state in
      state.payloadType = format.payloadType
      state.extensions = extensions
    }
  }

  func start() {
    // Not all participants of a process at once.
    let beginning = MediaTime.now + .nanoseconds(Int64.random(in: 0..<1_000_000_000 / Int64(clip.rate)))
    state.withLock { $0.next = beginning }
    sendLater()
  }

  func stop() {
    state.withLock { state in
      state.isOver = true
      state.timer?.cancel()
    }
  }

  func receive(_ report: RTCPPacket, at time: MediaTime) {
    let packets = state.withLock { state in
      state.senders.indices.map { state.senders[$0].receive(report, at: time).retransmissions }
    }
    for batch in packets { for packet in batch { peer.send(packet) } }
  }

  private func sendLater() {
    state.withLock { state in
      guard !state.isOver else { return }
      state.timer = loop.after(state.next - MediaTime.now) { [weak self] in self?.sendFrame() }
    }
  }

  private func sendFrame() {
    let (now, ntp) = (MediaTime.now, NTPTime.now)
    let step = clockRate / UInt32(clip.rate)
    let (packets, reports) = state.withLock { state in
      let packets = clip.frames.indices.flatMap {
        state.packets(of: clip.frames[$0][state.position], layer: $0, step: step, now)
      }
      state.position = (state.position + 1) % clip.frames[0].count
      if state.position == 0 { state.timestamp &+= UInt32(clip.frames[0].count) * step }
      state.next = state.next + .nanoseconds(1_000_000_000 / Int64(clip.rate))
      return (packets, state.senders.indices.flatMap { state.senders[$0].poll(at: now, ntp: ntp) })
    }
    for packet in packets { peer.send(packet) }
    peer.send(reports)
    sendLater()
  }
}
