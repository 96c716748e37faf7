import CNice

/// The addresses of this machine, as libnice lists them: of interfaces that are up, loopback last.
enum LocalAddresses {
  /// libnice 0.1.21 ranks a candidate by the position that its address then has in that list, and aborts beyond 64
  /// (`nice_candidate_ice_local_preference_full`). A machine with many containers has more, and they come and go.
  static let ranked = 32

  static func all(withLoopback: Bool = true) -> [String] {
    let list = nice_interfaces_get_local_ips(withLoopback ? 1 : 0)
    defer { g_list_free_full(list, g_free) }
    return sequence(first: list, next: { $0?.pointee.next }).compactMap { entry in
      entry?.pointee.data.map { String(cString: $0.assumingMemoryBound(to: CChar.self)) }
    }
  }

  /// Those that a peer elsewhere may be reached from, of those that can be ranked.
  static func toGather(of all: [String]) -> [String] { all.prefix(ranked).filter { !$0.hasPrefix("fe80:") } }
}
