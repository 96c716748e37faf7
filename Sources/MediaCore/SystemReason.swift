import Foundation

extension Error {
  /// Why a file or folder could not be used, in the system's words, such as "No such file or directory". Foundation's own
  /// begin with "The operation could not be completed".
  package var systemReason: String {
    let underlying = (self as? CocoaError)?.underlying ?? self
    guard let code = (underlying as? POSIXError)?.code else { return localizedDescription }
    return String(cString: strerror(code.rawValue))
  }
}
