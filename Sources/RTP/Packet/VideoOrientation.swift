extension RTPPacket {
  /// How many quarter turns clockwise make the picture upright that this packet ends, where header element `id` says it
  /// (`urn:3gpp:video-orientation`; 3GPP TS 26.114, 7.4.5). It holds until another packet says otherwise. Whether the
  /// picture is mirrored as well is not read, nor does libwebrtc.
  public func quarterTurns(_ id: UInt8) -> Int? {
    withHeaderExtension(id) { $0.count == 1 ? Int($0[0] & 3) : nil } ?? nil
  }
}
