import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

extension SignalError {
  /// Why a connection to a server has not come about.
  ///
  /// - Parameter server: host and port, for people.
  init(opening error: any Error, host: String, server: String) {
    self =
      switch error {
      case let error as SignalError: error
      case let error as NIOConnectionError: Self.connecting(error, host, server)
      case let error as TLSFailure: error.signalError(host)
      case ChannelError.connectTimeout: .timedOut(server)
      // With these the upgrade handler and the pipeline say that the connection ended under them.
      case is ChannelError: .lost(server, "it was closed before it answered")
      case is HTTPParserError, is NIOHTTPClientUpgradeError: .notLiveKit(server)
      case let error as IOError where error.errnoCode == ECONNREFUSED: .connectionRefused(server)
      case is IOError: .lost(server, "it was cut off before it answered")
      default: .lost(server, "\(error)")
      }
  }

  private static func connecting(_ error: NIOConnectionError, _ host: String, _ server: String) -> SignalError {
    if error.dnsAError != nil && error.connectionErrors.isEmpty { return .unresolvedHost(host) }
    let isTimeout = error.connectionErrors.contains { $0.error is ChannelError }
    return isTimeout ? .timedOut(server) : .connectionRefused(server)
  }
}
