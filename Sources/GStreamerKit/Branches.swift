import CGStreamer
import CShims

extension Pipeline {
  /// Takes out the input `name` and what follows it, up to and without the first element that has other inputs, too:
  /// so one text serves pictures with sound and sound alone. To be called before `start()`.
  public func removeBranch(from name: String) {
    var next = find(name)
    while let element = next {
      guard let (following, pad) = Self.downstream(of: element) else {
        remove(element)
        return
      }
      let isShared = Self.sinkPadCount(of: following) > 1
      gst_element_unlink(element.pointer, following.pointer)
      remove(element)
      if isShared { gst_element_release_request_pad(following.pointer, pad.pointer) }
      next = isShared ? nil : following
    }
  }

  private func remove(_ element: ElementReference) {
    gst_element_set_state(element.pointer, GST_STATE_NULL)
    gst_bin_remove(shim_bin(self.element), element.pointer)
  }

  private static func downstream(of element: ElementReference) -> (ElementReference, PadReference)? {
    guard let source = shim_static_pad(element.pointer, "src") else { return nil }
    defer { gst_object_unref(source) }
    guard let peer = gst_pad_get_peer(source) else { return nil }
    guard let parent = gst_pad_get_parent_element(peer) else {
      gst_object_unref(peer)
      return nil
    }
    return (ElementReference(owned: parent), PadReference(owned: peer))
  }

  private static func sinkPadCount(of element: ElementReference) -> Int { Int(element.pointer.pointee.numsinkpads) }
}

/// A counted reference to a pad, for as long as it is looked at.
private final class PadReference {
  let pointer: UnsafeMutablePointer<GstPad>
  init(owned pointer: UnsafeMutablePointer<GstPad>) { self.pointer = pointer }
  deinit { gst_object_unref(pointer) }
}
