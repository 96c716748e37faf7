public import DevServer
import Foundation
public import LiveKitProtocol
public import MediaBridge
import SyntheticParticipants

/// A development server in this process with synthetic participants in one room.
public final class SyntheticRoom: Sendable {
  public static let name = "test"
  public let server: DevServer
  public let url: String
  public let port: Int
  /// Those of its participants, by identity.
  public let publishers: [String: Room]
  /// Of everybody's video.
  private let size: Dimensions
  /// Who has said whom to let receive tracks, as the server has heard it.
  private let permissions: Collector<String>
  /// Those who came later.
  private let guests = Collector<Room>()

  private init(
    server: DevServer, port: Int, size: Dimensions, publishers: [String: Room], permissions: Collector<String>
  ) {
    (self.server, self.port, self.size) = (server, port, size)
    url = Self.url(port)
    self.publishers = publishers
    self.permissions = permissions
  }

  /// - Parameters:
  ///   - codecs: of the participants' frames, by identity.
  ///   - frequencies: of the participants' tones in Hz, by identity; 440 where there is none.
  ///   - size: of everybody's video; a small one leaves a slow machine time for what is tested.
  ///   - port: any that is free, unless it is given.
  ///   - onRequest: told what the server is asked for, and by whom.
  public static func start(
    codecs: [String: String] = ["alice": "vp8"], frequencies: [String: Int] = [:],
    size: Dimensions = Dimensions(width: 640, height: 360), port: Int = 0,
    onRequest: @escaping @Sendable (String, Livekit_SignalRequest) -> Void = { _, _ in }
  ) async throws -> SyntheticRoom {
    var configuration = DevServerConfiguration(port: port)
    let permissions = Collector<String>()
    configuration.onRequest = { identity, request in
      if case .subscriptionPermission = request.message { permissions.add(identity) }
      onRequest(identity, request)
    }
    let server = DevServer(configuration: configuration)
    let port = try await server.start()
    var publishers: [String: Room] = [:]
    for (identity, codec) in codecs.sorted(by: { $0.key < $1.key }) {
      publishers[identity] = try await join(
        identity, codec: codec, frequency: frequencies[identity] ?? 440, size: size, url: url(port))
    }
    return SyntheticRoom(server: server, port: port, size: size, publishers: publishers, permissions: permissions)
  }

  /// Lets one more synthetic participant in.
  @discardableResult
  public func join(_ identity: String) async throws -> Room {
    let guest = try await Self.join(identity, codec: "vp8", frequency: 440, size: size, url: url)
    guests.add(guest)
    return guest
  }

  private static func join(
    _ identity: String, codec: String, frequency: Int, size: Dimensions, url: String
  ) async throws -> Room {
    let image = TestImage(
      codec: VideoCodec(rawValue: codec) ?? .vp8, image: ["width": "\(size.width)", "height": "\(size.height)"],
      tone: ["frequency": String(frequency)])
    var grant = VideoGrant.publisher(room: name)
    grant.canSubscribe = false
    // A connection that is lost is not brought back.
    return try await image.join(
      url: url, token: try token(identity, grant), connectOptions: ConnectOptions(reconnectAttempts: 0))
  }

  /// Lets a participant allow everyone to receive its tracks, or nobody; returns when the server knows.
  public func allow(_ isAllowed: Bool, by identity: String = "alice") async throws {
    let before = permissions.count
    try await publishers[identity]?.localParticipant.setTrackSubscriptionPermissions(allParticipantsAllowed: isAllowed)
    try await eventually("the permission") { permissions.count > before }
  }

  private static func url(_ port: Int) -> String { "ws://127.0.0.1:\(port)" }

  /// Returns when nothing of it is left.
  public func stop() async {
    for publisher in Array(publishers.values) + guests.values { await publisher.disconnect() }
    await server.stop()
  }

  /// - Parameter lifetime: seconds.
  public static func token(
    _ identity: String, _ grant: VideoGrant? = nil, validFor lifetime: Double = 3600
  ) throws -> String {
    let grant = grant ?? .onlooker(room: name)
    return try AccessToken(apiKey: "devkey", identity: identity, grant: grant, validFor: lifetime, now: Date())
      .signed(secret: "secret")
  }
}

extension VideoGrant {
  /// Joins `room` unseen and sends nothing. A recorder would be let in wherever it is, whatever publishers permit.
  package static func onlooker(room: String) -> VideoGrant {
    var grant = recorder(room: room)
    grant.recorder = nil
    return grant
  }
}
