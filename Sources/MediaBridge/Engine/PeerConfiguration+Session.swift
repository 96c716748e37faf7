import PeerTransport

extension PeerConfiguration {
  /// For either connection of a session.
  /// - Parameters:
  ///   - servers: as the join names them.
  ///   - localAddresses: to gather on; empty for all.
  init(
    isControlling: Bool, servers: [PeerTransport.ICEServer], localAddresses: [String], timeout: Duration,
    loggers: Loggers
  ) {
    self.init(isControlling: isControlling, logger: loggers.transport)
    (iceServers, self.localAddresses, connectTimeout) = (servers, localAddresses, timeout)
  }
}
