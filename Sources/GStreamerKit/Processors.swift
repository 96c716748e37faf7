import CShims

/// The processors of this machine.
public enum Processors {
  /// On how many this process may run: those of its affinity, which containers restrict.
  public static let usable = Int(shim_usable_processors())
}
