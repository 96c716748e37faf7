import NIOCore

enum MediaAddresses {
  /// Where media is to be had of a server that listens at `address`: there, or at each of the machine's where that stands for
  /// all of them.
  static func of(_ address: String) -> [String] {
    guard ["0.0.0.0", "::"].contains(address) else { return [address] }
    let devices = (try? System.enumerateDevices()) ?? []
    let all = Set(devices.compactMap { $0.address?.ipAddress })
    // Those of one link alone are none without its name.
    return all.filter { address == "::" ? !$0.hasPrefix("fe80:") : !$0.contains(":") }.sorted()
  }
}
