import Foundation
import LiveKitProtocol
import MediaCore

/// A stream on its way out: its pieces in the order of the calls, each once there is room for it.
///
/// All of it goes on the connection on which it began: on another one nobody would know its beginning.
final class OutgoingStream: Sendable {
  private struct State {
    var nextIndex: UInt64 = 0
    var length = 0
    var isOpen = true
  }

  let header: Livekit_DataStream.Header
  private let destinations: [String]
  private let carrier: MessageCarrier
  private let state = Locked(State())
  private let chain = TaskChain()

  /// Bytes of a trailer's reason that travel.
  private static let reasonLimit = 1000

  private init(begun header: Livekit_DataStream.Header, to destinations: [String], on carrier: MessageCarrier) {
    (self.header, self.destinations, self.carrier) = (header, destinations, carrier)
  }

  /// Returns once its header is on its way.
  /// - Throws: `invalidParameter` for a header that is too long.
  convenience init(
    _ header: Livekit_DataStream.Header, to destinations: [String], by participant: LocalParticipant
  ) async throws(LiveKitError) {
    try OutgoingStream.check(Livekit_DataPacket(.streamHeader(header), to: destinations))
    let carrier = try await participant.send(.streamHeader(header), to: destinations)
    self.init(begun: header, to: destinations, on: carrier)
  }

  /// The same, on a connection that stands.
  convenience init(
    _ header: Livekit_DataStream.Header, to destinations: [String], on carrier: MessageCarrier
  ) async throws(LiveKitError) {
    try OutgoingStream.check(Livekit_DataPacket(.streamHeader(header), to: destinations))
    try await carrier.send(.streamHeader(header), to: destinations)
    self.init(begun: header, to: destinations, on: carrier)
  }

  /// LiveKit's clients send no longer one.
  private static func check(_ packet: Livekit_DataPacket) throws(LiveKitError) {
    guard let bytes: [UInt8] = try? packet.serializedBytes(), bytes.count > StreamPieces.size else { return }
    throw LiveKitError(
      .invalidParameter,
      "what is said of the stream ahead of it has \(bytes.count) bytes with whom it is for, and at most "
        + "\(StreamPieces.size) can be sent: cut its attributes, or name fewer")
  }

  var isOpen: Bool { state.withLock { $0.isOpen } }

  /// Returns once the pieces are on their way, or its task is cancelled.
  func write(_ pieces: [Data]) async throws {
    let sending = chain.add { await self.send(pieces) }
    let error = await withTaskCancellationHandler {
      await sending.value
    } onCancel: {
      sending.cancel()
    }
    if let error { throw error }
  }

  private func send(_ pieces: [Data]) async -> (any Error)? {
    for piece in pieces {
      do {
        guard !Task.isCancelled else { throw LiveKitError(.cancelled, "it was stopped before all of it was sent") }
        try await carrier.send(.streamChunk(try chunk(piece)), to: destinations)
      } catch {
        fail(error)
        return error
      }
    }
    return nil
  }

  /// What follows would have a gap before it. Whoever reads it is not to wait, where that can still be told.
  private func fail(_ error: any Error) {
    guard shut() else { return }
    let trailer = trailer("\(error)")
    chain.add { try? await self.carrier.send(.streamTrailer(trailer), to: self.destinations) }
  }

  /// - Returns: whether it was open.
  private func shut() -> Bool { state.set(\.isOpen, to: false) }

  private func chunk(_ piece: Data) throws(StreamError) -> Livekit_DataStream.Chunk {
    var chunk = Livekit_DataStream.Chunk()
    (chunk.streamID, chunk.content) = (header.streamID, piece)
    chunk.chunkIndex = try state.withLock { state throws(StreamError) -> UInt64 in
      guard state.isOpen else { throw .unknownStream }
      state.length += piece.count
      if header.hasTotalLength, state.length > header.totalLength { throw .lengthExceeded }
      defer { state.nextIndex += 1 }
      return state.nextIndex
    }
    return chunk
  }

  /// Returns once its end is on its way.
  /// - Parameter reason: why it ends before it is whole; nil where it is.
  func close(reason: String?) async throws {
    let trailer = trailer(reason ?? "")
    if let error = await chain.add({ await self.send(trailer) }).value { throw error }
  }

  private func trailer(_ reason: String) -> Livekit_DataStream.Trailer {
    var trailer = Livekit_DataStream.Trailer()
    trailer.streamID = header.streamID
    trailer.reason = String(decoding: reason.utf8.prefix(Self.reasonLimit), as: UTF8.self)
    return trailer
  }

  private func send(_ trailer: Livekit_DataStream.Trailer) async -> (any Error)? {
    guard shut() else { return StreamError.unknownStream }
    do { try await carrier.send(.streamTrailer(trailer), to: destinations) } catch { return error }
    return nil
  }
}
