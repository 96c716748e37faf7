import Glibc

/// Looks names up. Blocks, so never on the loop.
enum HostName {
  static func isAddress(_ text: String) -> Bool {
    var bytes = in6_addr()
    return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1
  }

  /// The first address of each family, as text; empty when the name cannot be resolved.
  static func addresses(of name: String) -> [String] {
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(name, nil, &hints, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    var found: [Int32: String] = [:]
    for entry in sequence(first: list, next: { $0?.pointee.ai_next }) {
      guard let info = entry?.pointee, found[info.ai_family] == nil else { continue }
      found[info.ai_family] = text(info)
    }
    return [AF_INET, AF_INET6].compactMap { found[$0] }
  }

  private static func text(_ info: addrinfo) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    guard
      getnameinfo(info.ai_addr, info.ai_addrlen, &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST) == 0
    else { return nil }
    return String(upToZero: buffer)
  }
}

extension String {
  /// What a function of C has written.
  init(upToZero buffer: [CChar]) {
    self.init(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
  }
}
