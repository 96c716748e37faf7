import Foundation

/// Why nothing is taken from a folder of templates, from a folder in it or from a file.
public struct TemplateRefusal: Error, Equatable, Sendable, CustomStringConvertible {
  /// What speaks against it.
  public enum Reason: Equatable, Sendable {
    /// It is not there.
    case missing
    /// The system's reason.
    case unreadable(String)
    /// Its group or everybody can write it.
    case writableByOthers
    /// It belongs to that user, who is neither root nor the one of this process.
    case foreignOwner(UInt32)
  }

  /// Of the folder or file.
  public var path: String
  /// What speaks against it.
  public var reason: Reason

  /// For people: what is not used, why, and what to do.
  public var description: String { "\(path) cannot be used: \(why)" }

  private var why: String {
    switch reason {
    case .missing: "there is no such folder"
    case .unreadable(let error): "it cannot be read: \(error)"
    case .writableByOthers:
      "others than its owner can write it, and a pipeline runs with your rights; "
        + "run `chmod go-w \(path)`"
    case .foreignOwner(let user):
      "it belongs to user \(user), and a pipeline runs with your rights; copy it to a "
        + "folder of your own"
    }
  }
}

extension TemplateRefusal.Reason {
  /// A template can read and write files, so it is taken only from where nobody but root and the user could put it.
  /// - Parameter user: as whom the process acts.
  init?(_ status: stat, user: uid_t) {
    if status.st_uid != 0, status.st_uid != user {
      self = .foreignOwner(status.st_uid)
    } else if status.st_mode & (S_IWGRP | S_IWOTH) != 0 {
      self = .writableByOthers
    } else {
      return nil
    }
  }

  /// The newest error of the C library.
  static var ofLastError: Self {
    errno == ENOENT || errno == ENOTDIR ? .missing : .unreadable(String(cString: strerror(errno)))
  }
}
