import CGStreamer
import CShims
import MediaCore

/// One input of a mixer, which comes and goes while the mixer runs: `source`, whatever it takes to make the mixer's
/// format of what is pushed, and the mixer's pad.
///
/// `@unchecked Sendable`: counted references to objects whose calls lock by themselves; the rest is `Locked`.
public final class MixerInput: @unchecked Sendable {
  /// The names of its elements begin with it, so that their errors can be told from those of others.
  public let name: String
  public let source: AppSource
  private let branch: SharedElement
  private let mixer: SharedElement
  private let pad: SharedPad
  private let isRemoved = Locked(false)

  fileprivate init(name: String, source: AppSource, branch: SharedElement, mixer: SharedElement, pad: SharedPad) {
    self.name = name
    self.source = source
    self.branch = branch
    self.mixer = mixer
    self.pad = pad
  }

  /// Sets a property of the mixer's pad, such as `volume` of an `audiomixer`, from its text form. It takes effect with
  /// the next buffer that is mixed.
  public func set(_ property: String, to value: String) throws(PipelineError) {
    guard shim_find_property(pad.pointer, property) != nil else {
      throw PipelineError(.property, "no property \"\(property)\" in the inputs of the mixer", element: name)
    }
    gst_util_set_object_arg(pad.pointer.cast(), property, value)
  }

  /// Takes the input out of the mixer, without holding up the others, and ends its thread. Not from a streaming thread.
  public func remove() {
    let isFirst = isRemoved.withLock { isRemoved in
      defer { isRemoved = true }
      return !isRemoved
    }
    guard isFirst else { return }
    dropEverything()
    // A thread that waits for the mixer to take its buffer is sent back by this, so that the branch can stop.
    gst_element_release_request_pad(mixer.pointer, pad.pointer)
    // A branch that nobody brings back into line with the pipeline's state any more.
    gst_element_set_locked_state(branch.pointer, 1)
    gst_element_set_state(branch.pointer, GST_STATE_NULL)
    guard let parent = gst_object_get_parent(branch.pointer.cast()) else { return }
    gst_bin_remove(parent.cast(), branch.pointer)
    gst_object_unref(parent)
  }

  /// What the source pushes from now on goes nowhere: pushed into a branch that ends in nothing it would be an error.
  private func dropEverything() {
    guard let output = gst_element_get_static_pad(source.shared.pointer, "src") else { return }
    defer { gst_object_unref(output) }
    gst_pad_add_probe(output, GST_PAD_PROBE_TYPE_DATA_DOWNSTREAM, { _, _, _ in GST_PAD_PROBE_DROP }, nil, nil)
  }
}

extension Pipeline {
  /// Adds an input to the mixer of that name; the pipeline may run.
  ///
  /// - Parameters:
  ///   - name: of the input, not used by another one; plain letters, digits and `-`.
  ///   - description: what is between source and mixer, as a `gst-launch` description of elements one after another.
  ///   - maximum: buffers that may wait in the source; the oldest are given up.
  public func addInput(
    toMixer mixerName: String, named name: String, through description: String, maximum: Int
  ) throws(PipelineError) -> MixerInput {
    let mixer = try self.element(named: mixerName).shared
    let branch = try makeBranch(
      "appsrc name=\(name)-source max-buffers=\(maximum) max-bytes=0 leaky-type=downstream ! \(description)", name)
    gst_bin_add(element.cast(), branch.pointer)
    do {
      let source = try appSource(named: "\(name)-source")
      let pad = try link(branch, to: mixer, named: mixerName)
      gst_element_sync_state_with_parent(branch.pointer)
      return MixerInput(name: name, source: source, branch: branch, mixer: mixer, pad: pad)
    } catch {
      gst_element_set_state(branch.pointer, GST_STATE_NULL)
      gst_bin_remove(element.cast(), branch.pointer)
      throw error
    }
  }

  private func makeBranch(_ description: String, _ name: String) throws(PipelineError) -> SharedElement {
    var error: UnsafeMutablePointer<GError>?
    let parsed = gst_parse_bin_from_description_full(description, 1, nil, GST_PARSE_FLAG_FATAL_ERRORS, &error)
    let message = takeMessage(&error)
    guard let parsed else { throw PipelineError(.syntax, message ?? "an input cannot be made", element: name) }
    gst_object_ref_sink(parsed)
    gst_object_set_name(parsed.cast(), name)
    return SharedElement(adopting: parsed)
  }

  private func link(
    _ branch: SharedElement, to mixer: SharedElement, named name: String
  ) throws(PipelineError) -> SharedPad {
    guard let input = gst_element_request_pad_simple(mixer.pointer, "sink_%u") else {
      throw PipelineError(.noSuchElement, "element \"\(name)\" is no mixer", element: name)
    }
    let pad = SharedPad(adopting: input)
    guard let output = gst_element_get_static_pad(branch.pointer, "src") else {
      gst_element_release_request_pad(mixer.pointer, input)
      throw PipelineError(.link, "an input of \"\(name)\" has no output", element: name)
    }
    defer { gst_object_unref(output) }
    guard gst_pad_link(output, input) == GST_PAD_LINK_OK else {
      gst_element_release_request_pad(mixer.pointer, input)
      throw PipelineError(.link, "an input cannot be linked to \"\(name)\"", element: name)
    }
    return pad
  }
}
