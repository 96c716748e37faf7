extension UnsafeRawBufferPointer {
  /// Numbers in network order; the caller has checked the bounds.
  @inline(__always)
  func load16(at offset: Int) -> UInt16 { UInt16(self[offset]) << 8 | UInt16(self[offset + 1]) }
  @inline(__always)
  func load32(at offset: Int) -> UInt32 { UInt32(load16(at: offset)) << 16 | UInt32(load16(at: offset + 2)) }
}

extension UnsafeMutableRawBufferPointer {
  @inline(__always)
  func store<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
    storeBytes(of: value.bigEndian, toByteOffset: offset, as: Value.self)
  }
}
