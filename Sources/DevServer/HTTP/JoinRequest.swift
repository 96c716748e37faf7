import Foundation
import LiveKitProtocol
import NIOHTTP1

/// What a client asks for when it opens `/rtc`.
struct JoinRequest: Sendable {
  let token: AccessToken
  let room: String
  let autoSubscribe: Bool
  let adaptiveStream: Bool
  /// Of the signalling, as the client speaks it.
  let protocolVersion: Int
  /// What other clients may send to it.
  let clientProtocol: Int32
  let capabilities: [Livekit_ClientInfo.Capability]
  /// The participant that a reconnecting client wants to resume.
  let resumedSid: String?
}

/// Why a join is refused: an HTTP status and a text for people.
struct JoinRefusal: Error {
  let status: HTTPResponseStatus
  let reason: String
}

extension JoinRequest {
  /// Reads query, headers and token of a request to `/rtc` or `/rtc/validate`.
  init(_ head: HTTPRequestHead, configuration: DevServerConfiguration) throws(JoinRefusal) {
    let items = URLComponents(string: head.uri)?.queryItems ?? []
    func value(_ name: String) -> String? { items.first { $0.name == name }?.value }
    let bearer = head.headers.first(name: "Authorization").flatMap { header in
      header.hasPrefix("Bearer ") ? String(header.dropFirst(7)) : nil
    }
    guard let text = bearer ?? value("access_token"), !text.isEmpty else {
      throw JoinRefusal(status: .unauthorized, reason: "no permissions to access the room")
    }
    do {
      token = try AccessToken(verifying: text, apiKey: configuration.apiKey, secret: configuration.apiSecret)
    } catch {
      throw JoinRefusal(status: .unauthorized, reason: Self.explain(error))
    }
    guard token.video.roomJoin == true else {
      throw JoinRefusal(status: .unauthorized, reason: "permissions denied")
    }
    guard !token.identity.isEmpty else { throw JoinRefusal(status: .badRequest, reason: "identity cannot be empty") }
    // The room of the token wins over the one asked for.
    let named = token.video.room.flatMap { $0.isEmpty ? nil : $0 } ?? value("room") ?? ""
    guard !named.isEmpty else { throw JoinRefusal(status: .badRequest, reason: "no room name") }
    room = named
    func isTrue(_ name: String) -> Bool { ["1", "true"].contains(value(name) ?? "") }
    autoSubscribe = isTrue("auto_subscribe") || (value("auto_subscribe") ?? "").isEmpty
    adaptiveStream = isTrue("adaptive_stream")
    protocolVersion = value("protocol").flatMap { Int($0) } ?? 15
    clientProtocol = value("client_protocol").flatMap { Int32($0) } ?? 0
    let names = (value("capabilities") ?? "").split(separator: ",")
    capabilities = names.compactMap(Livekit_ClientInfo.Capability.init(named:))
    resumedSid = isTrue("reconnect") ? value("sid") : nil
  }

  private static func explain(_ error: TokenError) -> String {
    switch error {
    case .invalid: "invalid authorization token: the signature or the format is wrong"
    case .outsideItsTime: "invalid authorization token: it has expired or is not valid yet"
    case .unknownKey: "invalid API key"
    }
  }
}

extension Livekit_ClientInfo.Capability {
  /// As a client calls it; nil for one that is not known.
  fileprivate init?(named name: Substring) {
    switch name.trimmingCharacters(in: .whitespaces) {
    case "CAP_PACKET_TRAILER": self = .capPacketTrailer
    case "CAP_COMPRESSION_DEFLATE_RAW": self = .capCompressionDeflateRaw
    default: return nil
    }
  }
}
