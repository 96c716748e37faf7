import LiveKitProtocol
package import MediaCore
import PeerTransport
import RTP
import SDP

/// A track that a test publishes: small packets that begin as VP8's do, and whose last bytes say layer and number.
/// Lives on its client's loop.
package final class Publication {
  package struct Description: Sendable {
    package var cid: String
    package var isVideo: Bool
    /// How many simulcast layers; with one the packets are announced by SSRC and repaired.
    package var layers = 1
    /// Whether every other frame is of temporal layer 1, which frames of layer 0 do without.
    package var hasTemporalLayers = false

    package static func audio(_ cid: String) -> Description { .init(cid: cid, isVideo: false) }
    package static func video(_ cid: String, layers: Int = 1, hasTemporalLayers: Bool = false) -> Description {
      .init(cid: cid, isVideo: true, layers: layers, hasTemporalLayers: hasTemporalLayers)
    }
  }

  private final class Layer {
    let index: Int
    let ssrc: SSRC
    var sender: RTPSender
    var number = 0
    var timestamp = UInt32.random(in: 0..<1 << 20)
    var sequence = SequenceNumber(.random(in: 0...1000))
    var isKeyframeWanted = true
    /// As an encoder that the server has no use for.
    var isSending = true

    init(index: Int, ssrc: SSRC, rtx: SSRC?) {
      self.index = index
      self.ssrc = ssrc
      sender = RTPSender(
        configuration: .init(
          ssrc: ssrc, clockRate: 90_000,
          retransmission: rtx.map { .init(ssrc: $0, payloadTypes: [PayloadType(96): PayloadType(97)]) }))
    }
  }

  let cid: String
  let mid: String
  private let description: Description
  private let loop: TransportLoop
  private let send: (RTPPacket) -> Void
  private let report: ([RTCPPacket]) -> Void
  private let layers: [Layer]
  private var timer: LoopTimer?
  /// How loud its audio claims to be: decibels below full scale, 127 for silence (RFC 6464).
  package var level: UInt8 = 127
  /// Numbers of frames that get lost on the way.
  private var lost: Set<Int> = []
  package private(set) var keyframeRequests: [Int: Int] = [:]
  package private(set) var lostNumbersRequested = 0

  static let keyframe: UInt8 = 0x00
  static let deltaFrame: UInt8 = 0x01

  init(
    _ description: Description, mid: String, loop: TransportLoop, send: @escaping (RTPPacket) -> Void,
    report: @escaping ([RTCPPacket]) -> Void
  ) {
    self.description = description
    cid = description.cid
    self.mid = mid
    self.loop = loop
    (self.send, self.report) = (send, report)
    layers = (0..<description.layers).map { index in
      let ssrc = description.layers == 1 ? description.ssrc : SSRC(.random(in: 1000..<1 << 31))
      return Layer(index: index, ssrc: ssrc, rtx: description.rtx)
    }
  }

  package var newestNumber: Int { layers.map(\.number).max() ?? 0 }

  func start() {
    let bound = LoopBound(self, on: loop)
    for layer in layers where layer.isSending { sendFrame(layer) }
    timer = loop.after(.milliseconds(20)) { bound.value.start() }
  }

  func stop() -> Bool {
    timer?.cancel()
    return true
  }

  /// Says in a sender report of each layer that it is that time now.
  package func tellClock(_ ntp: NTPTime) {
    report(layers.indices.compactMap { layers[$0].sender.makeReport(at: .now, ntp: ntp).map(RTCPPacket.senderReport) })
  }

  package func lose(_ numbers: Range<Int>) { lost.formUnion(numbers) }
  package func setSending(_ isSending: Bool, layer: Int) { layers[layer].isSending = isSending }

  func receive(_ reports: [RTCPPacket], at time: MediaTime) {
    for report in reports {
      for layer in layers {
        let response = layer.sender.receive(report, at: time)
        if response.isKeyframeRequested {
          layer.isKeyframeWanted = true
          keyframeRequests[layer.index, default: 0] += 1
        }
        for packet in response.retransmissions {
          lostNumbersRequested += 1
          send(packet)
        }
      }
    }
  }

  private func sendFrame(_ layer: Layer) {
    let packet = RTPPacket(
      payloadType: PayloadType(description.isVideo ? 96 : 111), sequenceNumber: layer.sequence,
      timestamp: layer.timestamp, ssrc: layer.ssrc, marker: true, extensions: extensions(layer),
      payload: payload(layer))
    layer.isKeyframeWanted = false
    layer.sequence = layer.sequence.successor
    layer.timestamp &+= description.isVideo ? 1800 : 960
    layer.sender.sent(packet, at: .now)
    if lost.remove(layer.number) == nil { send(packet) }
    layer.number += 1
  }

  private func extensions(_ layer: Layer) -> [(id: UInt8, value: [UInt8])] {
    let ids = description.sendingTrack.headerExtensions
    func id(_ uri: String) -> UInt8 { UInt8(ids.first { $0.uri == uri }?.id ?? 0) }
    guard description.isVideo else { return [(id(HeaderExtensionURI.audioLevel), [level])] }
    guard description.layers > 1 else { return [] }
    return [
      (id(HeaderExtensionURI.mid), Array(mid.utf8)),
      (id(HeaderExtensionURI.rtpStreamID), Array(Description.rids[layer.index].utf8)),
    ]
  }

  /// A VP8 descriptor without options but for the temporal layer and, in a keyframe, the frame header with the layer's
  /// size (RFC 6386, 9.1).
  private func payload(_ layer: Layer) -> [UInt8] {
    let tail = [UInt8(layer.index), UInt8(layer.number >> 8 & 0xff), UInt8(layer.number & 0xff)]
    guard description.isVideo else { return [0xfc] + tail }
    let descriptor: [UInt8] =
      description.hasTemporalLayers ? [0x90, 0x20, layer.isKeyframeWanted ? 0 : UInt8(layer.number % 2) << 6] : [0x10]
    guard layer.isKeyframeWanted else { return descriptor + [Self.deltaFrame, 0, 0] + tail }
    let width = 320 << layer.index
    let height = 180 << layer.index
    func bytes(_ value: Int) -> [UInt8] { [UInt8(value & 0xff), UInt8(value >> 8)] }
    return descriptor + [Self.keyframe, 0, 0, 0x9d, 0x01, 0x2a] + bytes(width) + bytes(height) + tail
  }
}

