/// How a room is joined and its media received.
public struct RoomOptions: Sendable {
  /// Subscribe to every track as it is published; `ConnectOptions.autoSubscribe` overrides it for one connect.
  public var autoSubscribe: Bool
  /// Receive of each track what its renderers show: the layer that fits the largest of them, and nothing while there is
  /// none that is visible, or for sound none at all. Outputs such as a recording count as renderers of full size.
  public var adaptiveStream: Bool
  /// Longest wait in milliseconds for a missing packet before the pictures or sound go on without it; packets that
  /// arrive in order never wait. nil keeps what the receive template says.
  public var receiveLatency: Int?
  /// Report the statistics of every track that is subscribed; `Track.set(reportStatistics:)` turns them on and off for
  /// one.
  public var reportRemoteTrackStatistics: Bool
  /// A folder in which pipeline texts are looked for before the usual places; nil for those only.
  public var pipelineFolder: String?
  /// Values for the variables of pipeline texts, by name.
  public var pipelineValues: [String: String]

  public init(
    autoSubscribe: Bool = true, adaptiveStream: Bool = true, receiveLatency: Int? = nil,
    reportRemoteTrackStatistics: Bool = false, pipelineFolder: String? = nil, pipelineValues: [String: String] = [:]
  ) {
    self.autoSubscribe = autoSubscribe
    self.adaptiveStream = adaptiveStream
    self.receiveLatency = receiveLatency
    self.reportRemoteTrackStatistics = reportRemoteTrackStatistics
    self.pipelineFolder = pipelineFolder
    self.pipelineValues = pipelineValues
  }
}

/// Options of one `connect`.
public struct ConnectOptions: Sendable {
  public var autoSubscribe: Bool?
  /// The longest that joining and the first media connection may take.
  public var timeout: Duration

  public init(autoSubscribe: Bool? = nil, timeout: Duration = .seconds(15)) {
    self.autoSubscribe = autoSubscribe
    self.timeout = timeout
  }
}

public enum ConnectionState: String, Sendable {
  case disconnected
  case connecting
  case reconnecting
  case connected
}
