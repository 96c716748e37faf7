import CGStreamer
import CShims

extension Pipeline {
  /// Takes a branch out of a pipeline that has not started: from the source of that name downstream up to, and not
  /// including, the first element with several inputs, whose input is given back. So one template for audio and video
  /// serves a track that has only one of them.
  public func removeBranch(from sourceName: String) throws(PipelineError) {
    var current: SharedElement? = try element(named: sourceName).shared
    while let element = current { current = removeHead(element) }
  }

  /// Removes an element without input and returns the element behind it when that belongs to the branch too.
  private func removeHead(_ head: SharedElement) -> SharedElement? {
    let joint = gst_element_get_static_pad(head.pointer, "src").flatMap { source in
      defer { gst_object_unref(source) }
      return gst_pad_get_peer(source)
    }
    guard let joint else {
      remove(head)
      return nil
    }
    let next = gst_pad_get_parent_element(joint).map(SharedElement.init(adopting:))
    let isShared = shim_pad_is_request(joint) != 0 || (next.map { $0.pointer.pointee.numsinkpads > 1 } ?? false)
    remove(head)
    if isShared, let next { giveBack(joint, to: next) }
    gst_object_unref(joint)
    return isShared ? nil : next
  }

  /// Releases an input. `mp4mux` of GStreamer 1.22 then forgets the pad but keeps its empty track, until it stops once;
  /// a file with such a track does not play.
  private func giveBack(_ input: UnsafeMutablePointer<GstPad>, to element: SharedElement) {
    gst_element_release_request_pad(element.pointer, input)
    gst_element_set_state(element.pointer, GST_STATE_PAUSED)
    gst_element_set_state(element.pointer, GST_STATE_NULL)
  }

  func remove(_ child: SharedElement) {
    gst_element_set_state(child.pointer, GST_STATE_NULL)
    // Removing an element from its bin unlinks its pads.
    guard let parent = gst_object_get_parent(child.pointer.cast()) else { return }
    gst_bin_remove(parent.cast(), child.pointer)
    gst_object_unref(parent)
  }
}
