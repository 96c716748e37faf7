extension RTPPacket {
  /// How many quarter turns clockwise make the frame upright that a packet ends, where header element `id` says it
  /// (`urn:3gpp:video-orientation`; 3GPP TS 26.114, 7.4.5); nil for bytes that do not. It holds until another packet
  /// says otherwise. Whether the frame is mirrored as well is not read, nor does libwebrtc.
  public static func quarterTurns(in packet: UnsafeRawBufferPointer, _ id: UInt8) -> Int? {
    // The last packet of a frame has the marker, and hardly any other packet a header extension with the element.
    guard packet.count > 1, packet[0] & 0x10 != 0, packet[1] & 0x80 != 0,
      case .success(let header) = RTPHeader.parse(packet),
      let element = header.extensionBlock?.element(id, in: packet), element.value.count == 1
    else { return nil }
    return Int(packet[element.value.lowerBound] & 3)
  }
}
