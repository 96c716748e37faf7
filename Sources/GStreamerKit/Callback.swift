import CGStreamer
import CShims

/// Base of the objects that carry Swift closures through the `user_data` of C call-backs.
///
/// The C side owns one reference and gives it up through `Callback.destroy`, which GStreamer calls once no call-back
/// can come any more; so a box cannot die under a running call-back.
class Callback {
  /// A reference for the C side to own.
  func passToC() -> UnsafeMutableRawPointer {
    let pointer = Unmanaged.passRetained(self).toOpaque()
    shim_handoff_release(pointer)
    return pointer
  }

  /// The box behind `user_data`. The caller knows which class it registered.
  static func from(_ pointer: UnsafeMutableRawPointer) -> Self {
    shim_handoff_acquire(pointer)
    return Unmanaged<Self>.fromOpaque(pointer).takeUnretainedValue()
  }

  /// The `GDestroyNotify` that belongs to `passToC`.
  static let destroy: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
    guard let pointer else { return }
    shim_handoff_acquire(pointer)
    Unmanaged<Callback>.fromOpaque(pointer).release()
  }
}
