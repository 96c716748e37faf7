import CGStreamer

extension Pipeline {
  /// Puts a parser, such as `h264parse config-interval=-1`, behind a source whose template says which formats it takes:
  /// what is pushed may be of another stream format then. Call it before `start`.
  public func insert(_ parser: String, behind source: AppSource) throws(PipelineError) {
    let bin = try Self.parseBin(
      "\(parser) ! capsfilter name=accepted", diagnosis: ParseDiagnosis(description: parser, locate: nil),
      hasInput: true)
    if let accepted = source.acceptedCaps, let filter = gst_bin_get_by_name(bin.pointer.cast(), "accepted") {
      gst_util_set_object_arg(filter.cast(), "caps", accepted.description)
      gst_object_unref(filter)
    }
    let output = try source.shared.staticPad("src", named: source.name)
    guard let next = gst_pad_get_peer(output.pointer).map(SharedPad.init(adopting:)),
      let parent = gst_object_get_parent(source.shared.pointer.cast())
    else { throw PipelineError(.link, "nothing is linked to \"\(source.name)\"", element: source.name) }
    defer { gst_object_unref(parent) }
    gst_pad_unlink(output.pointer, next.pointer)
    gst_bin_add(parent.cast(), bin.pointer)
    let (input, end) = (try bin.staticPad("sink", named: parser), try bin.staticPad("src", named: parser))
    guard gst_pad_link(output.pointer, input.pointer) == GST_PAD_LINK_OK,
      gst_pad_link(end.pointer, next.pointer) == GST_PAD_LINK_OK
    else { throw PipelineError(.link, "\(parser) does not fit behind \"\(source.name)\"", element: source.name) }
  }
}
