/// What a pipeline is for, and the folder in which its templates lie.
public enum TemplateKind: String, Sendable, CaseIterable {
  /// RTP of one track in, frames, PCM or encoded media out.
  case receive
  /// Frames or PCM in, other ones out.
  case process
  /// Many inputs, each made of a tile template, mixed into one.
  case mix
  /// What becomes of one input before it is mixed.
  case tile
  /// One codec in, frames or PCM out.
  case decode
  /// Frames or PCM in, one codec out.
  case encode
  /// Encoded media in, RTP out.
  case send
  /// Media in, a file or a stream out.
  case output
  /// Media of this machine out.
  case capture
}
