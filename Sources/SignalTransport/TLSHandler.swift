import COpenSSL
import NIOCore

/// TLS by OpenSSL between the network and the handlers behind it. What they write waits for the end of the handshake.
final class TLSHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// Told to the handlers behind it when the handshake is over.
  struct Opened {}

  private let ssl: OpaquePointer
  private let received: OpaquePointer
  private let toSend: OpaquePointer
  private var waiting: [(bytes: ByteBuffer, promise: EventLoopPromise<Void>?)] = []
  private var isOpen = false
  private var isOver = false
  /// Takes the largest record that carries data (RFC 8446, 5.1).
  private var record = [UInt8](repeating: 0, count: 16_384)
  /// Why the other side's certificate was not taken.
  private var refused: RefusedCertificate?

  /// - Parameter ssl: is its own from now on.
  init(owning ssl: OpaquePointer) throws {
    let (received, toSend) = (BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
    guard let received, let toSend else {
      BIO_free(received ?? toSend)
      SSL_free(ssl)
      throw TLSFailure.newest
    }
    (self.ssl, self.received, self.toSend) = (ssl, received, toSend)
    // Both are freed with it.
    SSL_set_bio(ssl, received, toSend)
    // Unretained: the callback runs within calls of this object, which outlives its `ssl`.
    SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
    SSL_set_verify(ssl, SSL_get_verify_mode(ssl)) { isTrusted, chain in
      if isTrusted == 0, let chain { TLSHandler.checking(chain)?.refused = RefusedCertificate(chain) }
      return isTrusted
    }
  }

  deinit { SSL_free(ssl) }

  private static func checking(_ chain: OpaquePointer) -> TLSHandler? {
    let ssl = X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx())
    return SSL_get_ex_data(OpaquePointer(ssl), 0).map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
  }

  // MARK: From the network

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { advance(context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    context.fireChannelActive()
    advance(context)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOver else { return }
    let bytes = unwrapInboundIn(data)
    bytes.withUnsafeReadableBytes { _ = BIO_write(received, $0.baseAddress, Int32($0.count)) }
    advance(context)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    context.fireChannelReadComplete()
    // Nobody behind this knows that a handshake wants more.
    if !isOpen && !isOver { context.read() }
  }

  func channelInactive(context: ChannelHandlerContext) {
    isOver = true
    dropWaiting()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { dropWaiting() }

  private func advance(_ context: ChannelHandlerContext) {
    guard !isOver else { return }
    if !isOpen { shakeHands(context) }
    while isOpen && !isOver { guard readRecord(context) else { break } }
    flushNetwork(context)
    flush(context: context)
  }

  private func shakeHands(_ context: ChannelHandlerContext) {
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    isOpen = result == 1
    if isOpen { return context.fireUserInboundEventTriggered(Opened()) }
    if SSL_get_error(ssl, result) != SSL_ERROR_WANT_READ {
      fail(refused.map(TLSFailure.certificate) ?? .newest, context)
    }
  }

  /// False when there is none, or none any more.
  private func readRecord(_ context: ChannelHandlerContext) -> Bool {
    ERR_clear_error()
    let result = SSL_read(ssl, &record, Int32(record.count))
    if result > 0 {
      let bytes = context.channel.allocator.buffer(bytes: record[..<Int(result)])
      context.fireChannelRead(wrapInboundOut(bytes))
      return true
    }
    switch SSL_get_error(ssl, result) {
    case SSL_ERROR_WANT_READ: break
    case SSL_ERROR_ZERO_RETURN: close(context: context, mode: .all, promise: nil)
    default: fail(.newest, context)
    }
    return false
  }

  private func fail(_ failure: TLSFailure, _ context: ChannelHandlerContext) {
    guard !isOver else { return }
    isOver = true
    flushNetwork(context)
    dropWaiting()
    context.fireErrorCaught(failure)
    context.close(promise: nil)
  }

  // MARK: To the network

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard !isOver else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    waiting.append((unwrapOutboundIn(data), promise))
  }

  func flush(context: ChannelHandlerContext) {
    // Whoever is told of a write may write, or close, at once.
    while isOpen && !isOver && !waiting.isEmpty {
      let (bytes, promise) = waiting.removeFirst()
      ERR_clear_error()
      let result = bytes.withUnsafeReadableBytes { $0.isEmpty ? 1 : SSL_write(ssl, $0.baseAddress, Int32($0.count)) }
      if result > 0 {
        flushNetwork(context, promise)
        continue
      }
      waiting.insert((bytes, promise), at: 0)
      // The rest of a message of TLS comes first.
      if SSL_get_error(ssl, result) == SSL_ERROR_WANT_READ { return }
      fail(.newest, context)
    }
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard mode == .all else {
      promise?.fail(ChannelError.operationUnsupported)
      return
    }
    if isOpen && !isOver {
      flush(context: context)
      isOver = true
      SSL_shutdown(ssl)
      flushNetwork(context)
    }
    context.close(mode: mode, promise: promise)
  }

  private func flushNetwork(_ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>? = nil) {
    let count = BIO_ctrl_pending(toSend)
    guard count > 0 || promise != nil else { return }
    var buffer = context.channel.allocator.buffer(capacity: count)
    buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) {
      Int(max(0, BIO_read(toSend, $0.baseAddress, Int32(count))))
    }
    context.writeAndFlush(wrapOutboundOut(buffer), promise: promise)
  }

  private func dropWaiting() {
    let writes = waiting
    waiting = []
    for write in writes { write.promise?.fail(ChannelError.ioOnClosedChannel) }
  }
}
