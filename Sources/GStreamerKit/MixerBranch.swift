import CGStreamer
import CShims
import Dispatch
import MediaCore

/// A branch that feeds a mixer while the mixer's pipeline runs, with an input of the mixer that is its own.
///
/// `@unchecked Sendable`: holds counted references to objects whose calls lock by themselves; the rest is `Locked`.
public final class MixerBranch: @unchecked Sendable {
  private let pipeline: Pipeline
  private let bin: SharedElement
  private let mixer: SharedElement
  let input: SharedPad
  private let isRemoved = Locked(false)
  private let isGone = Locked(false)
  private let detachments = Detachments()

  fileprivate init(pipeline: Pipeline, bin: SharedElement, mixer: SharedElement, input: SharedPad) {
    self.pipeline = pipeline
    self.bin = bin
    self.mixer = mixer
    self.input = input
  }

  /// The element of that name within the branch; other branches may have one of the same name.
  public func element(named name: String) throws(PipelineError) -> Element {
    guard let found = gst_bin_get_by_name(bin.pointer.cast(), name) else {
      throw PipelineError(.noSuchElement, "the branch has no element named \"\(name)\"", element: name)
    }
    return Element(shared: SharedElement(adopting: found), name: name)
  }

  /// The appsrc of that name. Call it before `start`, once.
  public func appSource(named name: String) throws(PipelineError) -> AppSource {
    try pipeline.appSource(of: try element(named: name), until: detachments)
  }

  /// Sets a property of the mixer's input, such as `xpos` of a compositor or `volume` of an `audiomixer`, from its text
  /// form. It takes effect with the next buffer that is mixed.
  public func setInput(_ property: String, to value: String) throws(PipelineError) {
    guard shim_find_property(input.pointer, property) != nil else {
      throw PipelineError(.property, "the mixer's inputs have no property \"\(property)\"")
    }
    gst_util_set_object_arg(input.pointer.cast(), property, value)
  }

  /// Has the branch fail alone: its errors are told here, on the thread that all pipelines share, and none is one of the
  /// pipeline, which goes on. A branch that has failed feeds nothing any more and is to be removed. Call it before `start`,
  /// once.
  public func onFailure(_ handler: @escaping @Sendable (PipelineError) -> Void) {
    pipeline.branchErrors.add(bin, handler)
  }

  /// Begins to feed the mixer, once the pipeline runs.
  ///
  /// Into the state that the pipeline is on its way to: a pipeline that has just been started may still be at the one
  /// before, in which the branch would be left behind.
  public func start() {
    gst_element_set_locked_state(bin.pointer, 0)
    gst_element_set_state(bin.pointer, pipeline.element.pointee.target_state)
  }

  /// Ends the branch and gives the mixer's input back; the others go on. Where it returns true the branch has no thread
  /// left.
  /// - Parameter timeLimit: the longest that the caller waits.
  /// - Returns: false when an element did not stop within that. The branch is then left to itself, and feeds nothing;
  ///   `hasStopped` says whether it has stopped after all.
  @discardableResult
  public func remove(timeLimit: Duration = .milliseconds(500)) -> Bool {
    let isFirst = isRemoved.withLock { isRemoved in
      defer { isRemoved = true }
      return !isRemoved
    }
    guard isFirst else { return hasStopped }
    let end = DispatchSemaphore(value: 0)
    // An element that hangs is to hold up nobody but this thread.
    startThread(name: "gst-remove") { [self] in
      takeOut()
      isGone.withLock { $0 = true }
      end.signal()
    }
    return end.wait(timeout: .now() + .nanoseconds(Int(timeLimit.nanoseconds))) == .success
  }

  /// Whether it was removed, and nothing of it is left.
  public var hasStopped: Bool { isGone.withLock { $0 } }

  private func takeOut() {
    dropOutput()
    // A branch that waits for the mixer to take its buffer is sent home first, or stopping it would wait for ever. The
    // input goes before the branch stops: a mixer may wait for what an element that hangs holds back.
    gst_pad_set_active(input.pointer, 0)
    gst_element_release_request_pad(mixer.pointer, input.pointer)
    gst_element_set_locked_state(bin.pointer, 1)
    gst_element_set_state(bin.pointer, GST_STATE_NULL)
    gst_bin_remove(pipeline.element.cast(), bin.pointer)
    pipeline.branchErrors.remove(bin)
    detachments.run()
  }
}

extension MixerBranch {
  /// What it still pushes goes nowhere: pushing into nothing would be an error of the whole pipeline.
  private func dropOutput() {
    guard let output = gst_element_get_static_pad(bin.pointer, "src").map(SharedPad.init(adopting:)) else { return }
    gst_pad_add_probe(output.pointer, GST_PAD_PROBE_TYPE_DATA_DOWNSTREAM, { _, _, _ in GST_PAD_PROBE_DROP }, nil, nil)
  }
}

extension Pipeline {
  /// Adds a branch in front of a mixer, whether the pipeline runs or not. It feeds nothing before its `start`.
  ///
  /// - Parameters:
  ///   - description: a `gst-launch` description whose last element is left unlinked.
  ///   - mixerName: an element that gives an input to whoever asks, such as a compositor.
  ///   - locate: the file and line of a byte offset in `description`, for errors.
  public func addBranch(
    description: String, toMixer mixerName: String, locate: ((Int) -> SourceLocation?)? = nil
  ) throws(PipelineError) -> MixerBranch {
    let mixer = try element(named: mixerName).shared
    let bin = try Self.parseBin(description, diagnosis: ParseDiagnosis(description: description, locate: locate))
    // Locked until `start`: a pipeline that is just starting would take the branch along before its sources are set up.
    gst_element_set_locked_state(bin.pointer, 1)
    guard let pad = gst_element_request_pad_simple(mixer.pointer, "sink_%u") else {
      throw PipelineError(.link, "element \"\(mixerName)\" takes no further input", element: mixerName)
    }
    let input = SharedPad(adopting: pad)
    gst_bin_add(element.cast(), bin.pointer)
    guard let output = gst_element_get_static_pad(bin.pointer, "src").map(SharedPad.init(adopting:)),
      gst_pad_link(output.pointer, input.pointer) == GST_PAD_LINK_OK
    else {
      gst_element_release_request_pad(mixer.pointer, input.pointer)
      gst_bin_remove(element.cast(), bin.pointer)
      throw PipelineError(.link, "the branch cannot be linked to \"\(mixerName)\"", element: mixerName)
    }
    return MixerBranch(pipeline: self, bin: bin, mixer: mixer, input: input)
  }
}
