extension StringProtocol {
  /// A host as it stands in an address: that of IPv6 in brackets (RFC 3986, 3.2.2).
  package var asHost: String { contains(":") ? "[\(self)]" : String(self) }
}
