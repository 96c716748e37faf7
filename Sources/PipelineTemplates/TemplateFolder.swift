import Foundation

extension TemplateSearchPath.Folder {
  private static let fileExtension = ".pipeline"

  /// What a folder has of one kind.
  struct Contents {
    var names: [String] = []
    /// Why some of it, or all of it, is not used.
    var refusals: [TemplateRefusal] = []
  }

  /// As messages name it.
  func path(of kind: TemplateKind, _ name: String) -> String { "\(path)/\(kind.rawValue)/\(name)\(Self.fileExtension)" }

  func contents(of kind: TemplateKind) -> Contents {
    guard source != .builtIn else { return Contents(names: BuiltInTemplates.names(of: kind)) }
    var contents = Contents()
    do throws(TemplateRefusal) {
      let whole = try OpenPath.folder(path)
      guard let folder = try Self.subfolder(kind, of: whole) else { return contents }
      for file in folder.names.filter(Self.isTemplate) {
        do throws(TemplateRefusal) {
          let opened = try folder.open(file, isFolder: false)
          if opened.isFile { contents.names.append(String(file.dropLast(Self.fileExtension.count))) }
        } catch {
          // Missing are links that lead to nothing, and files that are being replaced.
          if error.reason != .missing { contents.refusals.append(error) }
        }
      }
    } catch { contents.refusals.append(error) }
    return contents
  }

  /// Nil when there is none, which is nothing to tell of.
  private static func subfolder(_ kind: TemplateKind, of folder: borrowing OpenPath) throws(TemplateRefusal)
    -> OpenPath?
  {
    do { return try folder.open(kind.rawValue, isFolder: true) } catch {
      if error.reason == .missing { return nil }
      throw error
    }
  }

  private static func isTemplate(_ file: String) -> Bool {
    file.hasSuffix(fileExtension) && TemplateStore.isName(String(file.dropLast(fileExtension.count)))
  }

  /// The bytes of a template, one more than it may have at most.
  func bytes(of kind: TemplateKind, _ name: String) throws(TemplateStore.Failure) -> Data {
    if source == .builtIn { return Data(BuiltInTemplates.text(of: kind, name).utf8) }
    do {
      let file = try OpenPath.folder(path).open(kind.rawValue, isFolder: true)
        .open(name + Self.fileExtension, isFolder: false)
      return try file.read(upTo: Template.byteLimit + 1)
    } catch let refusal as TemplateRefusal {
      throw .refused(refusal, source)
    } catch {
      throw .unreadable(path: path(of: kind, name), reason: error.localizedDescription)
    }
  }
}

extension BuiltInTemplates {
  static func names(of kind: TemplateKind) -> [String] {
    texts.keys.filter { $0.hasPrefix("\(kind.rawValue)/") }.map { String($0.dropFirst(kind.rawValue.utf8.count + 1)) }
  }

  static func text(of kind: TemplateKind, _ name: String) -> String { texts["\(kind.rawValue)/\(name)"] ?? "" }
}
