import Bitstream
import Foundation
import LiveKitProtocol
import MediaCore
import RTP
import SDP

/// A track that a participant publishes, with one stream a layer. Lives on the server's loop.
final class PublishedTrack {
  /// What publishers may send, as MIME types.
  static let codecs = ["video/VP8", "video/VP9", "video/H264", "video/H265", "video/AV1", "audio/opus"]
  /// LiveKit's rids from the smallest layer to the largest.
  static let rids = ["q", "h", "f"]

  let sid: String
  let cid: String
  var info: Livekit_TrackInfo
  /// The codec that the publisher asked to use, such as `vp8`; RED for audio that does not rule it out; empty when it is
  /// left open.
  let preferredCodec: String
  /// The codec that the publisher would send, too, such as `vp8`; empty for none.
  let backupCodec: String
  /// What the publisher wants to become of the first codec once the other one comes.
  private let backupPolicy: Livekit_BackupCodecPolicy
  /// Whether everybody is sent the other codec instead of this one.
  private(set) var isReplaced = false
  /// In a room of so many both codecs are sent where the publisher does not say which (LiveKit's
  /// `codec_regression_threshold`).
  private static let crowd = 5
  /// Whether this is another track's other codec: of the same SID, and only for who cannot decode the first one, or for
  /// everybody.
  let isBackup: Bool
  /// The same track in its other codec, once the publisher has announced that it comes.
  var backup: PublishedTrack?
  /// Asks the publisher for it.
  var onBackupNeeded: (() -> Void)?
  /// True once a packet has come, and of what is published muted from its offer on.
  var isFlowing = false
  private(set) var layers: [UpLayer] = []
  private(set) var codec: Codec?
  private var videoCodec: VideoCodec?
  /// The header element that says how frames are to be turned, if the publisher leaves that to others.
  private(set) var orientationID: UInt8?
  private var downTracks: [DownTrack] = []
  var speech = SpeechDetector()

  init(request: Livekit_AddTrackRequest) {
    let isVideo = request.type == .video
    isBackup = !request.sid.isEmpty
    sid = isBackup ? request.sid : Identifier.make(isVideo ? "TR_VC" : "TR_AM")
    backupCodec = request.simulcastCodecs.dropFirst().first?.codec ?? ""
    backupPolicy = request.backupCodecPolicy
    cid = request.cid
    preferredCodec = request.simulcastCodecs.first?.codec ?? (isVideo || request.disableRed ? "" : "red")
    info = Livekit_TrackInfo()
    info.sid = sid
    info.type = request.type
    info.name = request.name
    info.muted = request.muted
    info.width = request.width
    info.height = request.height
    info.source = request.source
    info.layers = request.layers
    info.disableDtx = request.disableDtx
    info.disableRed = request.disableRed
    info.stereo = request.stereo
    info.stream = request.stream
    info.encryption = request.encryption
    info.simulcast = request.layers.count > 1
    info.version.unixMicro = Int64(Date().timeIntervalSince1970 * 1_000_000)
  }

  var isVideo: Bool { info.type == .video }

  func layer(_ index: Int, make: () -> UpLayer) -> UpLayer {
    if let layer = layers.first(where: { $0.index == index }) { return layer }
    let layer = make()
    layers.append(layer)
    layers.sort { $0.index < $1.index }
    return layer
  }

  func remove(_ layer: UpLayer) { layers.removeAll { $0 === layer } }

  func use(_ codec: Codec, in section: NegotiatedSection) {
    guard self.codec == nil else { return }
    self.codec = codec
    videoCodec = isVideo ? VideoCodec(encodingName: codec.name) : nil
    orientationID = section.extensionID(HeaderExtensionURI.videoOrientation)
    let type = isVideo ? "video" : "audio"
    info.mimeType = "\(type)/\(codec.name)"
    info.mid = section.mid
    var description = Livekit_SimulcastCodecInfo()
    description.mimeType = info.mimeType
    description.mid = section.mid
    description.cid = cid
    description.layers = info.layers
    info.codecs = [description]
  }

  /// The other codec has come, as LiveKit's server takes it (`MediaTrack.enableRegression`).
  /// - Parameter count: who is in the room.
  func backupStarted(among count: Int) {
    isReplaced = backupPolicy == .regression || (backupPolicy == .preferRegression && count < Self.crowd)
  }

  /// While it is muted nothing of it goes on, in either codec.
  /// - Returns: whether it was otherwise before.
  func setMuted(_ isMuted: Bool, at time: MediaTime) -> Bool {
    guard info.muted != isMuted else { return false }
    info.muted = isMuted
    for downTrack in downTracks + (backup?.downTracks ?? []) { downTrack.muteChanged(at: time) }
    return true
  }

  func attach(_ downTrack: DownTrack) { downTracks.append(downTrack) }
  func detach(_ downTrack: DownTrack) { downTracks.removeAll { $0 === downTrack } }

  func forward(_ packet: RTPPacket, from layer: UpLayer, at time: MediaTime) {
    if let temporalLayer = packet.withPayload({ videoCodec?.temporalLayer(ofFrameBegunBy: $0) }) {
      layer.rates.note(frameOf: temporalLayer, at: time)
    }
    for downTrack in downTracks { downTrack.forward(packet, from: layer, at: time) }
  }

  func note(_ report: SenderReport, of layer: UpLayer, at time: MediaTime) {
    layer.report = (report, time)
    for downTrack in downTracks { downTrack.note(report, at: time) }
  }

  /// The largest layer not above `wanted` that is being sent, or the smallest that is.
  func bestLayer(upTo wanted: Int, at time: MediaTime) -> UpLayer? {
    let live = layers.filter { $0.isLive(at: time) }
    return live.last { $0.index <= wanted } ?? live.first
  }

  /// The smallest layer that is about as high as asked for (LiveKit compares heights, with a tenth of tolerance).
  func layerIndex(fittingHeight height: UInt32) -> Int {
    let heights = info.layers.map(\.height).sorted()
    let wanted = UInt32(Float(height) * 0.9)
    return heights.firstIndex { $0 >= wanted } ?? max(0, heights.count - 1)
  }
}

/// One stream of a published track.
final class UpLayer {
  let index: Int
  let ssrc: SSRC
  var receiver: RTPReceiver
  private(set) var lastPacket: MediaTime?
  /// The newest one, and when it came.
  fileprivate(set) var report: (SenderReport, MediaTime)?
  /// Of VP8 with temporal layers; empty for others.
  var rates = TemporalRates()

  init(index: Int, ssrc: SSRC, receiver: RTPReceiver) {
    self.index = index
    self.ssrc = ssrc
    self.receiver = receiver
  }

  func isLive(at time: MediaTime) -> Bool { lastPacket.map { time - $0 < .seconds(1) } ?? false }
  func sawPacket(at time: MediaTime) { lastPacket = time }
}