extension Publication.Description {
  static let rids = ["q", "h", "f"]

  var ssrc: SSRC { SSRC(UInt32(truncatingIfNeeded: cid.utf8.reduce(7) { $0 &* 31 &+ Int($1) }) & 0x7fff_fff0) }
  var rtx: SSRC? { isVideo && layers == 1 ? SSRC(ssrc.rawValue + 1) : nil }

  var sendingTrack: SendingTrack {
    SendingTrack(
      kind: isVideo ? .video : .audio, msid: MediaStreamID(stream: "stream", track: cid),
      codecs: isVideo ? CodecCatalogue.vp8() : CodecCatalogue.opus,
      headerExtensions: CodecCatalogue.extensions([
        HeaderExtensionURI.mid, HeaderExtensionURI.rtpStreamID, HeaderExtensionURI.repairedRTPStreamID,
        HeaderExtensionURI.audioLevel,
      ]), cname: "test", ssrc: layers == 1 ? ssrc : nil, rtxSSRC: rtx,
      rids: layers > 1 ? Array(Self.rids.prefix(layers)) : [])
  }

  func fill(_ request: inout Livekit_AddTrackRequest) {
    request.cid = cid
    request.name = cid
    request.type = isVideo ? .video : .audio
    request.source = isVideo ? .camera : .microphone
    guard isVideo else { return }
    request.width = UInt32(320 << (layers - 1))
    request.height = UInt32(180 << (layers - 1))
    request.layers = (0..<layers).map { index in
      var layer = Livekit_VideoLayer()
      layer.quality = Livekit_VideoQuality(rawValue: layers == 1 ? 2 : index) ?? .high
      layer.width = UInt32(320 << index)
      layer.height = UInt32(180 << index)
      return layer
    }
  }
}

extension ReceivedPacket {
  package var isKeyframe: Bool { payload.count > 2 && payload[1] == Publication.keyframe }
  /// A VP8 keyframe of 8x8.
  package var isBlank: Bool { Array(payload.dropFirst(4).prefix(7)) == [0x9d, 0x01, 0x2a, 8, 0, 8, 0] }
  /// Which layer of a test's publication it came from.
  package var layer: Int { payload.count >= 3 ? Int(payload[payload.count - 3]) : -1 }
  /// Which frame of its layer it is.
  package var number: Int {
    payload.count >= 3 ? Int(payload[payload.count - 2]) << 8 | Int(payload[payload.count - 1]) : -1
  }
}
