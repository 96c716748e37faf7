/// One port for several addresses.
enum SharedPort {
  /// How many ports are tried; one that is free at one address is seldom taken at another.
  private static let attempts = 20

  /// Listens at all addresses.
  /// - Parameters:
  ///   - count: of the addresses.
  ///   - port: 0 for one that is free at all of them.
  ///   - open: listens at the address of that number, and says at which port: any free one for 0.
  ///   - closeAll: gives back all that are open.
  /// - Returns: the port.
  /// - Throws: why one of them cannot be had; none is open then.
  static func bind(
    _ count: Int, to port: Int, open: (Int, Int) async throws -> Int, closeAll: () async -> Void
  ) async throws -> Int {
    // Nobody chooses a port for several addresses: that of the first one may be taken at the next.
    var left = port == 0 && count > 1 ? attempts : 1
    while true {
      left -= 1
      do { return try await openAll(count, port, open) } catch {
        await closeAll()
        guard left > 0 else { throw error }
      }
    }
  }

  private static func openAll(
    _ count: Int, _ port: Int, _ open: (Int, Int) async throws -> Int
  ) async throws -> Int {
    var port = port
    for index in 0..<count { port = try await open(index, port) }
    return port
  }
}
