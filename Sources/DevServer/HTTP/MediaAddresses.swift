import NIOCore

/// The addresses of this machine that a host stands for.
package enum MediaAddresses {
  /// Where media is to be had of a server that listens at `address`: there, or at each of the machine's where that stands for
  /// all of them.
  package static func of(_ address: String) -> [String] {
    guard ["0.0.0.0", "::"].contains(address) else { return [address] }
    // Those of one link alone are none without its name.
    return own.filter { address == "::" ? !$0.hasPrefix("fe80:") : !$0.contains(":") }.sorted()
  }

  /// Where a server listens that is to listen at `host`: clients take `localhost` for either address of loopback, so at
  /// each that there is.
  static func listened(at host: String) -> [String] {
    guard host.lowercased() == "localhost" else { return [host] }
    let loopback = ["127.0.0.1", "::1"].filter(own.contains)
    return loopback.isEmpty ? [host] : loopback
  }

  private static var own: Set<String> {
    Set(((try? System.enumerateDevices()) ?? []).compactMap { $0.address?.ipAddress })
  }
}
